// Numbered memory layouts: in a layout, tensors allocated in the same order have the same distances
// from each other in every process and on every card.
//
// These distances decide which of the tensors' lines share an L2 set. For working sets near the
// L2's size they changed a GeGLU MLP's time on an H200 by 0.9 to 1.2 % (standard deviation over 48
// layouts), where repeating one layout changed it by 0.5 to 0.65 %. So all processes try the same
// layouts (docs/evidence/protocol.md). Blocks are contiguous memory, since the L2's hash takes
// physical addresses: within a block, equal distances are equal to the hash as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "kernels/contract/device.h"

namespace fusegate::kernels {

class LayoutArena {
 public:
  // blocks: one at least, each of block_bytes. first_block_seed: the block that a layout begins in
  // is random, as are the blocks' own addresses.
  LayoutArena(std::vector<Memory> blocks, std::size_t block_bytes, std::uint64_t first_block_seed);

  // Starts the layout of that number. Throws std::logic_error while memory of the previous one is
  // in use.
  void begin(std::uint64_t number);
  // Aligned to kAlignment; nothing where it does not fit. Must not outlive the arena.
  std::optional<Memory> allocate(std::size_t bytes);
  // The memory around the address that this layout does not use. Nothing where it does, which the
  // end of an allocation counts as, and outside of the blocks.
  std::optional<std::span<std::byte>> unused_around(const void* address) const;

  static constexpr std::size_t kAlignment = 512;  // cudaMalloc's is 256 at least

 private:
  std::size_t random_gap();
  bool fits(std::size_t bytes) const { return offset_ + bytes <= block_bytes_; }

  std::vector<Memory> blocks_;
  std::size_t block_bytes_;
  std::mt19937_64 first_block_random_;
  std::mt19937_64 gap_random_;
  std::size_t block_ = 0;
  std::size_t blocks_begun_ = 1;
  std::size_t offset_ = 0;
  std::multiset<std::pair<std::byte*, std::size_t>> in_use_;
};

}  // namespace fusegate::kernels
