// Whole files in and out. A reader never sees half a file: writes go to a temporary file in the
// same folder, are flushed to the disk, and take the name in one rename.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace fusegate::baselines {

// Throws InputError where the file cannot be opened or read.
std::string read_file(const std::filesystem::path& path);

// Creates missing folders. Throws InputError naming the file and the system's reason (a full disk,
// no permission); the old file, if any, is then untouched and the temporary file is gone.
void write_atomically(const std::filesystem::path& path, std::string_view contents);

// Throws what write_atomically() would throw now, a full disk aside, so that work whose result goes
// there need not be done in vain. Creates missing folders.
void require_writable(const std::filesystem::path& path);

}  // namespace fusegate::baselines
