// A short name of a text, by which texts are known apart that are kept nowhere: not against who
// forges. forge.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace fusegate::baselines {

// 16 hexadecimal digits, the same on every machine: FNV-1a of 64 bits, G. Fowler, L. C. Noll, K.-P.
// Vo, "The FNV non-cryptographic hash algorithm" (draft-eastlake-fnv).
inline std::string text_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : text) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace fusegate::baselines
