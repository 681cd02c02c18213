// The arguments of a launch as they are compared between processes: addresses in the benchmark's
// own memory become places in it, and everything else stays what it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "bench/profiling/content_hash.h"

namespace fusegate::bench {

// Memory that a benchmark works in: a tensor, or scratch.
struct MemorySpan {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
};

struct PlaceInMemory {
  std::size_t span = 0;  // which of them
  std::uint64_t offset = 0;
};

// Where the address lies; the end of a span counts as in it where no other begins there.
std::optional<PlaceInMemory> find_place(std::span<const MemorySpan> memory, std::uint64_t address);

// What a word is that lies in none of the benchmark's memory.
enum class WordKind {
  kNumber,
  kHostAddress,    // of pageable memory, which kernels do not read: a library left it there, as
                   // cublasLt's split-k reduction has the addresses of alpha and beta
  kDeviceAddress,  // elsewhere: what lies there is not known
};

// Adds the bytes of one argument, or of a buffer of them. Addresses are looked for where the ABI
// puts them, at multiples of eight bytes, also within structs and tensor maps. Returns false where
// one is a device address elsewhere.
bool add_argument(std::span<const std::byte> bytes, std::span<const MemorySpan> memory,
                  const std::function<WordKind(std::uint64_t)>& kind_of, ContentHash& hash);

}  // namespace fusegate::bench
