#include "bench/meters/repeated_calls.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <stdexcept>

#include "bench/meters/call_order.h"
#include "bench/profiling/graph_driver.h"
#include "kernels/cuda/device/cuda.h"
#include "kernels/cuda/device/cuda_graph.h"

namespace fusegate::bench {
namespace {

// What a stream captures into, and what its next work waits for.
struct Capture {
  cudaGraph_t graph = nullptr;
  std::vector<cudaGraphNode_t> last{};
  std::vector<cudaGraphEdgeData> edges{};  // one for each; zeros where it waits for the end
};

Capture capture_of(cudaStream_t stream) {
  cudaStreamCaptureStatus status{};
  const cudaGraphNode_t* nodes = nullptr;
  const cudaGraphEdgeData* edges = nullptr;
  std::size_t count = 0;
  Capture capture;
#if CUDART_VERSION >= 13000
  FUSEGATE_CUDA(
      cudaStreamGetCaptureInfo(stream, &status, nullptr, &capture.graph, &nodes, &edges, &count));
#else
  FUSEGATE_CUDA(cudaStreamGetCaptureInfo_v3(stream, &status, nullptr, &capture.graph, &nodes,
                                            &edges, &count));
#endif
  capture.last.assign(nodes, nodes + count);
  capture.edges.resize(count);
  if (edges != nullptr) std::copy_n(edges, count, capture.edges.begin());
  return capture;
}

// Of several added at once, CUDA 13.0 gives all the data of the first.
void add_edge(cudaGraph_t graph, const kernels::GraphEdge& edge) {
#if CUDART_VERSION >= 13000
  FUSEGATE_CUDA(cudaGraphAddDependencies(graph, &edge.from, &edge.to, &edge.data, 1));
#else
  FUSEGATE_CUDA(cudaGraphAddDependencies_v2(graph, &edge.from, &edge.to, &edge.data, 1));
#endif
}

bool is_copyable(cudaGraphNodeType type) {
  return type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemset ||
         type == cudaGraphNodeTypeMemcpy || type == cudaGraphNodeTypeEmpty;
}

cudaGraphNode_t copy_of_kernel(cudaGraph_t graph, cudaGraphNode_t original) {
  CUDA_KERNEL_NODE_PARAMS params{};
  FUSEGATE_CUDA(static_cast<cudaError_t>(driver().node_params(original, &params)));
  if (params.func != nullptr) params.kern = nullptr;  // one of the two
  cudaGraphNode_t node = nullptr;
  FUSEGATE_CUDA(static_cast<cudaError_t>(driver().add_kernel(&node, graph, nullptr, 0, &params)));
  FUSEGATE_CUDA(cudaGraphKernelNodeCopyAttributes(node, original));
  return node;
}

// Without its edges.
cudaGraphNode_t copy_of(cudaGraph_t graph, cudaGraphNode_t original, cudaGraphNodeType type) {
  cudaGraphNode_t node = nullptr;
  if (type == cudaGraphNodeTypeKernel) return copy_of_kernel(graph, original);
  if (type == cudaGraphNodeTypeMemset) {
    cudaMemsetParams params{};
    FUSEGATE_CUDA(cudaGraphMemsetNodeGetParams(original, &params));
    FUSEGATE_CUDA(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &params));
  } else if (type == cudaGraphNodeTypeMemcpy) {
    cudaMemcpy3DParms params{};
    FUSEGATE_CUDA(cudaGraphMemcpyNodeGetParams(original, &params));
    FUSEGATE_CUDA(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &params));
  } else {
    FUSEGATE_CUDA(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
  }
  return node;
}

// The node's position; nothing where it is not one of them.
std::optional<std::size_t> position(std::span<const cudaGraphNode_t> nodes, cudaGraphNode_t node) {
  const auto found = std::ranges::find(nodes, node);
  if (found == nodes.end()) return std::nullopt;
  return static_cast<std::size_t>(found - nodes.begin());
}

// own: the call's nodes.
CallOrder order_of(const std::vector<cudaGraphNode_t>& own, const Capture& capture) {
  CallOrder order;
  for (const cudaGraphNode_t node : own) {
    const cudaGraphNodeType type = kernels::graph_node_type(node);
    order.is_work.push_back(type != cudaGraphNodeTypeEventRecord &&
                            type != cudaGraphNodeTypeWaitEvent);
  }
  for (const kernels::GraphEdge& edge : kernels::graph_edges(capture.graph)) {
    const auto from = position(own, edge.from), to = position(own, edge.to);
    if (from && to) order.inside.emplace_back(*from, *to);
    if (!from && to) order.first.push_back(*to);
  }
  for (const cudaGraphNode_t node : capture.last) {
    if (const auto last = position(own, node)) order.last.push_back(*last);
  }
  return order;
}

// A call can set what the stream's next work waits for, so that an event does not wait for it, or
// that it does not wait for an event. own: its nodes.
void require_order(const std::vector<cudaGraphNode_t>& own, const Capture& capture,
                   bool has_work_before) {
  const CallOrder order = order_of(own, capture);
  if (!ends_before_others(order)) {
    throw std::runtime_error(
        "what follows a call does not wait for all of its work: it changes "
        "what the captured stream waits for");
  }
  if (has_work_before && !begins_after_others(order)) {
    throw std::runtime_error(
        "its work does not wait for what lies before it: it changes what "
        "the captured stream waits for");
  }
}

}  // namespace

void RepeatedCalls::enqueue_stretch(int calls) {
  Capture capture = capture_of(stream_);
  Nodes before = capture.last;
  const Pattern* copied = nullptr;  // the last call's, where the stream does not know of it yet
  for (int call = 0; call < calls; ++call) {
    std::optional<Pattern>& pattern = call == 0 ? first_ : next_;
    if (!pattern && copied != nullptr) wait_for(before, *copied);
    copied = pattern ? &*pattern : nullptr;
    before = pattern ? copy(capture.graph, before, *pattern) : make(before, pattern);
  }
  if (copied != nullptr) wait_for(before, *copied);
}

// What it captured. Leaves the pattern empty where it cannot be copied.
RepeatedCalls::Nodes RepeatedCalls::make(const Nodes& before, std::optional<Pattern>& pattern) {
  if (!can_copy_) {
    call_();
    return {};
  }
  const Nodes earlier = kernels::graph_nodes(capture_of(stream_).graph);
  call_();
  const Capture capture = capture_of(stream_);
  Nodes own;
  std::ranges::copy_if(kernels::graph_nodes(capture.graph), std::back_inserter(own),
                       [&](cudaGraphNode_t node) { return !position(earlier, node); });
  require_order(own, capture, !before.empty());
  can_copy_ = !own.empty() && driver().node_params != nullptr && driver().add_kernel != nullptr;
  Pattern found;
  for (const cudaGraphNode_t node : own) {
    const cudaGraphNodeType type = kernels::graph_node_type(node);
    can_copy_ = can_copy_ && is_copyable(type);
    found.nodes.push_back({node, type});
  }
  for (const kernels::GraphEdge& edge : kernels::graph_edges(capture.graph)) {
    const auto to = position(own, edge.to);
    if (!to) continue;
    const auto inside = position(own, edge.from), outside = position(before, edge.from);
    if (inside) found.inside.push_back({*inside, *to, edge.data});
    if (outside) found.before.push_back({*outside, *to, edge.data});
    can_copy_ = can_copy_ && (inside || outside);
  }
  for (std::size_t i = 0; i < capture.last.size(); ++i) {
    const auto from = position(own, capture.last[i]);
    can_copy_ = can_copy_ && from;
    if (from) found.after.push_back({*from, 0, capture.edges[i]});
  }
  if (can_copy_) pattern = std::move(found);
  return own;
}

RepeatedCalls::Nodes RepeatedCalls::copy(cudaGraph_t graph, const Nodes& before,
                                         const Pattern& pattern) {
  Nodes own;
  for (const Node& node : pattern.nodes) own.push_back(copy_of(graph, node.original, node.type));
  for (const Edge& edge : pattern.before) {
    add_edge(graph, {before.at(edge.from), own[edge.to], edge.data});
  }
  for (const Edge& edge : pattern.inside) {
    add_edge(graph, {own[edge.from], own[edge.to], edge.data});
  }
  return own;
}

// Has the stream's next work wait for that call.
void RepeatedCalls::wait_for(const Nodes& call, const Pattern& pattern) {
  Nodes last;
  std::vector<cudaGraphEdgeData> data;
  for (const Edge& edge : pattern.after) {
    last.push_back(call[edge.from]);
    data.push_back(edge.data);
  }
#if CUDART_VERSION >= 13000
  FUSEGATE_CUDA(cudaStreamUpdateCaptureDependencies(stream_, last.data(), data.data(), last.size(),
                                                    cudaStreamSetCaptureDependencies));
#else
  FUSEGATE_CUDA(cudaStreamUpdateCaptureDependencies_v2(
      stream_, last.data(), data.data(), last.size(), cudaStreamSetCaptureDependencies));
#endif
}

}  // namespace fusegate::bench
