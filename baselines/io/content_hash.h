// A hash of bytes, the same on every machine and in every build. FNV-1a with 64 bits (G. Fowler, L.
// C. Noll, K.-P. Vo, RFC 9923): it detects changes, not forgery.
#pragma once

#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

namespace fusegate::baselines {

class ContentHash {
 public:
  void add(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) {
      hash_ = (hash_ ^ std::to_integer<std::uint64_t>(byte)) * 1'099'511'628'211u;
    }
  }
  // With its length: "ab", "c" and "a", "bc" differ.
  void add(std::string_view text) {
    add(static_cast<std::uint64_t>(text.size()));
    add(std::as_bytes(std::span(text)));
  }
  // From the lowest byte to the highest, whatever the machine's order is.
  void add(std::uint64_t number) {
    for (int i = 0; i < 8; ++i, number >>= 8) {
      const auto byte = static_cast<std::byte>(number & 0xff);
      add(std::span(&byte, 1));
    }
  }

  std::uint64_t value() const { return hash_; }
  // nvcc 13.0 refuses fmt's formats.
  std::string hex() const {
    char text[17];
    std::snprintf(text, sizeof(text), "%016" PRIx64, hash_);
    return text;
  }

 private:
  std::uint64_t hash_ = 14'695'981'039'346'656'037u;
};

}  // namespace fusegate::baselines
