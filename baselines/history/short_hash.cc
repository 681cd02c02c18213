#include "baselines/history/short_hash.h"

#include <fmt/format.h>

#include <cstdint>

namespace fusegate::baselines {

std::string short_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const unsigned char byte : text) hash = (hash ^ byte) * 0x100000001b3;
  return fmt::format("{:012x}", hash >> 16);
}

}  // namespace fusegate::baselines
