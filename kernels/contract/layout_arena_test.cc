#include "kernels/contract/layout_arena.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <stdexcept>
#include <vector>

namespace fusegate::kernels {
namespace {

constexpr std::size_t kBlockBytes = 256 << 20;

// Addresses alone, never written, so that a block may exceed this machine's memory.
std::vector<Memory> blocks(int count, std::size_t first_address = kBlockBytes) {
  std::vector<Memory> result;
  for (int i = 0; i < count; ++i) {
    // Twice the length apart, so that blocks do not touch.
    const std::size_t address = first_address + 2 * kBlockBytes * static_cast<std::size_t>(i);
    result.emplace_back(reinterpret_cast<void*>(address), kBlockBytes, [](void*) {});
  }
  return result;
}

std::size_t address_of(const Memory& memory) {
  return reinterpret_cast<std::size_t>(memory.data());
}

// Where tensors of these sizes lie, counted from the first of them.
std::vector<std::size_t> distances(LayoutArena& arena, std::uint64_t number,
                                   const std::vector<std::size_t>& sizes) {
  arena.begin(number);
  std::vector<Memory> memory;
  std::vector<std::size_t> result;
  for (const std::size_t bytes : sizes) {
    memory.push_back(arena.allocate(bytes).value());
    result.push_back(address_of(memory.back()) - address_of(memory.front()));
  }
  return result;
}

const std::vector<std::size_t> kSizes{3 << 20, 1000, 7 << 20, 1, 4096};

TEST(LayoutArenaTest, GivesOneNumberTheSameDistancesInEveryProcess) {
  LayoutArena one(blocks(3), kBlockBytes, 1);
  LayoutArena other(blocks(2, std::size_t{1} << 40), kBlockBytes, 2);
  for (const std::uint64_t number : {0, 1, 47}) {
    EXPECT_EQ(distances(one, number, kSizes), distances(other, number, kSizes));
    EXPECT_EQ(distances(one, number, kSizes), distances(one, number, kSizes));
  }
}

TEST(LayoutArenaTest, GivesEveryNumberOtherDistances) {
  LayoutArena arena(blocks(1), kBlockBytes, 1);
  std::set<std::vector<std::size_t>> seen;
  for (std::uint64_t number = 0; number < 100; ++number) {
    seen.insert(distances(arena, number, kSizes));
  }
  EXPECT_EQ(seen.size(), 100u);
}

// With any standard library.
TEST(LayoutArenaTest, LayoutsAreTheSameOnEveryMachine) {
  LayoutArena arena(blocks(1), kBlockBytes, 1);
  EXPECT_EQ(distances(arena, 5, {512, 512, 512}), (std::vector<std::size_t>{0, 6291968, 13108224}));
}

TEST(LayoutArenaTest, MemoryIsApartAndAligned) {
  LayoutArena arena(blocks(4), kBlockBytes, 1);
  for (std::uint64_t number = 0; number < 20; ++number) {
    arena.begin(number);
    std::vector<Memory> memory;
    std::size_t end = 0;
    for (int i = 0; i < 12; ++i) {
      memory.push_back(arena.allocate((5 << 20) + 3).value());
      const std::size_t begin = address_of(memory.back());
      EXPECT_EQ(begin % LayoutArena::kAlignment, 0u);
      const bool same_block = begin / (2 * kBlockBytes) == end / (2 * kBlockBytes);
      if (same_block) {
        EXPECT_GE(begin, end);
      }
      end = begin + memory.back().bytes();
      EXPECT_EQ((end - 1) / kBlockBytes % 2, 1u) << "inside a block";
    }
  }
}

TEST(LayoutArenaTest, GoesThroughEveryBlockOnceAndThenIsFull) {
  LayoutArena arena(blocks(3), kBlockBytes, 1);
  std::vector<Memory> memory;
  std::set<std::size_t> blocks_seen;
  constexpr std::size_t kMostOfABlock = kBlockBytes - (32 << 20);
  while (auto more = arena.allocate(kMostOfABlock)) {
    blocks_seen.insert(address_of(*more) / (2 * kBlockBytes));
    memory.push_back(std::move(*more));
  }
  EXPECT_EQ(memory.size(), 3u);
  EXPECT_EQ(blocks_seen.size(), 3u);
  EXPECT_FALSE(LayoutArena(blocks(3), kBlockBytes, 1).allocate(kBlockBytes + 1));
}

TEST(LayoutArenaTest, BeginsInAnyBlock) {
  LayoutArena arena(blocks(4), kBlockBytes, 1);
  std::set<std::size_t> first;
  for (int i = 0; i < 100; ++i) {
    arena.begin(7);
    first.insert(address_of(arena.allocate(1).value()) / (2 * kBlockBytes));
  }
  EXPECT_EQ(first.size(), 4u);
}

TEST(LayoutArenaTest, KnowsWhatALayoutDoesNotUse) {
  LayoutArena arena(blocks(2), kBlockBytes, 1);
  const auto unused_at = [&arena](std::size_t address) {
    return arena.unused_around(reinterpret_cast<void*>(address));
  };
  Memory earlier = arena.allocate(1 << 20).value();
  const std::size_t old = address_of(earlier);
  EXPECT_FALSE(unused_at(old + 5)) << "in use";
  earlier = {};
  EXPECT_TRUE(unused_at(old + 5));
  arena.begin(1);
  const Memory one = arena.allocate(1000).value(), two = arena.allocate(1000).value();
  const std::size_t first = address_of(one), second = address_of(two);
  for (const std::size_t address : {first, first + 999, first + 1000, second}) {
    EXPECT_FALSE(unused_at(address)) << address - first;
  }
  ASSERT_GT(second, first + 1024);
  const auto between = unused_at(first + 1024);
  ASSERT_TRUE(between.has_value());
  EXPECT_EQ(reinterpret_cast<std::size_t>(between->data()), first + 1024) << "aligned";
  EXPECT_EQ(between->size(), second - first - 1024);
  EXPECT_TRUE(unused_at(first - 1));
  const std::size_t block = first / kBlockBytes * kBlockBytes;
  EXPECT_EQ(unused_at(second + 1024)->size(), block + kBlockBytes - second - 1024);
  EXPECT_FALSE(unused_at(block - 1)) << "outside of the blocks";
  EXPECT_FALSE(unused_at(block + kBlockBytes));
}

TEST(LayoutArenaTest, RefusesToMoveMemoryInUse) {
  LayoutArena arena(blocks(1), kBlockBytes, 1);
  {
    const auto memory = arena.allocate(1);
    EXPECT_THROW(arena.begin(1), std::logic_error);
  }
  EXPECT_NO_THROW(arena.begin(1));
}

}  // namespace
}  // namespace fusegate::kernels
