#include "bench/profiling/launch_arguments.h"

#include <cstring>

namespace fusegate::bench {

std::optional<MemoryLocation> find_location(std::span<const MemorySpan> memory,
                                            std::uint64_t address) {
  std::optional<MemoryLocation> end;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (address < memory[i].begin) continue;
    const std::uint64_t offset = address - memory[i].begin;
    if (offset < memory[i].bytes) return MemoryLocation{i, offset};
    if (offset == memory[i].bytes) end = MemoryLocation{i, offset};
  }
  return end;
}

bool add_argument(std::span<const std::byte> bytes, std::span<const MemorySpan> memory,
                  const std::function<WordKind(std::uint64_t)>& kind_of, ContentHash& hash) {
  bool known = true;
  std::size_t at = 0;
  for (; at + sizeof(std::uint64_t) <= bytes.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    if (const auto location = find_location(memory, word)) {
      hash.add("place");  // never another text: stored identities were hashed with it
      hash.add(static_cast<std::uint64_t>(location->span));
      hash.add(location->offset);
      continue;
    }
    const WordKind kind = kind_of(word);
    known = known && kind != WordKind::kDeviceAddress;
    if (kind == WordKind::kHostAddress) {
      hash.add("host");
    } else {
      hash.add(word);
    }
  }
  hash.add(bytes.subspan(at));
  return known;
}

}  // namespace fusegate::bench
