// Excludes a second writer from a folder or a file while the object lives. The system releases the
// lock when the process ends, however it ends.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

#include "baselines/io/file_descriptor.h"

namespace fusegate::baselines {

class WriteLock {
 public:
  // Long enough for one that is just ending, and for remove_leftovers() (file_io.h), which holds a
  // lock for a moment.
  static constexpr std::chrono::milliseconds kAMoment{200};

  // Creates missing folders. Throws InputError where they cannot be made, and where another
  // process, which it names, still holds the lock after the wait; field: as InputError's. Without
  // effect on a file system that has no locks.
  static WriteLock of_folder(const std::filesystem::path& folder, std::string_view field);
  // The file need not be there. A device or a pipe needs no lock.
  static WriteLock of_file(const std::filesystem::path& path,
                           std::chrono::milliseconds wait = kAMoment);

  WriteLock(WriteLock&&) noexcept = default;
  WriteLock& operator=(WriteLock&&) = delete;
  ~WriteLock();

 private:
  WriteLock() = default;

  std::filesystem::path path_;  // of the file that is locked: it has a name of its own
  FileDescriptor file_;         // closed where nothing is locked
};

}  // namespace fusegate::baselines
