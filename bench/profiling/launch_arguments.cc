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

namespace {

std::uint64_t word_at(std::span<const std::byte> bytes, std::size_t at) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof(word));
  return word;
}

// Whether the address behind a span's end begins memory of the program's own.
bool begins_own(const MemoryLocation& location, std::span<const MemorySpan> memory,
                const WordMeaning& meaning) {
  const auto* const own = std::get_if<OwnAllocation>(&meaning);
  return location.offset == memory[location.span].bytes && own != nullptr && own->offset == 0;
}

void add_number(WordKind kind, std::uint64_t word, std::uint64_t again, ContentHash& hash) {
  if (kind == WordKind::kHalfHostAddress) {
    hash.add("half");
    hash.add(word & 0xffff'ffff);
  } else if (kind == WordKind::kHostAddress || word != again) {
    hash.add("host");
  } else {
    hash.add(word);
  }
}

}  // namespace

bool add_argument(const ArgumentBytes& bytes, std::span<const MemorySpan> memory,
                  const MeaningOf& meaning_of, ContentHash& hash) {
  const auto& [first, second] = bytes;
  bool known = true;
  std::size_t at = 0;
  for (; at + sizeof(std::uint64_t) <= first.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t word = word_at(first, at);
    const auto location = find_location(memory, word);
    const bool is_inside = location && location->offset < memory[location->span].bytes;
    const WordMeaning meaning = is_inside ? WordKind::kDeviceAddress : meaning_of(word);
    if (location && !begins_own(*location, memory, meaning)) {
      hash.add("place");  // never another text: stored identities were hashed with it
      hash.add(static_cast<std::uint64_t>(location->span));
      hash.add(location->offset);
    } else if (const auto* const own = std::get_if<OwnAllocation>(&meaning)) {
      hash.add("allocation");
      for (const std::uint64_t part : {own->number, own->bytes, own->offset}) hash.add(part);
    } else {
      const WordKind kind = std::get<WordKind>(meaning);
      known = known && kind != WordKind::kDeviceAddress;
      add_number(kind, word, word_at(second, at), hash);
    }
  }
  if (std::ranges::equal(first.subspan(at), second.subspan(at))) {
    hash.add(first.subspan(at));
  } else {
    hash.add("host");
  }
  return known;
}

}  // namespace fusegate::bench
