// Files that may be packed.
#pragma once

#include <filesystem>
#include <string>

namespace fusegate::ci {

// A file's bytes, unpacked where it is gzip. Throws InputError, also where that is more than
// largest_file() (baselines/io/file_io.h).
std::string read_unpacked(const std::filesystem::path& path);

}  // namespace fusegate::ci
