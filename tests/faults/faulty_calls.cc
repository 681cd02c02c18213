// Preloaded into a program (LD_PRELOAD), makes its system calls go wrong as they may on a bad day.
// FUSEGATE_FAULTS says how, in NAME=VALUE pairs between semicolons:
//   program=NAME     in programs of that name alone
//   seed=N           of all that is drawn
//   interrupted=P    so many of a hundred opens, reads, writes and flushes fail with EINTR
//   short=P          so many of a hundred reads and writes handle a part of what they could
//   room=BYTES       files grow by so many bytes together, then writes fail with ENOSPC
//   readonly=FOLDER  nothing below it is made, opened for writing, renamed or removed: EROFS
//   kill=N           the process is killed (SIGKILL) before its Nth call that changes a file
// Calls that the C library makes of itself, as for streams and temporary files, are not seen.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

// The value behind the name in FUSEGATE_FAULTS; "" where there is none.
std::string setting(const char* name) {
  const char* all = std::getenv("FUSEGATE_FAULTS");
  if (all == nullptr) return "";
  std::string text(";");
  text.append(all).append(";");
  std::string key(";");
  key.append(name).append("=");
  const std::size_t found = text.find(key);
  if (found == std::string::npos) return "";
  const std::size_t begin = found + key.size();
  return text.substr(begin, text.find(';', begin) - begin);
}

long number(const char* name, long otherwise) {
  const std::string text = setting(name);
  return text.empty() ? otherwise : std::atol(text.c_str());
}

struct Faults {
  bool on = setting("program").empty() || setting("program") == program_invocation_short_name;
  long interrupted = on ? number("interrupted", 0) : 0;
  long short_calls = on ? number("short", 0) : 0;
  std::string readonly = on ? setting("readonly") : "";
  std::atomic<long> room{on ? number("room", -1) : -1};
  std::atomic<long> until_kill{on ? number("kill", 0) : 0};
  std::atomic<std::uint64_t> state{static_cast<std::uint64_t>(number("seed", 1)) + 1};
};

Faults& faults() {
  static Faults all;
  return all;
}

// splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
std::uint64_t draw() {
  std::uint64_t z = faults().state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

bool chance(long percent) { return percent > 0 && static_cast<long>(draw() % 100) < percent; }

bool is_interrupted() {
  if (!chance(faults().interrupted)) return false;
  errno = EINTR;
  return true;
}

std::size_t shortened(std::size_t size) {
  return size > 1 && chance(faults().short_calls) ? 1 + draw() % (size - 1) : size;
}

void before_change() {
  if (faults().until_kill > 0 && --faults().until_kill == 0) ::raise(SIGKILL);
}

bool is_readonly(const char* path) {
  const std::string& folder = faults().readonly;
  if (folder.empty() || std::strncmp(path, folder.c_str(), folder.size()) != 0) return false;
  errno = EROFS;
  return true;
}

// How many of so many bytes there is room for; -1 with ENOSPC for none.
ssize_t room_for(int fd, std::size_t size) {
  struct stat status {};
  if (faults().room < 0 || ::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    return static_cast<ssize_t>(size);
  }
  const long left = faults().room;
  if (left == 0) {
    errno = ENOSPC;
    return -1;
  }
  const long taken = std::min(left, static_cast<long>(size));
  faults().room -= taken;
  return taken;
}

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

int opened(const char* name, const char* path, int flags, mode_t mode) {
  const bool changes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT) != 0;
  if (changes && is_readonly(path)) return -1;
  if (is_interrupted()) return -1;
  if ((flags & O_CREAT) != 0) before_change();
  return next<int(const char*, int, ...)>(name)(path, flags, mode);
}

int made(const char* name, char* pattern, int flags) {
  if (is_readonly(pattern) || is_interrupted()) return -1;
  before_change();
  return next<int(char*, int)>(name)(pattern, flags);
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return opened("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return opened("open64", path, flags, mode);
}

int mkostemp(char* pattern, int flags) { return made("mkostemp", pattern, flags); }
int mkostemp64(char* pattern, int flags) { return made("mkostemp64", pattern, flags); }

ssize_t read(int fd, void* buffer, size_t size) {
  if (is_interrupted()) return -1;
  return next<ssize_t(int, void*, size_t)>("read")(fd, buffer, shortened(size));
}

ssize_t write(int fd, const void* buffer, size_t size) {
  if (is_interrupted()) return -1;
  const ssize_t room = room_for(fd, shortened(size));
  if (room < 0) return room;
  before_change();
  return next<ssize_t(int, const void*, size_t)>("write")(fd, buffer, static_cast<size_t>(room));
}

int fsync(int fd) {
  if (is_interrupted()) return -1;
  before_change();
  return next<int(int)>("fsync")(fd);
}

int rename(const char* from, const char* to) {
  if (is_readonly(to)) return -1;
  before_change();
  return next<int(const char*, const char*)>("rename")(from, to);
}

int unlink(const char* path) {
  if (is_readonly(path)) return -1;
  before_change();
  return next<int(const char*)>("unlink")(path);
}

int mkdir(const char* path, mode_t mode) {
  if (is_readonly(path)) return -1;
  before_change();
  return next<int(const char*, mode_t)>("mkdir")(path, mode);
}

}  // extern "C"
