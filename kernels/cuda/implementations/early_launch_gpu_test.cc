// That kernels which are made to be launched early are: a captured graph says of each edge between
// two kernels whether the second waits for the first to end.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/contract/kernel.h"
#include "kernels/cuda/device/cuda_graph.h"
#include "kernels/cuda/device/gpu_test_fixture.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::kernels {
namespace {

std::vector<cudaGraphEdgeData> edges(cudaGraph_t graph) {
#if CUDART_VERSION >= 13000
  const auto get = [&](auto... args) { FUSEGATE_CUDA(cudaGraphGetEdges(graph, args...)); };
#else
  const auto get = [&](auto... args) { FUSEGATE_CUDA(cudaGraphGetEdges_v2(graph, args...)); };
#endif
  std::size_t count = 0;
  get(nullptr, nullptr, nullptr, &count);
  std::vector<cudaGraphNode_t> from(count), to(count);
  std::vector<cudaGraphEdgeData> data(count);
  get(from.data(), to.data(), data.data(), &count);
  return data;
}

class EarlyLaunch : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    if (device_->properties().major < 9) GTEST_SKIP() << "the GPU cannot launch early";
  }

  // Of two calls in a row, the edges between kernels.
  std::vector<cudaGraphEdgeData> edges_of(const std::string& operation, const std::string& name,
                                          const Problem& problem) {
    const auto& all = implementations();
    const auto found = std::ranges::find_if(all, [&](const Implementation& i) {
      return i.operation == operation && i.name == name && i.device == "cuda";
    });
    if (found == all.end()) throw std::invalid_argument("no implementation " + name);
    std::vector<Tensor> in;
    const auto filled = [&](const TensorSpec& spec) {
      const Tensor tensor = allocate_tensor(*device_, spec.shape, *spec.dtype, memory_);
      device_->fill(tensor, Fill::uniform(1), in.size());
      return tensor;
    };
    for (const TensorSpec& spec : input_specs(find_operation(operation), problem)) {
      in.push_back(filled(spec));
    }
    // Filled, since a contest of launches copies it, which compute-sanitizer's initcheck reports.
    const Tensor out = filled(output_specs(find_operation(operation), problem).front());
    const PreparedKernel kernel = found->prepare(*device_, problem, in, out);
    kernel.launch();
    const Graph graph(device_->stream(), [&] {
      kernel.launch();
      kernel.launch();
    });
    return edges(graph.get());
  }
};

TEST_F(EarlyLaunch, IsHowOwnKernelsFollowEachOther) {
  const Problem few = ladder_problem(1, 1, 768, 3072, Dtype::kBf16),
                more = ladder_problem(1, 128, 768, 3072, Dtype::kBf16);
  for (const auto& [operation, name, problem, kernels] :
       {std::tuple("geglu", "fused", few, 1),
        {"geglu_mlp", "fused_few_rows", few, 2},
        {"geglu_mlp", "fused_epilogue", more, 2}}) {
    SCOPED_TRACE(name);
    const std::vector<cudaGraphEdgeData> found = edges_of(operation, name, problem);
    EXPECT_EQ(found.size(), 2 * kernels - 1);
    for (const cudaGraphEdgeData& edge : found) {
      EXPECT_EQ(edge.type, cudaGraphDependencyTypeProgrammatic);
    }
  }
}

}  // namespace
}  // namespace fusegate::kernels
