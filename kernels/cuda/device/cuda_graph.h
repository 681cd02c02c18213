// Work captured from a stream into a CUDA graph, to inspect or replay it. Errors of CUDA are thrown
// as DeviceError.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <vector>

#include "kernels/cuda/device/cuda.h"
#include "kernels/cuda/device/driver_function.h"

namespace fusegate::kernels {

// to waits for from; data says for its end, or for less (programmatic dependent launch).
struct GraphEdge {
  cudaGraphNode_t from;
  cudaGraphNode_t to;
  cudaGraphEdgeData data;
};

inline std::vector<cudaGraphNode_t> graph_nodes(cudaGraph_t graph) {
  std::size_t size = 0;
  FUSEGATE_CUDA(cudaGraphGetNodes(graph, nullptr, &size));
  std::vector<cudaGraphNode_t> nodes(size);
  if (size > 0) FUSEGATE_CUDA(cudaGraphGetNodes(graph, nodes.data(), &size));
  return nodes;
}

// By the driver, which also knows kinds that the runtime has no name for: words that a stream
// writes or waits for (cuStreamWriteValue32(), as cuBLASMp's all-gather does) are its number 12.
// The runtime's own function fails there.
inline cudaGraphNodeType graph_node_type(cudaGraphNode_t node) {
  static auto* const get_type =
      driver_function<decltype(cuGraphNodeGetType)>("cuGraphNodeGetType", 10000);
  CUgraphNodeType type{};
  FUSEGATE_CUDA(static_cast<cudaError_t>(get_type(node, &type)));
  return static_cast<cudaGraphNodeType>(type);
}

inline std::vector<GraphEdge> graph_edges(cudaGraph_t graph) {
  // CUDA 13 gave the name to what 12 calls _v2.
#if CUDART_VERSION >= 13000
  const auto get = [graph](auto... into) { FUSEGATE_CUDA(cudaGraphGetEdges(graph, into...)); };
#else
  const auto get = [graph](auto... into) { FUSEGATE_CUDA(cudaGraphGetEdges_v2(graph, into...)); };
#endif
  std::size_t size = 0;
  get(nullptr, nullptr, nullptr, &size);
  std::vector<cudaGraphNode_t> from(size), to(size);
  std::vector<cudaGraphEdgeData> data(size);
  if (size > 0) get(from.data(), to.data(), data.data(), &size);
  std::vector<GraphEdge> edges;
  for (std::size_t i = 0; i < size; ++i) edges.push_back({from[i], to[i], data[i]});
  return edges;
}

class Graph {
 public:
  // Captures what enqueue puts on the stream, without running it.
  template <typename Enqueue>
  Graph(cudaStream_t stream, Enqueue&& enqueue,
        cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal) {
    FUSEGATE_CUDA(cudaStreamBeginCapture(stream, mode));
    try {
      enqueue();
    } catch (...) {
      cudaStreamEndCapture(stream, &graph_);  // else the stream stays in capture
      if (graph_ != nullptr) cudaGraphDestroy(graph_);
      throw;
    }
    FUSEGATE_CUDA(cudaStreamEndCapture(stream, &graph_));
  }
  ~Graph() { cudaGraphDestroy(graph_); }
  // A copy would free it twice.
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  cudaGraph_t get() const { return graph_; }

  std::vector<cudaGraphNode_t> nodes() const { return graph_nodes(graph_); }
  std::vector<GraphEdge> edges() const { return graph_edges(graph_); }

 private:
  cudaGraph_t graph_ = nullptr;
};

class ExecutableGraph {
 public:
  // Uploads the graph, since the first launch would take longer otherwise.
  ExecutableGraph(const Graph& graph, cudaStream_t stream) : stream_(stream) {
    FUSEGATE_CUDA(cudaGraphInstantiate(&executable_, graph.get(), 0));
    FUSEGATE_CUDA(cudaGraphUpload(executable_, stream));
  }
  ~ExecutableGraph() { cudaGraphExecDestroy(executable_); }
  // A copy would free it twice.
  ExecutableGraph(const ExecutableGraph&) = delete;
  ExecutableGraph& operator=(const ExecutableGraph&) = delete;

  void launch() const { FUSEGATE_CUDA(cudaGraphLaunch(executable_, stream_)); }

 private:
  cudaStream_t stream_;
  cudaGraphExec_t executable_ = nullptr;
};

// An event that graphs record whenever they run.
class GraphEvent {
 public:
  GraphEvent() { FUSEGATE_CUDA(cudaEventCreate(&event_)); }
  ~GraphEvent() { cudaEventDestroy(event_); }
  // The graph that records it holds its handle.
  GraphEvent(const GraphEvent&) = delete;
  GraphEvent& operator=(const GraphEvent&) = delete;

  // Inside a capture.
  void record(cudaStream_t stream) const {
    FUSEGATE_CUDA(cudaEventRecordWithFlags(event_, stream, cudaEventRecordExternal));
  }
  // Outside of one.
  void record_now(cudaStream_t stream) const { FUSEGATE_CUDA(cudaEventRecord(event_, stream)); }
  // Both must have been recorded.
  double ms_since(const GraphEvent& start) const {
    float ms = 0;
    FUSEGATE_CUDA(cudaEventElapsedTime(&ms, start.event_, event_));
    return ms;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace fusegate::kernels
