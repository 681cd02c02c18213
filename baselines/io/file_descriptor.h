// Owns a file descriptor.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace fusegate::baselines {

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
  // Some file systems (NFS, quotas) report a full disk only here. Returns errno, 0 for success.
  int close() {
    if (!is_open() || ::close(std::exchange(fd_, -1)) == 0) return 0;
    return errno;
  }

 private:
  int fd_ = -1;
};

}  // namespace fusegate::baselines
