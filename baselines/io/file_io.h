// Whole files in and out. A reader never sees half a file: writes go to a temporary file in the
// same folder, are flushed to the disk, and take the name in one rename.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "baselines/io/file_descriptor.h"

namespace fusegate::baselines {

// The most that is read of one file, unpacked: what is larger is refused before it fills the
// memory. A program sets it once, before it reads anything.
std::size_t largest_file();
void set_largest_file(std::size_t bytes);
inline constexpr std::size_t kLargestFile = std::size_t{512} << 20;  // where nobody sets another
inline constexpr const char* kLargestFileFlag = "--max-file-mib";    // of the programs
[[noreturn]] void fail_too_large(const std::filesystem::path& path);

// Opens a regular file or a pipe, such as <(command) and /dev/stdin. Throws InputError where it
// cannot be opened, is too large, is a folder or a device (which may have no end), or is a named
// pipe (mkfifo) without data for kLongestWaitS.
inline constexpr int kLongestWaitS = 5;
FileDescriptor open_to_read(const std::filesystem::path& path);

// Throws as open_to_read() does, and where the file cannot be read.
std::string read_file(const std::filesystem::path& path);

// For files that the user did not name: both throw InputError for anything but a regular file, such
// as a pipe, which would block.
void require_regular(const std::filesystem::path& path);
std::string read_regular_file(const std::filesystem::path& path);

// Where a symbolic link leads in the end, which need not exist; a path that is none as it is.
std::filesystem::path followed(const std::filesystem::path& path);

// Creates missing folders. Throws InputError naming the file and the system's reason (a full disk,
// no permission); the old file, if any, is then untouched and the temporary file is gone. A
// process's first write into a folder removes what killed ones left there.
void write_atomically(const std::filesystem::path& path, std::string_view contents);

// Throws what write_atomically() would throw now, a full disk aside, so that work whose result goes
// there need not be done in vain. Creates missing folders.
void require_writable(const std::filesystem::path& path);

// A device or a pipe, such as /dev/stdout: it has no contents to lose, and a rename would replace
// it.
bool is_stream(const std::filesystem::path& path);

// Whether that name leads to the file.
bool has_name(const FileDescriptor& file, const std::filesystem::path& path);

// Files that exist for a moment or for a process have a name with this in it, after a leading dot:
// they are never taken for a process of a run folder. Their process holds their lock (flock).
inline constexpr std::string_view kOwnMark = ".fusegate-";
// Of a folder's lock the whole name, and of a file's the end (write_lock.h).
inline constexpr std::string_view kLockSuffix = ".fusegate-lock";

// Removes those whose lock nobody holds: a killed process left them. Nothing else in the folder is
// touched, and what cannot be read or removed stays.
void remove_leftovers(const std::filesystem::path& folder);

}  // namespace fusegate::baselines
