#include "ci/console/gzip_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"

namespace fusegate::ci {
namespace {

constexpr unsigned kPart = 1 << 16;

struct CloseGzip {
  void operator()(gzFile file) const { gzclose_r(file); }
};
using Gzip = std::unique_ptr<std::remove_pointer_t<gzFile>, CloseGzip>;

// Does nothing where all is well.
void check(gzFile file, const std::filesystem::path& path) {
  int code = Z_OK;
  const std::string_view message = gzerror(file, &code);
  if (code == Z_OK) return;
  if (code == Z_ERRNO) {
    throw baselines::InputError(path.string(), "",
                                fmt::format("cannot read: {}", std::strerror(errno)));
  }
  if (code == Z_BUF_ERROR) {
    throw baselines::InputError(path.string(), "", "the gzip data end too early");
  }
  // zlib puts a name of its own and a colon before what it says.
  constexpr std::string_view kColon = ": ";
  const std::size_t name = message.find(kColon);
  const std::string_view what = message.substr(name == message.npos ? 0 : name + kColon.size());
  throw baselines::InputError(path.string(), "", fmt::format("no valid gzip data: {}", what));
}

Gzip open(const std::filesystem::path& path) {
  baselines::FileDescriptor descriptor = baselines::open_to_read(path);
  Gzip file(gzdopen(descriptor.get(), "rb"));
  if (!file) throw std::bad_alloc();
  descriptor.release();  // the file closes it
  return file;
}

// A few megabytes of gzip may unpack to any size.
std::string unpacked(const std::filesystem::path& path) {
  const Gzip file = open(path);
  std::string text;
  std::array<char, kPart> part{};
  int count = 0;
  while ((count = gzread(file.get(), part.data(), kPart)) > 0) {
    text.append(part.data(), static_cast<std::size_t>(count));
    if (text.size() > baselines::largest_file()) baselines::fail_too_large(path);
  }
  check(file.get(), path);
  return text;
}

}  // namespace

std::string read_unpacked(const std::filesystem::path& path) {
  try {
    return unpacked(path);
  } catch (const std::bad_alloc&) {
    baselines::fail_for_memory(path.string());
  }
}

}  // namespace fusegate::ci
