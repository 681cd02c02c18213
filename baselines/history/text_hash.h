// Short names of texts, the same on every machine and in every version, unlike std::hash. Not
// against who forges.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace fusegate::baselines {

// 16 hexadecimal digits: FNV-1a of 64 bits, G. Fowler, L. C. Noll, K.-P. Vo, "The FNV
// non-cryptographic hash algorithm" (draft-eastlake-fnv).
inline std::string text_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : text) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  }
  return fmt::format("{:016x}", hash);
}

// 12 of them, for people to type. Of 10,000 texts two share it once in six million.
inline std::string short_hash(std::string_view text) { return text_hash(text).substr(0, 12); }

}  // namespace fusegate::baselines
