// Ranks on one GPU, two if nothing else is said: streams and buffers of their own, and blocks for
// their share of the SMs, so that all are at work at one time. What is between GPUs apart
// (peer_buffer.h), the kernels do the same there. Calls follow each other without a wait between
// them, as in a captured batch, but are not launched early: blocks of one rank's later calls would
// take the SMs that the other one needs.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/cuda/device/cuda.h"
#include "kernels/cuda/device/cuda_graph.h"
#include "kernels/cuda/device/gpu_test_fixture.h"
#include "kernels/cuda/gemm/sm90/products.h"
#include "kernels/cuda/ranks/one_shot.h"
#include "kernels/cuda/ranks/overlapped.h"
#include "kernels/cuda/ranks/peer_buffer.h"
#include "kernels/cuda/ranks/x_gather.h"

namespace fusegate::kernels {
namespace {

constexpr int kRanks = 2, kCalls = 5;

struct RanksOfOneGpu : Ranks {
  explicit RanksOfOneGpu(int count) : count_(count) {}
  int count() const override { return count_; }

 private:
  int count_;
};

class RanksOnGpu : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped()) make_gpus(kRanks);
  }

  void make_gpus(int ranks) {
    gpus_.clear();
    for (int rank = 0; rank < ranks; ++rank) {
      gpus_.push_back(std::make_unique<CublasDevice>());
      gpus_.back()->join(std::make_shared<RanksOfOneGpu>(ranks));
    }
  }
  int ranks() const { return static_cast<int>(gpus_.size()); }

  void make_buffers(const ExchangeRoom& room) {
    RankExchange exchange{.slot_bytes = room.slot_bytes, .count = ranks()};
    exchanges_.clear();
    const auto bytes = static_cast<std::size_t>(exchange.gathered_at() + room.gathered_bytes);
    const std::vector<std::uint32_t> first(kCounters, 1);
    for (int rank = 0; rank < ranks(); ++rank) {
      memory_.push_back(device_->allocate(bytes));
      FUSEGATE_CUDA(cudaMemset(memory_.back().data(), 0, bytes));
      device_->copy_to_device(std::as_bytes(std::span(first)), memory_.back().data());
      exchange.buffers[rank] = static_cast<std::byte*>(memory_.back().data());
    }
    for (exchange.rank = 0; exchange.rank < ranks(); ++exchange.rank) {
      exchanges_.push_back(exchange);
    }
    FUSEGATE_CUDA(cudaDeviceSynchronize());
  }

  // launch(rank) of each call, on all ranks' streams, in a graph of all calls.
  void run(const std::vector<std::function<void()>>& launches) {
    std::vector<std::unique_ptr<ExecutableGraph>> graphs;
    for (std::size_t rank = 0; rank < launches.size(); ++rank) {
      const Graph graph(gpus_[rank]->stream(), [&] {
        for (int call = 0; call < kCalls; ++call) launches[rank]();
      });
      graphs.push_back(std::make_unique<ExecutableGraph>(graph, gpus_[rank]->stream()));
    }
    FUSEGATE_CUDA(cudaDeviceSynchronize());
    for (int replay = 0; replay < 2; ++replay) {
      for (const auto& graph : graphs) graph->launch();
    }
    for (const auto& gpu : gpus_) gpu->synchronize();
  }

  // Columns from `first` on.
  Tensor columns(const Tensor& of, std::int64_t first, std::int64_t count) {
    const Tensor part = tensor(of.rows(), count, of.dtype);
    const auto pitch = static_cast<std::size_t>(of.cols()) * 2,
               width = static_cast<std::size_t>(count) * 2;
    FUSEGATE_CUDA(cudaMemcpy2D(part.data, width, static_cast<std::byte*>(of.data) + first * 2,
                               pitch, width, static_cast<std::size_t>(of.rows()),
                               cudaMemcpyDefault));
    return part;
  }
  Tensor rows(const Tensor& of, std::int64_t first, std::int64_t count) {
    return {static_cast<std::byte*>(of.data) + first * of.cols() * 2, {count, of.cols()}, of.dtype};
  }

  std::vector<std::unique_ptr<CublasDevice>> gpus_;
  std::vector<RankExchange> exchanges_;
};

TEST_F(RanksOnGpu, OneShotAddsUpCallAfterCall) {
  for (const std::int64_t rows : {1, 33, 100, 512}) {  // in packets, and in chunks
    const std::int64_t bytes = rows * 4096 * 2;
    GpuLimits half = device_->limits();
    half.sm_count /= 2;
    const OneShotPlan plan = plan_all_reduce(bytes, kRanks, half);
    make_buffers({.slot_bytes = bytes});
    std::array<Tensor, kRanks> summands, outs;
    std::vector<std::function<void()>> launches(kRanks);
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      summands[rank] = random(rows, 4096, Dtype::kBf16, 1, rank + 1);
      outs[rank] = tensor(rows, 4096, Dtype::kBf16);
      launches[rank] = [copy = summands[rank], out = outs[rank], stream = gpus_[rank]->stream(),
                        add = make_one_shot(*gpus_[rank], plan, exchanges_[rank], outs[rank])] {
        FUSEGATE_CUDA(cudaMemcpyAsync(out.data, copy.data, out.bytes(), cudaMemcpyDefault, stream));
        add();
      };
    }
    device_->synchronize();
    run(launches);
    double *const first = widened(summands[0]), *const second = widened(summands[1]);
    std::vector<double> a(static_cast<std::size_t>(bytes / 2)), b = a;
    device_->copy_to_host(first, std::as_writable_bytes(std::span(a)));
    device_->copy_to_host(second, std::as_writable_bytes(std::span(b)));
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    device_->copy_to_device(std::as_bytes(std::span(a)), first);
    for (const Tensor& out : outs) {
      const ErrorNorms norms = device_->reference_math().compare(out, first);
      EXPECT_LE(norms.relative(), error_bound(Dtype::kBf16)) << rows << " rows";
      EXPECT_EQ(norms.not_finite, 0);
    }
    EXPECT_EQ(GpuTest::bytes(outs[0]), GpuTest::bytes(outs[1]));
    memory_.clear();
  }
}

// What is gathered is scattered again: the sum of as many equal parts as there are ranks.
TEST_F(RanksOnGpu, PacketsGatherPartsAndScatterSums) {
  for (const std::int64_t rows : {1, 128}) {
    const Tensor parts = random(kRanks * rows, 4096, Dtype::kBf16, 1, 1);
    GpuLimits half = device_->limits();
    half.sm_count /= 2;
    const OneShotPlan plan = plan_packets(rows * 4096 * 2, half);
    make_buffers({.slot_bytes = 128});
    std::array<Tensor, kRanks> wholes, sums;
    std::vector<std::function<void()>> launches(kRanks);
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      wholes[rank] = tensor(kRanks * rows, 4096, Dtype::kBf16);
      sums[rank] = tensor(rows, 4096, Dtype::kBf16);
      const Tensor part = this->rows(parts, static_cast<std::int64_t>(rank) * rows, rows);
      launches[rank] =
          [gather = make_one_shot_gather(*gpus_[rank], plan, exchanges_[rank], part, wholes[rank]),
           scatter = make_one_shot_scatter(*gpus_[rank], plan, exchanges_[rank], wholes[rank],
                                           sums[rank])] {
            gather();
            scatter();
          };
    }
    device_->synchronize();
    run(launches);
    std::vector<double> expected(static_cast<std::size_t>(parts.count()));
    double* const values = widened(parts);
    device_->copy_to_host(values, std::as_writable_bytes(std::span(expected)));
    for (double& value : expected) value *= kRanks;
    device_->copy_to_device(std::as_bytes(std::span(expected)), values);
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      EXPECT_EQ(bytes(wholes[rank]), bytes(parts)) << rows << " rows, rank " << rank;
      const ErrorNorms norms = device_->reference_math().compare(
          sums[rank], values + static_cast<std::int64_t>(rank) * rows * 4096);
      EXPECT_EQ(norms.relative(), 0) << rows << " rows, rank " << rank;
    }
    memory_.clear();
  }
}

class OverlappedOnGpu : public RanksOnGpu {
 protected:
  void SetUp() override {
    RanksOnGpu::SetUp();
    if (IsSkipped()) return;
    if (const std::string why = refuses_sm90(*device_); !why.empty()) GTEST_SKIP() << why;
  }

  // out = x w^T, of which each rank has a part of k; has_rows: each adds up its own rows.
  void check_down(int count, const GemmSize& size, bool has_rows) {
    SCOPED_TRACE(testing::Message()
                 << count << " ranks, " << size.m << " x " << size.n << " x " << size.k);
    make_gpus(count);
    const Tensor x = random(size.m, size.k, Dtype::kBf16, 1, 1);
    const Tensor w = random(size.n, size.k, Dtype::kBf16, 1, 2);
    std::vector<Tensor> outs;  // of all ranks where rows are split
    for (int i = 0; i < (has_rows ? 1 : count); ++i) {
      outs.push_back(tensor(size.m, size.n, Dtype::kBf16));
    }
    const GemmSize of_rank{size.m, size.n, size.k / count};
    const auto plan_of = [&](int rank) {
      return plan_wide_exchange(of_rank, {rank, count}, has_rows, device_->limits());
    };
    make_buffers({.slot_bytes = plan_of(0).slot_bytes});
    const int clusters =
        std::min(wide_exchange_clusters(plan_of(0)), device_->limits().sm_count / (3 * count));
    std::vector<std::function<void()>> launches;
    for (int rank = 0; rank < count; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      const Tensor to = has_rows ? rows(outs[0], rank * size.m / count, size.m / count) : outs[r];
      launches.push_back(make_wide_exchange(
          *gpus_[r], plan_of(rank), exchanges_[r],
          {columns(x, rank * of_rank.k, of_rank.k), columns(w, rank * of_rank.k, of_rank.k), to},
          clusters, false));
    }
    device_->synchronize();
    run(launches);
    double* const expected = product(x, w);
    for (const Tensor& out : outs) {
      const ErrorNorms norms = device_->reference_math().compare(out, expected);
      EXPECT_LE(norms.relative(), 2 * error_bound(Dtype::kBf16));  // summands are rounded too
      EXPECT_EQ(norms.not_finite, 0);
      EXPECT_EQ(bytes(out), bytes(outs[0]));
    }
    memory_.clear();
  }
};

TEST_F(OverlappedOnGpu, TilesAreAddedUpOnBothRanks) {
  check_down(2, {300, 400, 272}, false);
  check_down(2, {2048, 4096, 1024}, false);
}

TEST_F(OverlappedOnGpu, TilesAreAddedUpOnOneOfMoreRanksAndSentOn) {
  check_down(3, {800, 400, 264}, false);
  check_down(4, {2048, 4096, 1024}, false);
}

TEST_F(OverlappedOnGpu, TilesAreAddedUpByTheRankThatHasTheirRows) {
  check_down(2, {512, 400, 272}, true);
  check_down(2, {4096, 4096, 1024}, true);
  check_down(4, {4096, 4096, 1024}, true);
}

TEST_F(OverlappedOnGpu, RowsAreGatheredWhileOthersAreMultiplied) {
  const GemmSize size{2048, 256, 1024};  // h; 16 clusters have a tile
  const Activation& activation = kGemmActivations[0];
  const Tensor x = random(size.m, size.k, Dtype::kBf16, 2, 1);
  make_buffers({.slot_bytes = 128, .gathered_bytes = size.m * size.k * 2});
  std::vector<std::function<void()>> launches(kRanks);
  std::array<Tensor, kRanks> w_gate, w_up, h;
  for (int rank = 0; rank < kRanks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    const GatheringPlan plan = plan_gathering(size, {rank, kRanks}, device_->limits());
    const Tensor own = rows(x, rank * size.m / kRanks, size.m / kRanks);
    w_gate[r] = random(size.n, size.k, Dtype::kBf16, 0.5, 2 + r);
    w_up[r] = random(size.n, size.k, Dtype::kBf16, 0.5, 4 + r);
    h[r] = tensor(size.m, size.n, Dtype::kBf16);
    launches[r] = [gather = XGather(*gpus_[r], plan, exchanges_[r], own),
                   multiply = make_gathering_gemm(*gpus_[r], plan, activation, exchanges_[r],
                                                  {own, w_gate[r], w_up[r], h[r]}),
                   gpu = gpus_[r].get(), out = h[r]] {
      gpu->poison(out);
      gather.begin();
      multiply();
      gather.end();
    };
  }
  device_->synchronize();
  run(launches);
  for (std::size_t r = 0; r < kRanks; ++r) {
    double* const expected = gated_of_products(activation, x, w_gate[r], w_up[r]);
    const ErrorNorms norms = device_->reference_math().compare(h[r], expected);
    EXPECT_LE(norms.relative(), error_bound(Dtype::kBf16)) << "rank " << r;
    EXPECT_EQ(norms.not_finite, 0);
  }
}

class PeerBufferOnGpu : public GpuTest {};

TEST_F(PeerBufferOnGpu, IsKeptWhileItIsLargeEnough) {
  const auto first = PeerBuffer::of(*device_, {.slot_bytes = 1000});
  EXPECT_EQ(PeerBuffer::of(*device_, {.slot_bytes = 1 << 20}), first);
  const auto larger = PeerBuffer::of(*device_, {.slot_bytes = 3 << 20, .gathered_bytes = 16});
  EXPECT_NE(larger, first);
  EXPECT_EQ(PeerBuffer::of(*device_, {.slot_bytes = 4 << 20, .gathered_bytes = 1 << 20}), larger);
  ASSERT_EQ(larger->memory().size(), 1U);
  std::uint32_t counter = 0;
  device_->copy_to_host(larger->exchange().counter(kCounters - 1),
                        std::as_writable_bytes(std::span(&counter, 1)));
  EXPECT_EQ(counter, 1U);
}

}  // namespace
}  // namespace fusegate::kernels
