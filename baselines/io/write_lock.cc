#include "baselines/io/write_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <thread>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"

namespace fusegate::baselines {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Subject {
  const fs::path& target;
  std::string_view field;
  std::string_view held;  // what its holder does
};

[[noreturn]] void fail(const Subject& subject, std::string_view action, int error) {
  throw InputError(subject.target.string(), subject.field,
                   fmt::format("{}: {}", action, std::generic_category().message(error)));
}

void create_folder(const fs::path& folder, const Subject& subject) {
  std::error_code error;
  fs::create_directories(folder.empty() ? fs::path(".") : folder, error);
  if (error) fail(subject, "cannot create its folder", error.value());
}

// "process 4711", as the holder wrote it.
std::string holder_of(const FileDescriptor& file) {
  char number[16];
  const ssize_t size = ::pread(file.get(), number, sizeof number, 0);
  if (size <= 0) return "another process";
  return "process " + std::string(number, static_cast<std::size_t>(size));
}

void write_holder(const FileDescriptor& file) {
  const std::string number = std::to_string(::getpid());
  // It only helps who is refused: a disk that has no room for it must not cost the lock.
  if (::ftruncate(file.get(), 0) == 0) {
    [[maybe_unused]] const ssize_t ignored = ::pwrite(file.get(), number.data(), number.size(), 0);
  }
}

// Closed where the file system has no locks.
FileDescriptor locked(const fs::path& path, const Subject& subject,
                      std::chrono::milliseconds wait) {
  for (const auto start = Clock::now();;) {
    FileDescriptor file(
        uninterrupted([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644); }));
    if (!file.is_open()) fail(subject, "cannot create a file beside it", errno);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
      if (!has_name(file, path)) continue;  // its last holder removed it
      write_holder(file);
      return file;
    }
    if (errno != EWOULDBLOCK) {
      ::unlink(path.c_str());
      return {};
    }
    if (Clock::now() - start >= wait) {
      throw InputError(subject.target.string(), subject.field,
                       fmt::format("{} {}", holder_of(file), subject.held));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace

WriteLock WriteLock::of_folder(const fs::path& folder, std::string_view field) {
  const Subject subject{folder, field,
                        "writes into this folder now; wait until it ends, or name another folder"};
  create_folder(folder, subject);
  WriteLock lock;
  lock.path_ = folder / kLockSuffix;
  lock.file_ = locked(lock.path_, subject, kAMoment);
  return lock;
}

WriteLock WriteLock::of_file(const fs::path& path, std::chrono::milliseconds wait) {
  WriteLock lock;
  if (is_stream(path)) return lock;
  const Subject subject{path, "", "writes this file now; wait until it ends, or name another"};
  create_folder(path.parent_path(), subject);
  lock.path_ = path.parent_path() / fmt::format(".{}{}", path.filename().string(), kLockSuffix);
  lock.file_ = locked(lock.path_, subject, wait);
  return lock;
}

// Removed while it is still held: who opened it before sees that its name leads elsewhere.
WriteLock::~WriteLock() {
  if (file_.is_open() && has_name(file_, path_)) ::unlink(path_.c_str());
}

}  // namespace fusegate::baselines
