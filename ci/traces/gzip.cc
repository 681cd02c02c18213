#include "ci/traces/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "baselines/io/error.h"

namespace fusegate::ci {
namespace {

constexpr int kGzipOnly = 15 + 16;  // the largest window, and no other format (zlib.h)
constexpr std::size_t kMostAtOnce = std::numeric_limits<uInt>::max();  // what zlib counts to

// Copies are deleted because the stream holds memory of zlib's.
class Inflater {
 public:
  Inflater() {
    if (inflateInit2(&stream_, kGzipOnly) != Z_OK) throw std::runtime_error("zlib: no memory");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Unpacks one member behind what `text` has, and takes it from `bytes`.
  void member(std::string_view& bytes, std::string& text, std::string_view source) {
    inflateReset(&stream_);
    int result = Z_OK;
    while (result != Z_STREAM_END) {
      if (bytes.empty()) throw baselines::InputError(source, "", "the gzip data end too early");
      const std::size_t used = text.size();
      text.resize(std::max<std::size_t>(2 * used, 1 << 16));
      const std::size_t room = std::min(text.size() - used, kMostAtOnce);
      const std::size_t offered = std::min(bytes.size(), kMostAtOnce);
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      stream_.avail_in = static_cast<uInt>(offered);
      stream_.next_out = reinterpret_cast<Bytef*>(text.data() + used);
      stream_.avail_out = static_cast<uInt>(room);
      result = inflate(&stream_, Z_NO_FLUSH);
      if (result != Z_OK && result != Z_STREAM_END) {
        const char* reason = stream_.msg != nullptr ? stream_.msg : zError(result);
        throw baselines::InputError(source, "", fmt::format("no valid gzip data: {}", reason));
      }
      bytes.remove_prefix(offered - stream_.avail_in);
      text.resize(used + room - stream_.avail_out);
    }
  }

 private:
  z_stream stream_{};
};

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1F\x8B"); }

std::string gunzip(std::string_view bytes, std::string_view source) {
  std::string text;
  Inflater inflater;
  do {
    inflater.member(bytes, text, source);
  } while (is_gzip(bytes));
  // As gzip does: what follows the last member is padding, or was never part of it.
  if (bytes.find_first_not_of('\0') != bytes.npos) {
    throw baselines::InputError(source, "", "something that is no gzip data follows them");
  }
  return text;
}

}  // namespace fusegate::ci
