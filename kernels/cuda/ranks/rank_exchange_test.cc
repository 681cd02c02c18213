// The protocol of rank_exchange.h by its own addresses: ranks' blocks take steps in random order,
// and each must read what its exchange's data is.
#include "kernels/cuda/ranks/rank_exchange.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <vector>

namespace fusegate::kernels {
namespace {

constexpr std::int64_t kSlotBytes = 128;
constexpr int kMostChunks = 16;

// Of a kernel: words of a chunk and the number of blocks, alike on all ranks.
struct Cut {
  int words, blocks;
  int chunks() const { return static_cast<int>(kSlotBytes) / 4 / words; }
};

// False where it has to wait.
using Step = std::function<bool()>;

class World {
 public:
  World(int ranks, unsigned seed) : random_(seed), memory_(static_cast<std::size_t>(ranks)) {
    for (int rank = 0; rank < ranks; ++rank) {
      RankExchange exchange{.slot_bytes = kSlotBytes, .rank = rank, .count = ranks};
      exchanges_.push_back(exchange);
    }
    const auto bytes = static_cast<std::size_t>(exchanges_[0].gathered_at());
    for (std::size_t at = 0; at < memory_.size(); ++at) {
      memory_[at] =
          std::make_unique_for_overwrite<std::byte[]>(bytes);  // each word is written first
      for (RankExchange& exchange : exchanges_) exchange.buffers[at] = memory_[at].get();
      for (int i = 0; i < kCounters; ++i) *exchanges_[at].counter(i) = first_;
      for (int i = 0; i < ranks * kMostChunks; ++i) {
        *exchanges_[at].flag(static_cast<int>(at), i / kMostChunks, i % kMostChunks) = first_ - 1;
      }
    }
  }

  // That many kernels on each rank, of cuts in turn. Returns the words that were wrong.
  int run(const std::vector<Cut>& cuts, int kernels) {
    std::vector<int> done(exchanges_.size(), 0);
    std::vector<std::vector<std::vector<Step>>> blocks(exchanges_.size());
    const auto of_ranks = static_cast<unsigned>(exchanges_.size());
    // Ranks that lag make others run ahead as far as they can.
    const unsigned lags = random_() % (of_ranks + 1);
    for (std::size_t left = exchanges_.size(); left > 0;) {
      std::size_t rank = random_() % of_ranks;
      if (rank == lags && random_() % 64 != 0) rank = random_() % of_ranks;
      auto& of_rank = blocks[rank];
      std::erase_if(of_rank, [](const auto& block) { return block.empty(); });
      if (of_rank.empty()) {
        if (done[rank] > kernels) continue;
        if (done[rank]++ == kernels) {
          --left;
          continue;
        }
        start(cuts[static_cast<std::size_t>(done[rank]) % cuts.size()], exchanges_[rank], of_rank);
        continue;
      }
      auto& block = of_rank[random_() % of_rank.size()];
      if (block.front()()) block.erase(block.begin());
    }
    return wrong_;
  }

 private:
  static std::uint32_t word_of(int rank, std::uint32_t number, int word) {
    return number * 1000003U + static_cast<std::uint32_t>(rank * 1009 + word);
  }

  void start(const Cut& cut, const RankExchange& own, std::vector<std::vector<Step>>& blocks) {
    const std::uint32_t number = *own.counter(0);
    for (int block = 0; block < cut.blocks; ++block) {
      EXPECT_EQ(*own.counter(block), number);
      std::vector<Step> steps;
      for (int chunk = block; chunk < cut.chunks(); chunk += cut.blocks) {
        for (int to = 0; to < own.count; ++to) send(cut, own, to, chunk, number, steps);
      }
      for (int chunk = block; chunk < cut.chunks(); chunk += cut.blocks) {
        for (int from = 0; from < own.count; ++from) read(cut, own, from, chunk, number, steps);
      }
      steps.emplace_back([=] {
        for (int i = block; i < kCounters; i += cut.blocks) *own.counter(i) = number + 1;
        return true;
      });
      blocks.push_back(std::move(steps));
    }
  }

  void send(const Cut& cut, const RankExchange& own, int to, int chunk, std::uint32_t number,
            std::vector<Step>& steps) {
    for (int word = chunk * cut.words; word < (chunk + 1) * cut.words; ++word) {
      steps.emplace_back([=] {
        const std::uint32_t value = word_of(own.rank, number, word);
        std::memcpy(own.slot(to, own.rank, number) + 4 * word, &value, sizeof(value));
        return true;
      });
    }
    steps.emplace_back([=] {
      *own.flag(to, own.rank, chunk) = number;
      return true;
    });
  }

  void read(const Cut& cut, const RankExchange& own, int from, int chunk, std::uint32_t number,
            std::vector<Step>& steps) {
    steps.emplace_back([=] { return has_reached(*own.flag(own.rank, from, chunk), number); });
    for (int word = chunk * cut.words; word < (chunk + 1) * cut.words; ++word) {
      steps.emplace_back([=, this] {
        std::uint32_t value = 0;
        std::memcpy(&value, own.slot(own.rank, from, number) + 4 * word, sizeof(value));
        wrong_ += value != word_of(from, number, word);
        return true;
      });
    }
  }

  std::minstd_rand random_;
  // So that numbers wrap around within a test.
  std::uint32_t first_ = std::numeric_limits<std::uint32_t>::max() - 2;
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::vector<RankExchange> exchanges_;
  int wrong_ = 0;
};

TEST(RankExchange, NothingIsOverwrittenBeforeItIsReadHoweverFarRanksRunAhead) {
  for (int ranks = 2; ranks <= 4; ++ranks) {
    for (unsigned seed = 1; seed <= 30; ++seed) {
      EXPECT_EQ(World(ranks, seed).run({{8, 3}}, 7), 0) << ranks << " ranks, seed " << seed;
    }
  }
}

TEST(RankExchange, KernelsMayCutTheirDataInOtherWays) {
  for (int ranks = 2; ranks <= 3; ++ranks) {
    for (unsigned seed = 1; seed <= 30; ++seed) {
      EXPECT_EQ(World(ranks, seed).run({{8, 3}, {32, 1}, {2, 5}}, 7), 0)
          << ranks << " ranks, seed " << seed;
    }
  }
}

TEST(RankExchange, ItsPartsDoNotOverlap) {
  std::vector<std::byte> memory(32 << 20);
  RankExchange exchange{.slot_bytes = 128, .rank = 1, .count = 3};
  for (std::byte*& buffer : exchange.buffers) buffer = memory.data();
  const auto at = [&](const void* address) {
    return static_cast<const std::byte*>(address) - memory.data();
  };
  EXPECT_EQ(at(exchange.counter(kCounters)), at(exchange.flag(0, 0, 0)));
  EXPECT_EQ(at(exchange.flag(0, 0, kFlags)), at(exchange.flag(0, 1, 0)));
  EXPECT_EQ(at(exchange.gather_flag(0, 0, 0)), at(exchange.flag(0, 0, kDataFlags)));
  EXPECT_EQ(at(exchange.flag(0, kMostRanks, 0)), at(exchange.packet(0, 0, 0, 0)));
  EXPECT_EQ(at(exchange.packet(0, 0, 2, kMostPackets)), at(exchange.packet(0, 1, 4, 0)));
  EXPECT_EQ(at(exchange.packet(0, 3, 0, 0)), at(exchange.packet(0, 0, 1, 0)));
  EXPECT_EQ(at(exchange.packet(0, 3, 1, 0)), at(exchange.slot(0, 0, 0)));
  EXPECT_EQ(at(exchange.slot(0, 3, 4)), at(exchange.slot(0, 0, 5)));
  EXPECT_EQ(at(exchange.slot(0, 3, 5)), at(exchange.gathered(0)));
}

TEST(RankExchange, NumbersAreComparedAcrossTheirEnd) {
  EXPECT_TRUE(has_reached(5, 5));
  EXPECT_TRUE(has_reached(1, 0xfffffffeU));
  EXPECT_FALSE(has_reached(0xfffffffeU, 1));
  EXPECT_FALSE(has_reached(0, 1));
}

}  // namespace
}  // namespace fusegate::kernels
