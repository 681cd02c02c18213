// For tests on a GPU: the device, its meter and kernels.
#pragma once

#include <cuda.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "bench/meters/make_meter.h"
#include "kernels/contract/workspace.h"
#include "kernels/cuda/device/cuda.h"
#include "kernels/cuda/device/driver_function.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::bench {

// Where the stream captures, a node of a kind that the runtime does not know.
inline void write_word(cudaStream_t stream, void* word) {
  const auto write =
      kernels::driver_function<decltype(cuStreamWriteValue32)>("cuStreamWriteValue32", 12000);
  const auto address = reinterpret_cast<std::uintptr_t>(word);
  FUSEGATE_CUDA(static_cast<cudaError_t>(write(stream, address, 1, 0)));
}

// Skips where there is no GPU. A SetUp that builds on this one asks IsSkipped() before it goes on.
class MeterTest : public testing::Test {
 protected:
  void SetUp() override {
    try {
      device_ = kernels::open_device("cuda");
    } catch (const kernels::DeviceError& error) {
      GTEST_SKIP() << error.what();
    }
    meter_ = make_meter(*device_);
  }

  static const kernels::Implementation& implementation(std::string_view operation,
                                                       std::string_view name) {
    return kernels::find_implementation(operation, name, "cuda");
  }

  // A call made ready, with the memory that it works in.
  struct Prepared {
    std::unique_ptr<kernels::Workspace> workspace;
    kernels::PreparedKernel kernel;
  };
  Prepared prepare(const kernels::Implementation& implementation, const kernels::Problem& problem) {
    auto workspace = std::make_unique<kernels::Workspace>(
        *device_, kernels::find_operation(implementation.operation), problem, 1);
    auto kernel =
        implementation.prepare(*device_, problem, workspace->inputs(), workspace->outputs());
    return {std::move(workspace), std::move(kernel)};
  }
  Prepared prepare(std::string_view operation, std::string_view name) {
    return prepare(implementation(operation, name),
                   kernels::ladder_problem(1, 128, 768, 3072, kernels::Dtype::kBf16));
  }

  std::unique_ptr<kernels::Device> device_;
  std::unique_ptr<Meter> meter_;
};

}  // namespace fusegate::bench
