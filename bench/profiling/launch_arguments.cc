#include "bench/profiling/launch_arguments.h"

#include <algorithm>
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

OwnAllocation OwnAllocations::locate(const MemorySpan& allocation, std::uint64_t address) {
  auto found = std::ranges::find(begins_, allocation.begin);
  if (found == begins_.end()) found = begins_.insert(found, allocation.begin);
  return {.number = static_cast<std::uint64_t>(found - begins_.begin()),
          .bytes = allocation.bytes,
          .offset = address - allocation.begin};
}

bool add_argument(std::span<const std::byte> bytes, std::span<const MemorySpan> memory,
                  const MeaningOf& meaning_of, ContentHash& hash) {
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
    const WordMeaning meaning = meaning_of(word);
    if (const auto* const own = std::get_if<OwnAllocation>(&meaning)) {
      hash.add("allocation");
      for (const std::uint64_t part : {own->number, own->bytes, own->offset}) hash.add(part);
      continue;
    }
    const WordKind kind = std::get<WordKind>(meaning);
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
