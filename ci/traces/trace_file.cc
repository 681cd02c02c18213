#include "ci/traces/trace_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>

#include "baselines/io/error.h"
#include "baselines/traces/reader.h"

namespace fusegate::ci {
namespace {

constexpr std::size_t kMostAtOnce = 1 << 30;  // gzread counts in int

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
  // zlib puts the path and a colon before what it says.
  const std::string_view what = message.substr(std::min(message.size(), path.string().size() + 2));
  throw baselines::InputError(path.string(), "", fmt::format("no valid gzip data: {}", what));
}

}  // namespace

std::string read_trace_text(const std::filesystem::path& path) {
  const Gzip file(gzopen(path.c_str(), "rb"));
  if (!file) {
    throw baselines::InputError(path.string(), "",
                                fmt::format("cannot open: {}", std::strerror(errno)));
  }
  std::string text;
  while (true) {
    const std::size_t used = text.size();
    text.resize(std::max<std::size_t>(2 * used, 1 << 16));
    const std::size_t room = std::min(text.size() - used, kMostAtOnce);
    const int count = gzread(file.get(), text.data() + used, static_cast<unsigned>(room));
    text.resize(used + static_cast<std::size_t>(std::max(count, 0)));
    if (count > 0) continue;
    check(file.get(), path);
    return text;
  }
}

baselines::Trace read_trace_file(const std::filesystem::path& path) {
  return baselines::parse_trace(read_trace_text(path), path.string());
}

}  // namespace fusegate::ci
