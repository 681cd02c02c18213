// A launch's arguments in a form that processes can compare: addresses in the benchmark's own
// memory become offsets in it; everything else is unchanged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "bench/profiling/content_hash.h"

namespace fusegate::bench {

// A benchmark's memory: a tensor or scratch.
struct MemorySpan {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
};

struct MemoryLocation {
  std::size_t span = 0;  // which of them
  std::uint64_t offset = 0;
};

// The span that holds the address. The end of a span belongs to it unless another begins there.
std::optional<MemoryLocation> find_location(std::span<const MemorySpan> memory,
                                            std::uint64_t address);

// What a word outside of the benchmark's memory is.
enum class WordKind {
  kNumber,
  kHostAddress,    // of pageable memory, which kernels do not read: a library left it there, as
                   // cublasLt's split-k reduction has the addresses of alpha and beta
  kDeviceAddress,  // elsewhere: what lies there is not known
};

// Adds the bytes of one argument, or of a buffer of arguments. Addresses lie at multiples of eight
// bytes, as the ABI demands, in structs and tensor maps too. Returns false where one is a device
// address outside of the benchmark's memory.
bool add_argument(std::span<const std::byte> bytes, std::span<const MemorySpan> memory,
                  const std::function<WordKind(std::uint64_t)>& kind_of, ContentHash& hash);

}  // namespace fusegate::bench
