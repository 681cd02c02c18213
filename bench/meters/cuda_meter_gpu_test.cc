// What the GPU's meter reports about kernels besides their times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/meters/meter_test_fixture.h"
#include "kernels/cuda/device/cuda.h"

namespace fusegate::bench {
namespace {

class CudaMeterTest : public MeterTest {
 protected:
  // Launched once.
  kernels::PreparedKernel prepared(std::string_view operation, std::string_view name) {
    Prepared made = prepare(operation, name);
    workspace_ = std::move(made.workspace);
    made.kernel.launch();
    device_->synchronize();
    return std::move(made.kernel);
  }

  std::unique_ptr<kernels::Workspace> workspace_;
};

TEST_F(CudaMeterTest, ReportsTheResourcesOfEveryKernelThatIsLaunched) {
  for (const auto& [operation, name] :
       {std::pair("geglu", "fused"), std::pair("geglu_mlp", "fused_pointwise"),
        std::pair("geglu_mlp", "packed_pointwise"), std::pair("linear", "matmul_add"),
        std::pair("control_gemm", "cublas")}) {
    const kernels::PreparedKernel kernel = prepared(operation, name);
    std::int64_t reported = 0;
    for (const kernels::Stage& stage : kernel.stages) {
      for (const kernels::KernelResources& of : meter_->kernels(stage)) {
        SCOPED_TRACE(operation + ("/" + stage.name) + ": " + of.name);
        ++reported;
        EXPECT_GT(of.blocks, 0);
        EXPECT_GT(of.threads_per_block, 0);
        EXPECT_GT(of.registers, 0);
        EXPECT_GT(of.blocks_per_sm, 0);
        EXPECT_GT(of.occupancy, 0);
        EXPECT_LE(of.occupancy, 1);
      }
    }
    EXPECT_EQ(reported, meter_->count_launches(kernel).kernels) << operation << "/" << name;
  }
}

TEST_F(CudaMeterTest, NamesKernelsReadablyAndFindsNoneInACopy) {
  const auto of = [&](const kernels::PreparedKernel& kernel) {
    return meter_->kernels(kernel.stages.at(0));
  };
  EXPECT_THAT(of(prepared("geglu", "fused")),
              testing::ElementsAre(testing::Field(&kernels::KernelResources::name,
                                                  testing::HasSubstr("fusegate::"))));
  EXPECT_THAT(of(prepared("control_copy", "memcpy")), testing::IsEmpty());
}

TEST_F(CudaMeterTest, TakesTheHostsTimeOfACallBothWays) {
  const kernels::PreparedKernel kernel = prepared("geglu_mlp", "unfused");
  for (const double ns : {meter_->host_ns(kernel), meter_->host_graph_ns(kernel)}) {
    EXPECT_GT(ns, 100) << "the host was called";
    EXPECT_LT(ns, 1e6) << "and did not wait for the device";
  }
}

// The other never comes.
struct OneOfTwo : kernels::Ranks {
  int count() const override { return 2; }
  std::span<std::uint32_t> shared_numbers() override { return numbers; }
  alignas(4096) std::array<std::uint32_t, 2 * kNumbersApart> numbers{};
};

// Else it would wait for the other rank, which may have recorded a batch before.
TEST_F(CudaMeterTest, RecordsABatchOfSeveralRanksWithoutTheOthers) {
  device_->join(std::make_shared<OneOfTwo>());
  const std::unique_ptr<Meter> meter = make_meter(*device_);
  const kernels::PreparedKernel kernel = prepared("geglu", "fused");
  EXPECT_NE(meter->record(kernel, {.calls = 2}), nullptr);
}

// geglu/fused with something else in its launch.
class NotCapturable : public CudaMeterTest {
 protected:
  // more: runs before the kernel, or instead of it where it calls launch itself.
  kernels::PreparedKernel with(std::function<void(const std::function<void()>& launch)> more) {
    kernels::PreparedKernel kernel = prepared("geglu", "fused");
    std::function<void()>& launch = kernel.stages.front().launch;
    launch = [more = std::move(more), of_before = launch] { more(of_before); };
    return kernel;
  }
  std::string why(const kernels::PreparedKernel& kernel) {
    std::uint64_t seed = 99;
    return meter_->not_capturable(kernel, workspace_->outputs(),
                                  [&] { workspace_->restore(seed++); });
  }
  // geglu/fused that leaves its result in memory of its own, from which it is collected.
  kernels::PreparedKernel collecting() {
    const kernels::Implementation& fused = implementation("geglu", "fused");
    const auto problem = kernels::ladder_problem(1, 128, 768, 3072, kernels::Dtype::kBf16);
    workspace_ = prepare(fused, problem).workspace;
    const kernels::Tensor out = workspace_->outputs()[0];
    std::vector<kernels::Memory> memory;
    const kernels::Tensor own = kernels::allocate_tensor(*device_, out.shape, out.dtype, memory);
    kernels::PreparedKernel kernel = fused.prepare(*device_, problem, workspace_->inputs(), own);
    kernel.scratch.push_back(std::move(memory.front()));
    kernel.collect = [=, this] {
      FUSEGATE_CUDA(
          cudaMemcpyAsync(out.data, own.data, own.bytes(), cudaMemcpyDeviceToDevice, stream()));
    };
    return kernel;
  }
  // Timed all the same, and as long as the kernel alone at least.
  void expect_is_timed(const kernels::PreparedKernel& kernel) {
    const BatchOptions options{.calls = 20, .captured = false};
    const auto batch = meter_->record(kernel, options);
    batch->run();
    const double ns = batch->run().batch_ns / options.calls;
    const auto alone = meter_->record(prepared("geglu", "fused"), {.calls = 20});
    alone->run();
    EXPECT_GT(ns, 0.9 * alone->run().batch_ns / options.calls);
    EXPECT_LT(ns, 5e6);
    EXPECT_NO_THROW(device_->synchronize());
  }
  cudaStream_t stream() { return kernels::cuda_stream(*device_); }
};

TEST_F(NotCapturable, IsNothingThatOnlyEnqueues) {
  EXPECT_EQ(why(with([](const auto& launch) { launch(); })), "");
}

TEST_F(NotCapturable, IsWhatWaits) {
  for (const bool is_checked : {true, false}) {
    const auto kernel = with([=, this](const auto& launch) {
      launch();
      const cudaError_t status = cudaStreamSynchronize(stream());
      if (is_checked) FUSEGATE_CUDA(status);
    });
    EXPECT_THAT(why(kernel), testing::StartsWith("it waits for the device (")) << is_checked;
    expect_is_timed(kernel);
  }
}

TEST_F(NotCapturable, IsWhatAllocates) {
  const auto kernel = with([](const auto& launch) {
    void* memory = nullptr;
    FUSEGATE_CUDA(cudaMalloc(&memory, 1 << 20));
    launch();
    FUSEGATE_CUDA(cudaFree(memory));
  });
  EXPECT_THAT(why(kernel), testing::StartsWith("it allocates or frees memory ("));
  expect_is_timed(kernel);
}

TEST_F(NotCapturable, IsWhatRunsOnAnotherStream) {
  cudaStream_t other = nullptr;
  FUSEGATE_CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  prepared("geglu", "fused");
  const kernels::Tensor out = workspace_->outputs()[0], in = workspace_->inputs()[0];
  const auto copy = [=] {
    FUSEGATE_CUDA(cudaMemcpyAsync(out.data, in.data, in.bytes(), cudaMemcpyDeviceToDevice, other));
  };
  kernels::PreparedKernel kernel;
  // Nobody joins it to the device's stream.
  kernel.stages.push_back({"copy", 0, 0, copy, ""});
  EXPECT_EQ(why(kernel), "it uses another stream");
  const BatchOptions anew{.calls = 20, .captured = false};
  EXPECT_GT(meter_->record(kernel, anew)->run().batch_ns / anew.calls, 500);
  cudaEvent_t event = nullptr;
  FUSEGATE_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  kernels::PreparedKernel forked;
  // Begun after the device's stream, and not joined to it again.
  forked.stages.push_back({"copy", 0, 0,
                           [=, this] {
                             FUSEGATE_CUDA(cudaEventRecord(event, stream()));
                             FUSEGATE_CUDA(cudaStreamWaitEvent(other, event));
                             copy();
                           },
                           ""});
  EXPECT_THAT(why(forked), testing::StartsWith("it uses another stream ("));
  device_->synchronize();
  cudaStreamDestroy(other);
  cudaEventDestroy(event);
}

TEST_F(NotCapturable, IsNothingWhoseResultsAreCollected) { EXPECT_EQ(why(collecting()), ""); }

// Outputs change by collecting alone: whether the graph changes what is collected counts.
TEST_F(NotCapturable, IsWhatCollectsTheResultsOfAnotherStream) {
  cudaStream_t other = nullptr;
  FUSEGATE_CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  kernels::PreparedKernel kernel = collecting();
  const kernels::Tensor in = workspace_->inputs()[0];
  const kernels::Memory own = std::move(kernel.scratch.back());  // of which nothing is known
  kernel.scratch.pop_back();
  kernel.stages[0].launch = [&] {
    FUSEGATE_CUDA(
        cudaMemcpyAsync(own.data(), in.data, own.bytes(), cudaMemcpyDeviceToDevice, other));
  };
  EXPECT_EQ(why(kernel), "it uses another stream");
  cudaStreamDestroy(other);
}

TEST_F(CudaMeterTest, FindsAnArgumentOfAnEarlierLayout) {
  if (!device_->lay_out(0)) GTEST_SKIP() << "no memory for numbered layouts";
  const auto stale_in = [this](const kernels::PreparedKernel& kernel) {
    return meter_->stale_argument(kernel, workspace_->tensors());
  };
  EXPECT_FALSE(stale_in(prepared("geglu", "fused")));
  const kernels::Tensor earlier = workspace_->inputs()[0];
  workspace_.reset();
  ASSERT_TRUE(device_->lay_out(1));
  kernels::PreparedKernel kernel = prepared("geglu", "fused");
  EXPECT_FALSE(stale_in(kernel));
  const kernels::Tensor out = workspace_->outputs()[0];
  kernel.stages.push_back({"copy", 0, 0, [=, this] {
                             FUSEGATE_CUDA(cudaMemcpyAsync(out.data, earlier.data, out.bytes(),
                                                           cudaMemcpyDeviceToDevice,
                                                           kernels::cuda_stream(*device_)));
                           }});
  const auto stale = stale_in(kernel);
  ASSERT_TRUE(stale.has_value());
  EXPECT_EQ(stale->kernel, "memcpy");
  const auto address = reinterpret_cast<std::uint64_t>(earlier.data);
  EXPECT_LE(stale->memory.begin, address);
  EXPECT_GE(stale->memory.begin + stale->memory.bytes, address + earlier.bytes());
}

}  // namespace
}  // namespace fusegate::bench
