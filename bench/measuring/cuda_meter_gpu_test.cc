// What the GPU's meter tells of kernels besides their times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/measuring/meter_test_fixture.h"
#include "kernels/contract/workspace.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::bench {
namespace {

class CudaMeterTest : public MeterTest {
 protected:
  kernels::PreparedKernel prepared(const std::string& operation, const std::string& name) {
    const kernels::Problem problem =
        kernels::ladder_problem(1, 128, 768, 3072, kernels::Dtype::kBf16);
    workspace_.emplace(*device_, kernels::find_operation(operation), problem, 1);
    kernels::PreparedKernel kernel =
        implementation(operation, name)
            .prepare(*device_, problem, workspace_->inputs(), workspace_->outputs());
    kernel.launch();
    device_->synchronize();
    return kernel;
  }

  std::optional<kernels::Workspace> workspace_;
};

TEST_F(CudaMeterTest, TellsTheResourcesOfEveryKernelThatIsLaunched) {
  for (const auto& [operation, name] :
       {std::pair("geglu", "fused"), std::pair("geglu_mlp", "fused_pointwise"),
        std::pair("geglu_mlp", "packed_pointwise"), std::pair("linear", "matmul_add"),
        std::pair("control_gemm", "cublas")}) {
    const kernels::PreparedKernel kernel = prepared(operation, name);
    std::int64_t told = 0;
    for (const kernels::Stage& stage : kernel.stages) {
      for (const kernels::KernelResources& of : meter_->kernels(stage)) {
        SCOPED_TRACE(operation + ("/" + stage.name) + ": " + of.name);
        ++told;
        EXPECT_GT(of.blocks, 0);
        EXPECT_GT(of.threads_per_block, 0);
        EXPECT_GT(of.registers, 0);
        EXPECT_GT(of.blocks_per_sm, 0);
        EXPECT_GT(of.occupancy, 0);
        EXPECT_LE(of.occupancy, 1);
      }
    }
    EXPECT_EQ(told, meter_->count_launches(kernel).kernels) << operation << "/" << name;
  }
}

TEST_F(CudaMeterTest, NamesKernelsReadably) {
  const kernels::PreparedKernel kernel = prepared("geglu", "fused");
  const std::vector<kernels::KernelResources> told = meter_->kernels(kernel.stages.at(0));
  ASSERT_EQ(told.size(), 1u);
  EXPECT_THAT(told[0].name, testing::HasSubstr("fusegate::"));
}

TEST_F(CudaMeterTest, FindsNoKernelInACopy) {
  const kernels::PreparedKernel kernel = prepared("control_copy", "memcpy");
  EXPECT_TRUE(meter_->kernels(kernel.stages.at(0)).empty());
}

TEST_F(CudaMeterTest, TakesTheHostsTimeOfACallBothWays) {
  const kernels::PreparedKernel kernel = prepared("geglu_mlp", "unfused");
  for (const double ns : {meter_->host_ns(kernel), meter_->host_graph_ns(kernel)}) {
    EXPECT_GT(ns, 100) << "the host was called";
    EXPECT_LT(ns, 1e6) << "and did not wait for the device";
  }
}

}  // namespace
}  // namespace fusegate::bench
