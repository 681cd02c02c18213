// A graph with copies of a call is the graph of as many calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "bench/meters/meter_test_fixture.h"
#include "bench/meters/repeated_calls.h"
#include "bench/profiling/graph_driver.h"
#include "kernels/cuda/device/cuda.h"
#include "kernels/cuda/device/cuda_graph.h"

namespace fusegate::bench {
namespace {

constexpr int kCalls = 5;

class RepeatedCallsTest : public MeterTest {
 protected:
  cudaStream_t stream() const { return kernels::cuda_stream(*device_); }
};

// Of a kernel its function, its launch and whether it may be launched early; of others the type.
// Not its arguments, whose padding differs from launch to launch.
std::vector<std::uint64_t> node_of(cudaGraphNode_t node) {
  const cudaGraphNodeType type = kernels::graph_node_type(node);
  if (type != cudaGraphNodeTypeKernel) return {type};
  CUDA_KERNEL_NODE_PARAMS params{};
  EXPECT_EQ(driver().node_params(node, &params), CUDA_SUCCESS);
  CUlaunchAttributeValue early{}, cluster{};
  driver().node_attribute(node, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, &early);
  driver().node_attribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &cluster);
  return {reinterpret_cast<std::uint64_t>(driver().function_of(params)),
          params.gridDimX,
          params.gridDimY,
          params.gridDimZ,
          params.blockDimX,
          params.sharedMemBytes,
          cluster.clusterDim.x,
          static_cast<std::uint64_t>(early.programmaticStreamSerializationAllowed)};
}

struct Described {
  std::vector<std::vector<std::uint64_t>> nodes;
  std::vector<std::array<std::size_t, 5>> edges;  // from, to, ports, type
};

Described described(const kernels::Graph& graph) {
  Described all;
  const std::vector<cudaGraphNode_t> nodes = graph.nodes();
  for (const cudaGraphNode_t node : nodes) all.nodes.push_back(node_of(node));
  const auto number = [&](cudaGraphNode_t node) {
    return static_cast<std::size_t>(std::ranges::find(nodes, node) - nodes.begin());
  };
  for (const auto& [from, to, data] : graph.edges()) {
    all.edges.push_back({number(from), number(to), data.from_port, data.to_port, data.type});
  }
  std::ranges::sort(all.edges);
  return all;
}

// Between two nodes of its own each stretch, as a batch has events.
template <typename Stretch>
Described stretches(cudaStream_t stream, void* between, const Stretch& enqueue,
                    const std::vector<int>& of_calls = {kCalls, 1, 2}) {
  const kernels::Graph graph(stream, [&] {
    for (const int calls : of_calls) {
      FUSEGATE_CUDA(cudaMemsetAsync(between, calls, 16, stream));
      enqueue(calls);
    }
    FUSEGATE_CUDA(cudaMemsetAsync(between, 0, 16, stream));
  });
  return described(graph);
}

// Both ways of every kind of call: one kernel, several, cuBLAS's, kernels launched early, a copy.
TEST_F(RepeatedCallsTest, HaveTheGraphOfAsManyCalls) {
  const kernels::Memory between = device_->allocate(16);
  for (const auto& [operation, name] : {std::pair("geglu", "fused"),
                                        {"geglu_mlp", "unfused"},
                                        {"geglu_mlp", "fused_pointwise"},
                                        {"geglu_mlp", "fused_epilogue"},
                                        {"linear", "addmm"},
                                        {"control_copy", "memcpy"}}) {
    SCOPED_TRACE(operation + ("/" + std::string(name)));
    const Prepared prepared = prepare(operation, name);
    prepared.kernel.launch();
    int made = 0;
    RepeatedCalls repeated(stream(), [&] {
      ++made;
      prepared.kernel.launch();
    });
    const Described copied =
        stretches(stream(), between.data(), [&](int calls) { repeated.enqueue_stretch(calls); });
    const Described direct = stretches(stream(), between.data(), [&](int calls) {
      for (int call = 0; call < calls; ++call) prepared.kernel.launch();
    });
    EXPECT_EQ(made, 2);
    EXPECT_EQ(copied.nodes, direct.nodes);
    EXPECT_EQ(copied.edges, direct.edges);
  }
}

TEST_F(RepeatedCallsTest, ComputeWhatTheCallComputes) {
  const Prepared prepared = prepare("geglu_mlp", "fused_pointwise");
  prepared.kernel.launch();
  const kernels::Tensor out = prepared.workspace->outputs()[0];
  const std::uint64_t expected = device_->digest(out);
  device_->poison(out);
  RepeatedCalls repeated(stream(), [&] { prepared.kernel.launch(); });
  const kernels::ExecutableGraph batch(
      kernels::Graph(stream(), [&] { repeated.enqueue_stretch(kCalls); }), stream());
  batch.launch();
  EXPECT_EQ(device_->digest(out), expected);
}

// As where a call has a second stream that it joins again.
TEST_F(RepeatedCallsTest, HaveTheBranchesOfACall) {
  const kernels::Memory memory = device_->allocate(64), between = device_->allocate(16);
  auto* const bytes = static_cast<std::byte*>(memory.data());
  cudaStream_t other = nullptr;
  FUSEGATE_CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  cudaEvent_t event = nullptr;
  FUSEGATE_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  const auto call = [&] {
    FUSEGATE_CUDA(cudaEventRecord(event, stream()));
    FUSEGATE_CUDA(cudaStreamWaitEvent(other, event));
    FUSEGATE_CUDA(cudaMemsetAsync(bytes, 1, 16, stream()));
    FUSEGATE_CUDA(cudaMemsetAsync(bytes + 16, 2, 16, other));
    FUSEGATE_CUDA(cudaEventRecord(event, other));
    FUSEGATE_CUDA(cudaStreamWaitEvent(stream(), event));
  };
  RepeatedCalls repeated(stream(), call);
  const auto copies = [&](int calls) { repeated.enqueue_stretch(calls); };
  // Of one stretch: behind other work, CUDA has the second stream wait for its own last work too.
  const Described copied = stretches(stream(), between.data(), copies, {kCalls});
  const Described direct = stretches(stream(), between.data(),
                                     [&](int calls) {
                                       for (int i = 0; i < calls; ++i) call();
                                     },
                                     {kCalls});
  EXPECT_EQ(copied.nodes, direct.nodes);
  EXPECT_EQ(copied.edges, direct.edges);
  cudaStreamDestroy(other);
  cudaEventDestroy(event);
}

// What NCCL adds where graphs and other calls take turns: its kernel waits for an event that waits
// for nothing, and another one is recorded behind it.
class EventsBesideCalls : public RepeatedCallsTest {
 protected:
  void SetUp() override {
    RepeatedCallsTest::SetUp();
    if (IsSkipped()) return;
    FUSEGATE_CUDA(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
    memory_ = device_->allocate(16);
  }
  void TearDown() override { cudaEventDestroy(event_); }

  // forgets: what lies before it.
  void call(bool forgets) {
    const auto how = forgets ? cudaStreamSetCaptureDependencies : cudaStreamAddCaptureDependencies;
    cudaStreamCaptureStatus status{};
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t wait = nullptr, record = nullptr;
#if CUDART_VERSION >= 13000
    FUSEGATE_CUDA(cudaStreamGetCaptureInfo(stream(), &status, nullptr, &graph));
    FUSEGATE_CUDA(cudaGraphAddEventWaitNode(&wait, graph, nullptr, 0, event_));
    FUSEGATE_CUDA(cudaStreamUpdateCaptureDependencies(stream(), &wait, nullptr, 1, how));
#else
    FUSEGATE_CUDA(cudaStreamGetCaptureInfo_v3(stream(), &status, nullptr, &graph));
    FUSEGATE_CUDA(cudaGraphAddEventWaitNode(&wait, graph, nullptr, 0, event_));
    FUSEGATE_CUDA(cudaStreamUpdateCaptureDependencies_v2(stream(), &wait, nullptr, 1, how));
#endif
    FUSEGATE_CUDA(cudaMemsetAsync(memory_.data(), 1, 16, stream()));
    const cudaGraphNode_t work = kernels::graph_nodes(graph).back();
    FUSEGATE_CUDA(cudaGraphAddEventRecordNode(&record, graph, &work, 1, event_));
  }
  // Nodes of a graph of so many calls behind other work.
  std::size_t nodes_of_calls(bool forgets) {
    RepeatedCalls repeated(stream(), [=, this] { call(forgets); });
    const kernels::Graph graph(stream(), [&] {
      FUSEGATE_CUDA(cudaMemsetAsync(memory_.data(), 0, 16, stream()));
      repeated.enqueue_stretch(kCalls);
    });
    return graph.nodes().size();
  }

  cudaEvent_t event_ = nullptr;
  kernels::Memory memory_;
};

TEST_F(EventsBesideCalls, AreNoWork) { EXPECT_EQ(nodes_of_calls(false), 1U + 3U * kCalls); }

TEST_F(EventsBesideCalls, LetNoCallBeginBeforeWhatLiesBeforeIt) {
  EXPECT_THROW(nodes_of_calls(true), std::runtime_error);
}

// A function on the host is no node that is copied; nor is a word that the stream writes, of whose
// kind the runtime knows nothing.
TEST_F(RepeatedCallsTest, MakesEveryCallThatCannotBeCopied) {
  const kernels::Memory word = device_->allocate(16);
  const std::function<void()> calls[] = {[this] {
                                           FUSEGATE_CUDA(cudaLaunchHostFunc(
                                               stream(), [](void*) {}, nullptr));
                                         },
                                         [&] { write_word(stream(), word.data()); }};
  for (const std::function<void()>& call : calls) {
    int made = 0;
    RepeatedCalls repeated(stream(), [&] {
      ++made;
      call();
    });
    const kernels::Graph graph(stream(), [&] { repeated.enqueue_stretch(kCalls); });
    EXPECT_EQ(made, kCalls);
    EXPECT_EQ(graph.nodes().size(), static_cast<std::size_t>(kCalls));
    const kernels::ExecutableGraph batch(graph, stream());
    batch.launch();
    device_->synchronize();
  }
}

}  // namespace
}  // namespace fusegate::bench
