#include "baselines/io/file_io.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <new>
#include <set>
#include <system_error>

#include "baselines/io/error.h"

namespace fusegate::baselines {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, std::string_view action, int error) {
  throw InputError(path.string(), "",
                   fmt::format("{}: {}", action, std::generic_category().message(error)));
}

constexpr std::size_t kRoomBehind = 64;
constexpr const char* kNoFile = "is neither a file nor a pipe";

std::size_t largest = kLargestFile;

struct stat status_of(const FileDescriptor& file, const fs::path& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail(path, "cannot read", errno);
  return status;
}

std::string read_all(const FileDescriptor& file, const fs::path& path) {
  std::string contents;
  std::size_t used = 0;
  // More than the size, so that a regular file ends without growing the buffer, and so that a
  // parser finds its padding there (json_walk.h). The size is only a first guess: pipes and /proc
  // have none.
  contents.resize(static_cast<std::size_t>(status_of(file, path).st_size) + kRoomBehind);
  while (true) {
    const ssize_t count = uninterrupted(
        [&] { return ::read(file.get(), contents.data() + used, contents.size() - used); });
    if (count < 0) fail(path, "cannot read", errno);
    if (count == 0) break;
    used += static_cast<std::size_t>(count);
    if (used > largest_file()) fail_too_large(path);
    if (used == contents.size()) contents.resize(2 * used);
  }
  contents.resize(used);
  return contents;
}

int open_file(const fs::path& path, int flags) {
  return uninterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC); });
}

// Somebody holds the other end of a pipe without a name, as of <(command), and may take any time.
bool has_no_name(const FileDescriptor& pipe) {
  struct statfs system {};
  return ::fstatfs(pipe.get(), &system) == 0 && system.f_type == PIPEFS_MAGIC;
}

void wait_for_writer(const FileDescriptor& pipe, const fs::path& path) {
  pollfd watched{pipe.get(), POLLIN, 0};
  const int ready = has_no_name(pipe)
                        ? 1
                        : uninterrupted([&] { return ::poll(&watched, 1, kLongestWaitS * 1000); });
  if (ready < 0) fail(path, "cannot read", errno);
  if (ready == 0) {
    throw InputError(path.string(), "",
                     fmt::format("is a pipe that had no data for {} s", kLongestWaitS));
  }
  // As it would have been opened, but for the wait.
  if (::fcntl(pipe.get(), F_SETFL, 0) != 0) fail(path, "cannot read", errno);
}

void write_all(int fd, const fs::path& path, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written =
        uninterrupted([&] { return ::write(fd, contents.data(), contents.size()); });
    if (written < 0) fail(path, "cannot write", errno);
    contents.remove_prefix(static_cast<std::size_t>(written));
  }
}

fs::path create_folder_of(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail(path, "cannot create its folder", error.value());
  return folder;
}

void write_stream(const fs::path& path, std::string_view contents) {
  FileDescriptor stream(open_file(path, O_WRONLY));
  if (!stream.is_open()) fail(path, "cannot open", errno);
  write_all(stream.get(), path, contents);
  if (const int error = stream.close(); error != 0) fail(path, "cannot write", error);
}

// The temporary file, removed unless it took its final name. Locked until then, as
// remove_leftovers() takes what nobody holds.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& target) : target_(target) {
    do {
      create();
    } while (!is_held());
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
    if (uninterrupted([&] { return ::fsync(descriptor_.get()); }) != 0)
      fail(target_, "cannot flush to the disk", errno);
    // A second descriptor, as closing the first would give the lock back before the rename.
    FileDescriptor closed(::fcntl(descriptor_.get(), F_DUPFD_CLOEXEC, 0));
    if (const int error = closed.close(); error != 0) fail(target_, "cannot write", error);
    if (::rename(name_.c_str(), target_.c_str()) != 0) fail(target_, "cannot rename to it", errno);
    renamed_ = true;
  }

 private:
  void create() {
    name_ =
        (target_.parent_path() / fmt::format(".{}{}XXXXXX", target_.filename().string(), kOwnMark))
            .string();
    const std::string pattern = name_;
    descriptor_ = FileDescriptor(uninterrupted([&] {
      name_ = pattern;
      return ::mkostemp(name_.data(), O_CLOEXEC);
    }));
    if (!descriptor_.is_open()) fail(target_, "cannot create a file beside it", errno);
  }

  // False where another process took it for a leftover before it was locked; that one removes it.
  bool is_held() const {
    if (::flock(descriptor_.get(), LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
    struct stat status {};
    return ::fstat(descriptor_.get(), &status) != 0 || status.st_nlink > 0;
  }

  fs::path target_;
  std::string name_;
  FileDescriptor descriptor_;
  bool renamed_ = false;
};

// Of this process.
bool is_first_write_into(const fs::path& folder) {
  static std::mutex mutex;
  static std::set<fs::path> folders;
  const std::lock_guard lock(mutex);
  return folders.insert(folder).second;
}

void remove_if_left(const fs::path& path) {
  // For writing, since NFS locks no others exclusively.
  const FileDescriptor file(open_file(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open() || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return;
  // The name may lead elsewhere since it was opened, to a file that somebody holds.
  if (has_name(file, path)) ::unlink(path.c_str());
}

// Makes the rename itself survive a power cut. Not every file system can; the contents are complete
// under either name, so that is no error.
void flush_folder(const fs::path& folder) {
  const FileDescriptor descriptor(open_file(folder, O_RDONLY | O_DIRECTORY));
  if (descriptor.is_open()) ::fsync(descriptor.get());
}

}  // namespace

std::size_t largest_file() { return largest; }

void set_largest_file(std::size_t bytes) { largest = bytes; }

void fail_too_large(const fs::path& path) {
  throw InputError(path.string(), "",
                   fmt::format("is larger than {} MiB (unpacked); raise the limit with {}",
                               largest_file() >> 20, kLargestFileFlag));
}

FileDescriptor open_to_read(const fs::path& path) {
  FileDescriptor file(open_file(path, O_RDONLY | O_NONBLOCK));
  if (!file.is_open()) fail(path, "cannot open", errno);
  const struct stat status = status_of(file, path);
  if (S_ISFIFO(status.st_mode)) wait_for_writer(file, path);
  if (S_ISDIR(status.st_mode)) fail(path, "cannot read", EISDIR);
  if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode)) {
    throw InputError(path.string(), "", kNoFile);
  }
  if (S_ISREG(status.st_mode) && static_cast<std::size_t>(status.st_size) > largest_file()) {
    fail_too_large(path);
  }
  return file;
}

std::string read_file(const fs::path& path) {
  const FileDescriptor file = open_to_read(path);
  try {
    return read_all(file, path);
  } catch (const std::bad_alloc&) {
    fail(path, "cannot read", ENOMEM);
  }
}

void require_regular(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw InputError(path.string(), "", kNoFile);
  }
}

std::string read_regular_file(const fs::path& path) {
  require_regular(path);
  return read_file(path);
}

fs::path followed(const fs::path& path) {
  constexpr int kMostLinks = 40;  // as many as Linux follows
  fs::path target = path;
  std::error_code error;
  for (int links = 0; fs::is_symlink(target, error); ++links) {
    if (links == kMostLinks) fail(path, "cannot follow the link", ELOOP);
    target = target.parent_path() / fs::read_symlink(target, error);
    if (error) fail(path, "cannot follow the link", error.value());
  }
  return target;
}

void write_atomically(const fs::path& path, std::string_view contents) {
  if (is_stream(path)) return write_stream(path, contents);
  const fs::path folder = create_folder_of(path);
  if (is_first_write_into(folder)) remove_leftovers(folder);
  TemporaryFile temporary(path);
  temporary.write(contents);
  temporary.take_target_mode();
  temporary.commit();
  flush_folder(folder);
}

bool has_name(const FileDescriptor& file, const fs::path& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(file.get(), &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

bool is_stream(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return fs::is_character_file(status) || fs::is_fifo(status);
}

void remove_leftovers(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name.starts_with('.') && name.find(kOwnMark) != std::string::npos) {
      remove_if_left(entry->path());
    }
  }
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
