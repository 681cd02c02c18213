// Kernels made to be launched early are: each edge of a captured graph has a type for it.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kernels/cuda/device/cuda_graph.h"
#include "kernels/cuda/gemm/sm90/products.h"
#include "kernels/cuda/implementations/implementation_test_fixture.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::kernels {
namespace {

class EarlyLaunch : public ImplementationTest {
 protected:
  void SetUp() override {
    ImplementationTest::SetUp();
    if (IsSkipped()) return;
    if (device_->properties().major < 9) GTEST_SKIP() << "the GPU cannot launch early";
  }

  // Of two calls in a row, the edges between kernels.
  std::vector<GraphEdge> edges_of(const std::string& operation, const std::string& name,
                                  const Problem& problem) {
    const PreparedKernel kernel = prepared(operation, name, problem);
    kernel.launch();
    const Graph graph(device_->stream(), [&] {
      kernel.launch();
      kernel.launch();
    });
    return graph.edges();
  }
};

// Not in programs for less than 9.0 (preset ptx80), whose code has no wait for the kernel ahead.
TEST_F(EarlyLaunch, IsHowOwnKernelsFollowEachOther) {
  const bool waits = refuses_sm90(*device_).empty();
  const Problem few = ladder_problem(1, 1, 768, 3072, Dtype::kBf16),
                more = ladder_problem(1, 128, 768, 3072, Dtype::kBf16);
  for (const auto& [operation, name, problem, kernels] :
       {std::tuple("geglu", "fused", few, 1),
        {"geglu_mlp", "fused_few_rows", few, 2},
        {"geglu_mlp", "fused_epilogue", more, 2}}) {
    SCOPED_TRACE(name);
    if (!waits && std::string_view(name) == "fused_epilogue") continue;  // or it is of four
    const std::vector<GraphEdge> found = edges_of(operation, name, problem);
    EXPECT_EQ(found.size(), 2 * kernels - 1);
    for (const GraphEdge& edge : found) {
      EXPECT_EQ(edge.data.type,
                waits ? cudaGraphDependencyTypeProgrammatic : cudaGraphDependencyTypeDefault);
    }
  }
}

}  // namespace
}  // namespace fusegate::kernels
