#include "bench/profiling/launch_arguments.h"

#include <gtest/gtest.h>

namespace fusegate::bench {
namespace {

constexpr std::uint64_t kTensor = 0x7f00'0000'0000, kScratch = 0x7f00'4000'0000;

// A hash, and whether all of it is known. From kHost on are addresses of the host, from kElsewhere
// on of other device memory.
struct Read {
  std::string hash;
  bool known = false;

  bool operator==(const Read&) const = default;
};

constexpr std::uint64_t kHost = 0x7f70'0000'0000, kElsewhere = 0x7f80'0000'0000;

WordKind kind_of(std::uint64_t word) {
  if (word >= kElsewhere) return WordKind::kDeviceAddress;
  return word >= kHost ? WordKind::kHostAddress : WordKind::kNumber;
}

Read read(const std::vector<std::uint64_t>& words, std::uint64_t moved_by = 0) {
  const std::vector<MemorySpan> memory{{kTensor + moved_by, 1024}, {kScratch + moved_by, 64}};
  ContentHash hash;
  const auto bytes = std::as_bytes(std::span(words));
  const bool known = add_argument({bytes, bytes}, memory, kind_of, hash);
  return {hash.hex(), known};
}

TEST(LaunchArguments, AreTheSameWhereverTheMemoryLies) {
  constexpr std::uint64_t kMoved = 0x1000'0000;
  EXPECT_EQ(read({7, kTensor + 16, kScratch}),
            read({7, kTensor + kMoved + 16, kScratch + kMoved}, kMoved));
}

TEST(LaunchArguments, DifferInTheTensorTheOffsetAndTheNumber) {
  const Read of_all = read({7, kTensor + 16, 3});
  EXPECT_TRUE(of_all.known);
  EXPECT_NE(of_all, read({7, kTensor + 32, 3}));
  EXPECT_NE(of_all, read({7, kScratch + 16, 3}));
  EXPECT_NE(of_all, read({8, kTensor + 16, 3}));
  EXPECT_NE(of_all, read({7, 3, kTensor + 16}));
}

TEST(LaunchArguments, AreUnknownWhereTheyPointElsewhere) {
  EXPECT_FALSE(read({kElsewhere + 8, kTensor}).known);
}

TEST(LaunchArguments, AreTheSameWhereverTheHostKeepsItsOwn) {
  EXPECT_EQ(read({7, kHost + 16}), read({7, kHost + 48}));
  EXPECT_TRUE(read({7, kHost + 16}).known);
  EXPECT_NE(read({7, kHost + 16}), read({7, 16}));
}

// Of a program that allocates: two allocations from kElsewhere + moved_by on.
std::string hash_of_own(const std::vector<std::uint64_t>& words, std::uint64_t moved_by = 0,
                        std::uint64_t bytes = 0x20'0000) {
  const MemorySpan one{kElsewhere + moved_by, bytes}, two{kElsewhere + 2 * moved_by + bytes, bytes};
  OwnAllocations allocations;
  const MeaningOf meaning_of = [&](std::uint64_t word) -> WordMeaning {
    for (const MemorySpan& allocation : {one, two}) {
      if (word - allocation.begin < allocation.bytes) return allocations.locate(allocation, word);
    }
    return kind_of(word);
  };
  ContentHash hash;
  const auto argument = std::as_bytes(std::span(words));
  EXPECT_TRUE(add_argument({argument, argument}, {}, meaning_of, hash));
  return hash.hex();
}

TEST(LaunchArguments, KnowAProgramsAllocationsByTheirOrder) {
  constexpr std::uint64_t kOne = kElsewhere, kTwo = kElsewhere + 0x20'0000, kMoved = 0x1000'0000;
  const std::string hash = hash_of_own({7, kOne + 512, kTwo, kOne});
  EXPECT_EQ(hash, hash_of_own({7, kOne + kMoved + 512, kTwo + 2 * kMoved, kOne + kMoved}, kMoved));
  EXPECT_EQ(hash, hash_of_own({7, kTwo + 512, kOne, kTwo})) << "wherever they lie";
  EXPECT_NE(hash, hash_of_own({7, kOne + 1024, kTwo, kOne})) << "the offset";
  EXPECT_NE(hash, hash_of_own({7, kOne + 512, kTwo, kTwo})) << "which of them";
  EXPECT_NE(hash_of_own({kOne}), hash_of_own({kOne}, 0, 0x140'0000)) << "their size";
}

TEST(LaunchArguments, HaveTheirLastBytesToo) {
  const std::vector<std::byte> a(11, std::byte{1});
  std::vector<std::byte> b = a;
  b.back() = std::byte{2};
  const auto hash_of = [](std::span<const std::byte> bytes) {
    ContentHash hash;
    add_argument({bytes, bytes}, {}, kind_of, hash);
    return hash.hex();
  };
  EXPECT_EQ(hash_of(a), hash_of(std::vector<std::byte>(11, std::byte{1})));
  EXPECT_NE(hash_of(a), hash_of(b));
}

// As PyTorch's: an address from malloc, below all others, and half of one behind a number.
TEST(LaunchArguments, AreTheSameWhateverTheHostLeavesInThem) {
  const auto hash_of = [](std::vector<std::uint64_t> first, std::vector<std::uint64_t> again,
                          WordKind kind = WordKind::kNumber) {
    ContentHash hash;
    EXPECT_TRUE(add_argument(
        {std::as_bytes(std::span(first)), std::as_bytes(std::span(again))}, {},
        [kind](std::uint64_t) { return kind; }, hash));
    return hash.hex();
  };
  EXPECT_EQ(hash_of({7, 0x171e'3ee0}, {7, 0x171e'4fa0}),
            hash_of({7, 0x2bec'50a0}, {7, 0x2bec'6230}));
  EXPECT_NE(hash_of({7, 16}, {7, 16}), hash_of({7, 32}, {7, 32}));
  constexpr auto kHalf = WordKind::kHalfHostAddress;
  const std::vector<std::uint64_t> one{0x7f72'0000'0005}, other{0x7f0d'0000'0005},
      changed{0x7f72'0000'0006};
  EXPECT_EQ(hash_of(one, one, kHalf), hash_of(other, other, kHalf));
  EXPECT_NE(hash_of(one, one, kHalf), hash_of(changed, changed, kHalf));
}

TEST(LaunchArguments, OneBehindATensorIsInItUnlessAnotherBeginsThere) {
  const std::vector<MemorySpan> memory{{kTensor, 1024}, {kTensor + 1024, 64}};
  EXPECT_EQ(find_location(memory, kTensor + 1024)->span, 1u);
  EXPECT_EQ(find_location(memory, kTensor + 1088)->span, 1u);
  EXPECT_EQ(find_location(memory, kTensor + 1088)->offset, 64u);
  EXPECT_FALSE(find_location(memory, kTensor + 1089).has_value());
  EXPECT_FALSE(find_location(memory, kTensor - 1).has_value());
}

}  // namespace
}  // namespace fusegate::bench
