// Kernels that exchange data with other GPUs, on several emulated ones at a time. Each launch draws
// another order of all their threads, so that GPUs run ahead of each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <list>
#include <memory>
#include <random>
#include <vector>

#include "kernels/activations/activations.h"
#include "kernels/contract/number_format.h"
#include "kernels/cuda/device/known_gpus.h"
#include "kernels/cuda/gemm/sm90/launches.h"
#include "kernels/cuda/gemm/sm90/wide_gemm_plan.h"
#include "kernels/cuda/ranks/gathering_gemm.cuh"
#include "kernels/cuda/ranks/one_shot.cuh"
#include "kernels/cuda/ranks/overlapped_plan.h"
#include "kernels/cuda/ranks/packets.cuh"
#include "kernels/cuda/ranks/wide_exchange.cuh"

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
void check_one_shot(int gpus, int blocks, std::int64_t vectors, unsigned seed,
                    const std::function<void(const RankExchange&, std::uint16_t* out)>& kernel) {
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
  Cluster(gpus * blocks, kOneShotThreads, 0, seed).run_gpus(gpus, 1, [&](int gpu) {
    for (std::vector<Numbers>& call : calls) {
      const auto rank = static_cast<std::size_t>(gpu);
      kernel(buffers.of_gpus[rank], call[rank].data());
      Cluster::here().end_kernel();
    }
  });
  for (unsigned call = 0; call < kCalls; ++call) {
    for (const Numbers& of_gpu : calls[call]) EXPECT_EQ(of_gpu, expected[call]) << "call " << call;
  }
}

template <int kVectors, int kShots = 1>
void check_in_chunks(int gpus, int blocks, std::int64_t vectors, unsigned seed) {
  check_one_shot(gpus, blocks, vectors, seed, [=](const RankExchange& exchange, auto* out) {
    ranks::chunked_all_reduce_kernel<kVectors, kShots>(exchange, reinterpret_cast<uint4*>(out),
                                                       vectors);
  });
}
void check_in_packets(int gpus, int blocks, std::int64_t vectors, unsigned seed) {
  check_one_shot(gpus, blocks, vectors, seed, [=](const RankExchange& exchange, auto* out) {
    ranks::packets_all_reduce_kernel(exchange, reinterpret_cast<uint2*>(out),
                                     static_cast<int>(vectors * 2));
  });
}

TEST(EmulatedOneShot, LeavesTheSumOnEachGpuCallAfterCall) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    check_in_chunks<1>(2, 2, 1100, seed);  // the last chunk is cut off
    check_in_chunks<4>(2, 1, 2048, seed);
    check_in_chunks<1>(3, 1, 7, seed);
    check_in_packets(2, 2, 250, seed);  // the last block has not enough for its threads
    check_in_packets(2, 1, 300, seed);  // threads have several
    check_in_packets(3, 1, 7, seed);
  }
}

TEST(EmulatedTwoShot, LeavesTheSumOnEachGpuCallAfterCall) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    check_in_chunks<1, 2>(3, 3, 800, seed);   // blocks have one chunk or two, the last cut off
    check_in_chunks<1, 2>(3, 1, 1100, seed);  // all chunks are one block's
    check_in_chunks<4, 2>(4, 4, 4096, seed);
  }
}

// What each GPU has of a whole tensor is gathered, and its sums are scattered again, call after
// call. packets: of a part.
void check_gather_and_scatter(int gpus, int blocks, int packets, unsigned seed) {
  constexpr int kCalls = 4;
  const auto count = static_cast<std::size_t>(packets) * 4, all = count * unsigned(gpus);
  Buffers buffers(gpus, 128);
  std::vector<std::vector<Numbers>> parts(kCalls), wholes(kCalls), sums(kCalls);
  for (int call = 0; call < kCalls; ++call) {
    for (int gpu = 0; gpu < gpus; ++gpu) {
      parts[call].push_back(random_numbers(count, seed * 1000 + unsigned(call * 10 + gpu)));
      wholes[call].emplace_back(all);
      sums[call].emplace_back(count);
    }
  }
  Cluster(gpus * blocks, kOneShotThreads, 0, seed).run_gpus(gpus, 1, [&](int gpu) {
    const auto rank = static_cast<std::size_t>(gpu);
    const RankExchange& exchange = buffers.of_gpus[rank];
    for (int call = 0; call < kCalls; ++call) {
      auto* const whole = reinterpret_cast<uint2*>(wholes[call][rank].data());
      ranks::packets_all_gather_kernel(
          exchange, reinterpret_cast<const uint2*>(parts[call][rank].data()), whole, packets);
      Cluster::here().end_kernel();
      ranks::packets_reduce_scatter_kernel(
          exchange, whole, reinterpret_cast<uint2*>(sums[call][rank].data()), packets);
      Cluster::here().end_kernel();
    }
  });
  for (int call = 0; call < kCalls; ++call) {
    Numbers whole;
    for (const Numbers& part : parts[call]) whole.insert(whole.end(), part.begin(), part.end());
    for (std::size_t gpu = 0; gpu < sums[call].size(); ++gpu) {
      EXPECT_EQ(wholes[call][gpu], whole) << "call " << call << ", GPU " << gpu;
      const Numbers& part = parts[call][gpu];
      EXPECT_EQ(sums[call][gpu], sum_of(std::vector<Numbers>(unsigned(gpus), part)));
    }
  }
}

TEST(EmulatedPackets, GatherPartsAndScatterSumsCallAfterCall) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    check_gather_and_scatter(2, 2, 500, seed);
    check_gather_and_scatter(2, 1, 600, seed);
    check_gather_and_scatter(3, 1, 14, seed);
  }
}

// A matrix in bf16.
struct Matrix {
  std::int64_t rows, columns;
  Numbers numbers;

  Matrix(std::int64_t rows, std::int64_t columns)
      : rows(rows), columns(columns), numbers(static_cast<std::size_t>(rows * columns), 0x7fc0) {}
  static Matrix random(std::int64_t rows, std::int64_t columns, unsigned seed) {
    Matrix made(rows, columns);
    made.numbers = random_numbers(made.numbers.size(), seed);
    return made;
  }
  Tensor tensor() { return {numbers.data(), {rows, columns}, Dtype::kBf16}; }
  double at(std::int64_t row, std::int64_t column) const {
    return load_element(numbers.data(), Dtype::kBf16, row * columns + column);
  }
};

using Doubles = std::vector<double>;  // row-major

// x [m, k] w [n, k]^T, added to `to`.
void add_product(const Doubles& x, const Matrix& w, Doubles& to) {
  const std::int64_t k = w.columns, n = w.rows, m = static_cast<std::int64_t>(x.size()) / k;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t l = 0; l < k; ++l)
        sum += x[static_cast<std::size_t>(i * k + l)] * w.at(j, l);
      to[static_cast<std::size_t>(i * n + j)] += sum;
    }
  }
}

Doubles doubles_of(const Matrix& matrix) {
  Doubles all;
  for (std::int64_t i = 0; i < matrix.rows * matrix.columns; ++i) {
    all.push_back(load_element(matrix.numbers.data(), Dtype::kBf16, i));
  }
  return all;
}

// first: of the rows that out has.
void expect_agrees(const Matrix& out, const Doubles& expected, std::int64_t first) {
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < out.numbers.size(); ++i) {
    const double is = load_element(out.numbers.data(), Dtype::kBf16, static_cast<std::int64_t>(i));
    const double should = expected[static_cast<std::size_t>(first * out.columns) + i];
    error += (is - should) * (is - should);
    norm += should * should;
  }
  EXPECT_LT(std::sqrt(error / norm), 1e-2);  // NaN fails too
}

using Wide = sm90::WideGemm<__nv_bfloat16, kWideGemmCols, kWideGemmStages>;
using Narrow = sm90::WideGemm<__nv_bfloat16, kNarrowGemmCols, kNarrowGemmStages>;
constexpr int kDownShared = std::max(Wide::kSharedBytes, Narrow::kSharedBytes);
constexpr GatedTileSm90 kTile = kGatedTilesSm90[kGatheringTile];
using Gate = sm90::GatheringGemm<
    sm90::GatedGemm<__nv_bfloat16, Silu, kTile.cols, kTile.stages, kTile.cluster, kTile.rows>>;

// What the launching code does, for kernels that run side by side.
template <typename Down>
std::function<void()> down_kernel_of(const WideExchangePlan& plan, const RankExchange& exchange,
                                     const Tensor& x, const Tensor& w, const Tensor& out) {
  const sm90::ExchangeMaps maps{.x = make_stage_map(x, sm90::kTileRows),
                                .w = make_stage_map(w, Down::kColumns / 2)};
  return [=, rows = output_rows(out), k = static_cast<int>(x.cols())] {
    sm90::wide_exchange_kernel<Down>(maps, plan.raster, exchange, rows, k);
  };
}

std::function<void()> down_kernel(const WideExchangePlan& plan, const RankExchange& exchange,
                                  const Tensor& x, const Tensor& w, const Tensor& out) {
  const auto make = plan.cols == kNarrowGemmCols ? &down_kernel_of<Narrow> : &down_kernel_of<Wide>;
  return make(plan, exchange, x, w, out);
}

std::function<void()> gate_kernel(const GatheringPlan& plan, const RankExchange& exchange,
                                  const GatedOperands& o) {
  const Tensor gathered{exchange.gathered(exchange.rank), {o.h.rows(), o.x.cols()}, o.x.dtype};
  const sm90::GatedMaps maps{.x = {.whole = make_stage_map(gathered, Gate::Shape::kRows),
                                   .last = make_stage_map(o.x, Gate::Shape::kRows)},
                             .w_gate = make_stage_map(o.w_gate, Gate::kColumns),
                             .w_up = make_stage_map(o.w_up, Gate::kColumns),
                             .h = make_tensor_map(o.h, Gate::Output::kRows, Gate::Output::kPanel)};
  return [=, rows = output_rows(o.h), k = static_cast<int>(o.x.cols())] {
    sm90::gathering_gemm_kernel<Gate>(maps, plan.raster, exchange, rows, k, plan.chunk_rows);
  };
}

// As XGather does, at random times.
void send_rows(const GatheringPlan& plan, const RankExchange& exchange, const Tensor& x) {
  const std::int64_t row_bytes = x.cols() * 2;
  for (int to = 0; to < exchange.count; ++to) {
    if (to == exchange.rank) continue;
    for (std::int64_t row = 0, chunk = 0; row < x.rows(); row += plan.chunk_rows, ++chunk) {
      const std::int64_t rows = std::min<std::int64_t>(plan.chunk_rows, x.rows() - row);
      Cluster::here().set_flag([=] {
        std::memcpy(exchange.gathered(to) + (exchange.rank * x.rows() + row) * row_bytes,
                    static_cast<const std::byte*>(x.data) + row * row_bytes,
                    static_cast<std::size_t>(rows * row_bytes));
        *exchange.gather_flag(to, exchange.rank, static_cast<int>(chunk)) = *exchange.counter(0);
      });
    }
  }
}

// Calls in a row on all GPUs, each of one or more kernels. shared: bytes, of the largest.
void run(int gpus, int blocks, std::size_t shared, unsigned seed,
         const std::vector<std::vector<std::function<void()>>>& kernels_of_gpu) {
  Cluster(gpus * blocks, sm90::kBlockThreads, shared, seed).run_gpus(gpus, 2, [&](int gpu) {
    for (const auto& kernel : kernels_of_gpu[static_cast<std::size_t>(gpu)]) {
      kernel();
      Cluster::here().end_kernel();
    }
  });
}

// All GPUs get all of out. With other numbers in each call.
void check_tensor_parallel(int gpus, int clusters, const GemmSize& size, unsigned seed) {
  constexpr unsigned kCalls = 3;
  const WideExchangePlan plan = plan_wide_exchange(size, {0, gpus}, false, kH200);
  Buffers buffers(gpus, plan.slot_bytes);
  std::list<Matrix> matrices, outs;
  std::vector<Doubles> expected;
  std::vector<std::vector<std::function<void()>>> kernels(static_cast<std::size_t>(gpus));
  for (unsigned call = 0; call < kCalls; ++call) {
    expected.emplace_back(static_cast<std::size_t>(size.m * size.n));
    for (int gpu = 0; gpu < gpus; ++gpu) {
      const unsigned of = seed * 1000 + call * 100 + static_cast<unsigned>(gpu) * 10;
      Matrix& x = matrices.emplace_back(Matrix::random(size.m, size.k, of));
      Matrix& w = matrices.emplace_back(Matrix::random(size.n, size.k, of + 1));
      Matrix& out = outs.emplace_back(size.m, size.n);
      add_product(doubles_of(x), w, expected.back());
      const auto rank = static_cast<std::size_t>(gpu);
      kernels[rank].push_back(
          down_kernel(plan, buffers.of_gpus[rank], x.tensor(), w.tensor(), out.tensor()));
    }
  }
  run(gpus, clusters * 2, kDownShared, seed, kernels);
  auto out = outs.begin();
  for (unsigned call = 0; call < kCalls; ++call) {
    const Numbers& first = out->numbers;
    for (int gpu = 0; gpu < gpus; ++gpu, ++out) {
      expect_agrees(*out, expected[call], 0);
      EXPECT_EQ(out->numbers, first) << "GPU " << gpu << ", call " << call;
    }
  }
}

TEST(EmulatedExchange, EachGpuAddsUpAllTilesCallAfterCall) {
  check_tensor_parallel(2, 1, {300, 400, 136}, 1);  // four tiles, cut off
  check_tensor_parallel(2, 2, {520, 200, 72}, 2);   // blocks have two tiles, or one
}

// More than two ranks send each tile to the one that adds it up, and its sum on.
TEST(EmulatedExchange, OneGpuAddsUpATileAndSendsTheSumOnCallAfterCall) {
  check_tensor_parallel(3, 1, {520, 504, 72}, 3);   // six tiles, cut off
  check_tensor_parallel(4, 2, {1100, 304, 40}, 4);  // blocks have three tiles, or two
  check_tensor_parallel(5, 1, {1300, 40, 24}, 5);   // each adds up one tile
}

// The whole MLP, of rows that are split.
void check_sequence_parallel(int gpus, int clusters, const MlpSize& size, unsigned seed) {
  constexpr unsigned kCalls = 2;
  const auto& [rows, dim, hidden] = size;
  const GemmSize down{rows, dim, hidden}, gate{rows, hidden, dim};
  const std::int64_t part = rows / gpus;
  Buffers buffers(gpus, plan_wide_exchange(down, {0, gpus}, true, kH200).slot_bytes,
                  rows * dim * 2);
  std::list<Matrix> matrices, outs;
  std::vector<Doubles> expected;
  std::vector<std::vector<std::function<void()>>> kernels(static_cast<std::size_t>(gpus));
  for (unsigned call = 0; call < kCalls; ++call) {
    const unsigned of_call = seed * 1000 + call * 100;
    std::vector<Matrix*> parts;
    Doubles x;
    for (int gpu = 0; gpu < gpus; ++gpu) {
      parts.push_back(&matrices.emplace_back(
          Matrix::random(part, dim, of_call + static_cast<unsigned>(gpu) * 10)));
      const Doubles of_part = doubles_of(*parts.back());
      x.insert(x.end(), of_part.begin(), of_part.end());
    }
    expected.emplace_back(static_cast<std::size_t>(rows * dim));
    for (int gpu = 0; gpu < gpus; ++gpu) {
      const unsigned of = of_call + static_cast<unsigned>(gpu) * 10;
      Matrix& w_gate = matrices.emplace_back(Matrix::random(hidden, dim, of + 1));
      Matrix& w_up = matrices.emplace_back(Matrix::random(hidden, dim, of + 2));
      Matrix& w_down = matrices.emplace_back(Matrix::random(dim, hidden, of + 3));
      Matrix& h = matrices.emplace_back(rows, hidden);
      Matrix& out = outs.emplace_back(part, dim);
      Doubles g(static_cast<std::size_t>(rows * hidden)), u = g;
      add_product(x, w_gate, g);
      add_product(x, w_up, u);
      for (std::size_t i = 0; i < g.size(); ++i) g[i] = Silu::reference(g[i]) * u[i];
      add_product(g, w_down, expected.back());
      const RankExchange& exchange = buffers.of_gpus[static_cast<std::size_t>(gpu)];
      const GatheringPlan gathering = plan_gathering(gate, {gpu, gpus}, kH200);
      const WideExchangePlan sending = plan_wide_exchange(down, {gpu, gpus}, true, kH200);
      const Tensor own = parts[static_cast<std::size_t>(gpu)]->tensor();
      auto& of_gpu = kernels[static_cast<std::size_t>(gpu)];
      of_gpu.push_back(
          [=, multiply = gate_kernel(gathering, exchange,
                                     {own, w_gate.tensor(), w_up.tensor(), h.tensor()})] {
            if (threadIdx.x == 0 && blockIdx.x == 0) send_rows(gathering, exchange, own);
            multiply();
          });
      of_gpu.push_back(down_kernel(sending, exchange, h.tensor(), w_down.tensor(), out.tensor()));
    }
  }
  run(gpus, clusters * 2, std::max(kDownShared, Gate::kSharedBytes), seed, kernels);
  auto out = outs.begin();
  for (unsigned call = 0; call < kCalls; ++call) {
    for (int gpu = 0; gpu < gpus; ++gpu, ++out) expect_agrees(*out, expected[call], gpu * part);
  }
}

TEST(EmulatedExchange, RowsThatAreSplitAreGatheredAndTheirSumsScattered) {
  check_sequence_parallel(2, 1, {512, 72, 72}, 1);
  for (unsigned seed = 2; seed <= 5; ++seed) {
    check_sequence_parallel(2, 2, {512, 40, 64}, seed);  // a block has one tile, another's or own
  }
}

}  // namespace
}  // namespace fusegate::kernels
