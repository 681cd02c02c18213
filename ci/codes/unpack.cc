#include "ci/codes/unpack.h"

#ifdef FUSEGATE_HAS_LZ4
#include <lz4.h>
#endif
#ifdef FUSEGATE_HAS_ZSTD
#include <zstd.h>
#endif

#include <limits>
#include <stdexcept>
#include <string>

namespace fusegate::ci {
namespace {

using Bytes = std::span<const std::byte>;

[[noreturn, maybe_unused]] void fail_without(const std::string& library) {
  throw std::runtime_error("is packed by " + library +
                           ", which this fusegate was built without; install lib" + library +
                           "-dev and build it again, or build the program with nvcc "
                           "--compress-mode=none");
}

// Both: whether all of `bytes` was filled.

bool unpack_zstd([[maybe_unused]] Bytes packed, [[maybe_unused]] std::span<std::byte> bytes) {
#ifdef FUSEGATE_HAS_ZSTD
  return ZSTD_decompress(bytes.data(), bytes.size(), packed.data(), packed.size()) == bytes.size();
#else
  fail_without("zstd");
#endif
}

bool unpack_lz4([[maybe_unused]] Bytes packed, [[maybe_unused]] std::span<std::byte> bytes) {
#ifdef FUSEGATE_HAS_LZ4
  const auto size = static_cast<int>(bytes.size());
  return LZ4_decompress_safe(reinterpret_cast<const char*>(packed.data()),
                             reinterpret_cast<char*>(bytes.data()), static_cast<int>(packed.size()),
                             size) == size;
#else
  fail_without("lz4");
#endif
}

}  // namespace

std::vector<std::byte> unpack(Packing packing, Bytes packed, std::size_t size) {
  constexpr std::size_t kLargest = std::numeric_limits<int>::max();  // LZ4 counts in int
  if (packed.size() > kLargest || size > kLargest) throw std::runtime_error("is too large");
  std::vector<std::byte> bytes(size);
  const bool whole =
      packing == Packing::kZstd ? unpack_zstd(packed, bytes) : unpack_lz4(packed, bytes);
  if (!whole) throw std::runtime_error("does not unpack to what its header names");
  return bytes;
}

}  // namespace fusegate::ci
