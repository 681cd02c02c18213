// Owns a file descriptor; and what its users need around system calls.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace fusegate::baselines {

// Makes a system call again as long as a signal interrupts it: no signal may cost a result.
template <typename Call>
auto uninterrupted(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~FileDescriptor() { close(); }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  // To somebody who closes it.
  int release() { return std::exchange(fd_, -1); }
  // Some file systems (NFS, quotas) report a full disk only here. Returns errno, 0 for success.
  // Where a signal interrupts it, Linux has closed it all the same.
  int close() {
    if (!is_open() || ::close(std::exchange(fd_, -1)) == 0 || errno == EINTR) return 0;
    return errno;
  }

 private:
  int fd_ = -1;
};

}  // namespace fusegate::baselines
