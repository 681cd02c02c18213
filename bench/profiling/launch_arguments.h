// A launch's arguments in a form that processes can compare: addresses in the benchmark's own
// memory become offsets in it; everything else is unchanged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "baselines/io/content_hash.h"

namespace fusegate::bench {

using baselines::ContentHash;

// A benchmark's memory: a tensor or scratch.
struct MemorySpan {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
};

// What a call's arguments may point to.
struct CallMemory {
  std::vector<MemorySpan> spans{};  // all of the benchmark's, in the same order in every process
  bool program_allocates = false;   // other memory is its program's own (PreparedKernel::allocates)
  // The memory around an address that this layout does not use, but earlier ones may have; nothing
  // where there is none.
  std::function<std::optional<MemorySpan>(std::uint64_t address)> earlier_layout{};
};

// An argument that is an address of an earlier layout.
struct StaleArgument {
  std::string kernel;  // or "memset" or "memcpy"
  MemorySpan memory;   // around the address, and not used by this layout
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
  kHostAddress,      // of pageable memory, which kernels do not read: a library left it there, as
                     // cublasLt's split-k reduction has the addresses of alpha and beta
  kHalfHostAddress,  // its upper half is one's, which was left behind a number of four bytes
  kDeviceAddress,    // elsewhere: what lies there is not known
};

// An address in memory that the call's program allocated for itself.
struct OwnAllocation {
  std::uint64_t number = 0;  // in order of first appearance in the call
  std::uint64_t bytes = 0;   // of the whole allocation
  std::uint64_t offset = 0;
};

// Allocators such as PyTorch's cut allocations of few sizes, in the same way for the same requests:
// two processes of the same code have equal numbers, sizes and offsets. Memory that was in use
// before the call may make them differ, and never equal by mistake.
class OwnAllocations {
 public:
  OwnAllocation locate(const MemorySpan& allocation, std::uint64_t address);

 private:
  std::vector<std::uint64_t> begins_;
};

using WordMeaning = std::variant<WordKind, OwnAllocation>;
using MeaningOf = std::function<WordMeaning(std::uint64_t word)>;

// The bytes of one argument, or of a buffer of arguments, in two captures of the same call, or in
// one, twice. What differs between them and is no device address is the host's own, such as an
// address from malloc.
struct ArgumentBytes {
  std::span<const std::byte> first;
  std::span<const std::byte> again;
};

// Adds an argument. Addresses lie at multiples of eight bytes, as the ABI demands, in structs and
// tensor maps too. Returns false where one is a device address outside of the benchmark's memory.
bool add_argument(const ArgumentBytes& bytes, std::span<const MemorySpan> memory,
                  const MeaningOf& meaning_of, ContentHash& hash);

}  // namespace fusegate::bench
