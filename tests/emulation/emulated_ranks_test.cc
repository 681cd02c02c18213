// Kernels that exchange data with other GPUs, on several emulated ones at a time. Each launch draws
// another order of all their threads, so that GPUs run ahead of each other.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "kernels/contract/number_format.h"
#include "kernels/cuda/ranks/one_shot.cuh"

namespace fusegate::kernels {
namespace {

using emulation::Cluster;

// The buffers of so many GPUs.
class Buffers {
 public:
  Buffers(int gpus, std::int64_t slot_bytes, std::int64_t gathered_bytes = 0) {
    RankExchange exchange{.slot_bytes = slot_bytes, .count = gpus};
    const auto bytes = static_cast<std::size_t>(exchange.gathered_at() + gathered_bytes);
    for (int gpu = 0; gpu < gpus; ++gpu) {
      memory_.push_back(std::make_unique<std::byte[]>(bytes));
      exchange.buffers[gpu] = memory_.back().get();
    }
    for (exchange.rank = 0; exchange.rank < gpus; ++exchange.rank) {
      of_gpus.push_back(exchange);
      for (int i = 0; i < kCounters; ++i) *exchange.counter(i) = 1;
    }
  }

  std::vector<RankExchange> of_gpus;

 private:
  std::vector<std::unique_ptr<std::byte[]>> memory_;
};

using Numbers = std::vector<std::uint16_t>;  // in bf16

Numbers random_numbers(std::size_t count, unsigned seed) {
  std::minstd_rand random(seed);
  Numbers numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double value = static_cast<double>(random() % 2000) / 1000 - 1;
    store_element(numbers.data(), Dtype::kBf16, static_cast<std::int64_t>(i), value);
  }
  return numbers;
}

// Of all GPUs' numbers, added in their order in fp32.
Numbers sum_of(const std::vector<Numbers>& all) {
  Numbers sum(all.front().size());
  for (std::size_t i = 0; i < sum.size(); ++i) {
    float value = 0;
    for (const Numbers& one : all) {
      value +=
          static_cast<float>(load_element(one.data(), Dtype::kBf16, static_cast<std::int64_t>(i)));
    }
    store_element(sum.data(), Dtype::kBf16, static_cast<std::int64_t>(i), value);
  }
  return sum;
}

// Calls in a row, each with numbers of its own.
template <int kVectors>
void check_one_shot(int gpus, int blocks, std::int64_t vectors, unsigned seed) {
  constexpr unsigned kCalls = 5;
  Buffers buffers(gpus, vectors * 16);
  std::vector<std::vector<Numbers>> calls(kCalls);
  std::vector<Numbers> expected;
  for (unsigned call = 0; call < kCalls; ++call) {
    for (int gpu = 0; gpu < gpus; ++gpu) {
      calls[call].push_back(random_numbers(static_cast<std::size_t>(vectors) * 8,
                                           1 + seed * 100 + call * 10 + unsigned(gpu)));
    }
    expected.push_back(sum_of(calls[call]));
  }
  Cluster(gpus * blocks, kOneShotThreads, 0, seed).run_gpus(gpus, [&](int gpu) {
    for (std::vector<Numbers>& call : calls) {
      const auto rank = static_cast<std::size_t>(gpu);
      ranks::one_shot_kernel<kVectors>(buffers.of_gpus[rank],
                                       reinterpret_cast<uint4*>(call[rank].data()), vectors);
      Cluster::here().end_kernel();
    }
  });
  for (unsigned call = 0; call < kCalls; ++call) {
    for (const Numbers& of_gpu : calls[call]) EXPECT_EQ(of_gpu, expected[call]) << "call " << call;
  }
}

TEST(EmulatedOneShot, LeavesTheSumOnEachGpuCallAfterCall) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    check_one_shot<1>(2, 2, 1100, seed);  // the last chunk is cut off
    check_one_shot<4>(2, 1, 2048, seed);
    check_one_shot<1>(3, 1, 7, seed);
  }
}

}  // namespace
}  // namespace fusegate::kernels
