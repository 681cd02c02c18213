#include "baselines/io/file_io.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "baselines/io/error.h"
#include "baselines/io/file_descriptor.h"

namespace fusegate::baselines {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, std::string_view action, int error) {
  throw InputError(path.string(), "",
                   fmt::format("{}: {}", action, std::generic_category().message(error)));
}

constexpr std::size_t kRoomBehind = 64;

void write_all(int fd, const fs::path& path, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written = ::write(fd, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path, "cannot write", errno);
    contents.remove_prefix(static_cast<std::size_t>(written));
  }
}

// A device or a pipe, such as /dev/stdout: it has no old contents to lose, and a rename would put a
// file in its place.
bool is_stream(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return fs::is_character_file(status) || fs::is_fifo(status);
}

fs::path create_folder_of(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail(path, "cannot create its folder", error.value());
  return folder;
}

void write_stream(const fs::path& path, std::string_view contents) {
  FileDescriptor stream(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!stream.is_open()) fail(path, "cannot open", errno);
  write_all(stream.get(), path, contents);
  if (const int error = stream.close(); error != 0) fail(path, "cannot write", error);
}

// The temporary file, removed unless it took its final name.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& target)
      : target_(target),
        // A leading dot and no .json at the end: never taken for an invocation of a run folder.
        name_((target.parent_path() / fmt::format(".{}.XXXXXX", target.filename().string()))
                  .string()),
        descriptor_(::mkstemp(name_.data())),
        open_error_(errno) {
    if (!descriptor_.is_open()) fail(target_, "cannot create a file beside it", open_error_);
  }
  ~TemporaryFile() {
    if (!renamed_) ::unlink(name_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(std::string_view contents) { write_all(descriptor_.get(), target_, contents); }

  // mkstemp makes files private; a baseline is meant to be read by whoever reads the checkout.
  void take_target_mode() {
    struct stat old {};
    const mode_t mode = ::stat(target_.c_str(), &old) == 0 ? (old.st_mode & 07777) : 0644;
    if (::fchmod(descriptor_.get(), mode) != 0) fail(target_, "cannot set its mode", errno);
  }

  void commit() {
    if (::fsync(descriptor_.get()) != 0) fail(target_, "cannot flush to the disk", errno);
    if (const int error = descriptor_.close(); error != 0) fail(target_, "cannot write", error);
    if (::rename(name_.c_str(), target_.c_str()) != 0) fail(target_, "cannot rename to it", errno);
    renamed_ = true;
  }

 private:
  fs::path target_;
  std::string name_;
  FileDescriptor descriptor_;
  int open_error_;
  bool renamed_ = false;
};

// Makes the rename itself survive a power cut. Not every file system can; the contents are complete
// under either name, so that is no error.
void flush_folder(const fs::path& folder) {
  const FileDescriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.is_open()) ::fsync(descriptor.get());
}

}  // namespace

std::string read_file(const fs::path& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) fail(path, "cannot open", errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail(path, "cannot read", errno);
  std::string contents;
  std::size_t used = 0;
  // More than the size, so that a regular file ends without growing the buffer, and so that a
  // parser finds its padding there (json_walk.h). The size is only a first guess: pipes and /proc
  // have none.
  contents.resize(static_cast<std::size_t>(status.st_size) + kRoomBehind);
  while (true) {
    const ssize_t count = ::read(file.get(), contents.data() + used, contents.size() - used);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(path, "cannot read", errno);
    if (count == 0) break;
    used += static_cast<std::size_t>(count);
    if (used == contents.size()) contents.resize(2 * used);
  }
  contents.resize(used);
  return contents;
}

void write_atomically(const fs::path& path, std::string_view contents) {
  if (is_stream(path)) return write_stream(path, contents);
  const fs::path folder = create_folder_of(path);
  TemporaryFile temporary(path);
  temporary.write(contents);
  temporary.take_target_mode();
  temporary.commit();
  flush_folder(folder);
}

void require_writable(const fs::path& path) {
  if (is_stream(path)) {
    if (::access(path.c_str(), W_OK) != 0) fail(path, "cannot open", errno);
    return;
  }
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) fail(path, "cannot rename to it", EISDIR);
  create_folder_of(path);
  const TemporaryFile probe(path);
}

}  // namespace fusegate::baselines
