#include "kernels/contract/layout_arena.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace fusegate::kernels {

LayoutArena::LayoutArena(std::vector<Memory> blocks, std::size_t block_bytes,
                         std::uint64_t first_block_seed)
    : blocks_(std::move(blocks)), block_bytes_(block_bytes), first_block_random_(first_block_seed) {
  begin(0);
}

void LayoutArena::begin(std::uint64_t number) {
  if (!in_use_.empty())
    throw std::logic_error("free the memory of one layout before starting the next");
  gap_random_.seed(number);
  block_ = first_block_random_() % blocks_.size();
  blocks_begun_ = 1;
  offset_ = random_gap();
}

std::optional<Memory> LayoutArena::allocate(std::size_t bytes) {
  if (!fits(bytes) && blocks_begun_ < blocks_.size()) {
    block_ = (block_ + 1) % blocks_.size();
    ++blocks_begun_;
    offset_ = random_gap();
  }
  if (!fits(bytes)) return std::nullopt;
  auto* const data = static_cast<std::byte*>(blocks_[block_].data()) + offset_;
  offset_ += (bytes + kAlignment - 1) / kAlignment * kAlignment + random_gap();
  in_use_.emplace(data, bytes);
  return Memory(data, bytes, [this, bytes](void* released) {
    in_use_.erase(in_use_.find({static_cast<std::byte*>(released), bytes}));
  });
}

std::optional<std::span<std::byte>> LayoutArena::unused_around(const void* address) const {
  const auto* const at = static_cast<const std::byte*>(address);
  for (const Memory& block : blocks_) {
    auto* begin = static_cast<std::byte*>(block.data());
    auto* end = begin + block_bytes_;
    if (at < begin || at >= end) continue;
    for (const auto& [data, bytes] : in_use_) {
      std::byte* const behind = data + bytes / kAlignment * kAlignment + kAlignment;
      if (behind <= at) {
        begin = std::max(begin, behind);
      } else if (data > at) {
        end = std::min(end, data);
      } else {
        return std::nullopt;
      }
    }
    return std::span(begin, end);
  }
  return std::nullopt;
}

// Up to 16 MiB, a third of an H200's L2. Without a std:: distribution, whose numbers differ between
// standard libraries.
std::size_t LayoutArena::random_gap() {
  constexpr std::size_t kStep = 64 << 10, kSteps = 256;
  return gap_random_() % kSteps * kStep;
}

}  // namespace fusegate::kernels
