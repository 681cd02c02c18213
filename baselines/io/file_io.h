// Whole files in and out. A reader never sees half a file: writes go to a temporary file in the
// same folder, are flushed to the disk, and take the name in one rename.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "baselines/io/file_descriptor.h"

namespace fusegate::baselines {

// Throws InputError where the file cannot be opened or read.
std::string read_file(const std::filesystem::path& path);

// Creates missing folders. Throws InputError naming the file and the system's reason (a full disk,
// no permission); the old file, if any, is then untouched and the temporary file is gone. A
// process's first write into a folder removes what killed ones left there.
void write_atomically(const std::filesystem::path& path, std::string_view contents);

// Throws what write_atomically() would throw now, a full disk aside, so that work whose result goes
// there need not be done in vain. Creates missing folders.
void require_writable(const std::filesystem::path& path);

// A device or a pipe, such as /dev/stdout: it has no old contents to lose, and a rename would put a
// file in its place.
bool is_stream(const std::filesystem::path& path);

// Whether that name leads to the file.
bool has_name(const FileDescriptor& file, const std::filesystem::path& path);

// Files that exist for a moment or for a process have a name with this in it, after a leading dot:
// they are never taken for an invocation of a run folder. Their process holds their lock (flock).
inline constexpr std::string_view kOwnMark = ".fusegate-";
// Of a folder's lock the whole name, and of a file's the end (write_lock.h).
inline constexpr std::string_view kLockSuffix = ".fusegate-lock";

// Removes those whose lock nobody holds: a killed process left them. Nothing else in the folder is
// touched, and what cannot be read or removed stays.
void remove_leftovers(const std::filesystem::path& folder);

}  // namespace fusegate::baselines
