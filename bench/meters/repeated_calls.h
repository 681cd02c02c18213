// Calls in a CUDA graph of which the host makes few. A batch has hundreds, and a call from Python
// costs the host 20 to 100 us, so what one call captured is copied for those that follow: nodes,
// their arguments and attributes, and the edges between calls, such as those of programmatic
// dependent launches. A child graph would keep a call from beginning before the one before has
// ended (docs/evidence/python.md).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace fusegate::bench {

// Enqueues calls on a stream that captures, in stretches: other work lies before each one's first
// call. The graph that it captured into first must live as long as it. So the calls of a batch are
// the same work, and what a program does when it is called a second time, or in another capture, is
// in none of them.
class RepeatedCalls {
 public:
  // call: enqueues one call on that stream.
  RepeatedCalls(cudaStream_t stream, std::function<void()> call)
      : stream_(stream), call_(std::move(call)) {}

  // Makes the first call of the first stretch, and the first that follows a call; the others are
  // copies of these two, in other captures too. Makes every call where a copy is not possible: it
  // has nodes other than kernels, memsets, copies of memory and empty ones, or waits for others
  // than what lies before it. Throws std::runtime_error where a call does not wait for what lies
  // before it, or what follows does not wait for all of the call.
  void enqueue_stretch(int calls);

 private:
  struct Node {
    cudaGraphNode_t original;
    cudaGraphNodeType type;
  };
  // By their positions in a call, or in what lies before it.
  struct Edge {
    std::size_t from;
    std::size_t to;
    cudaGraphEdgeData data;
  };
  // What a call captured.
  struct Pattern {
    std::vector<Node> nodes;
    std::vector<Edge> inside;
    std::vector<Edge> before;  // from what lies before it
    std::vector<Edge> after;   // what the next work waits for, as from; to is not used
  };
  using Nodes = std::vector<cudaGraphNode_t>;

  Nodes make(const Nodes& before, std::optional<Pattern>& pattern);
  Nodes copy(cudaGraph_t graph, const Nodes& before, const Pattern& pattern);
  void wait_for(const Nodes& call, const Pattern& pattern);

  cudaStream_t stream_;
  std::function<void()> call_;
  bool can_copy_ = true;
  std::optional<Pattern> first_;  // the call that follows other work
  std::optional<Pattern> next_;   // the call that follows a call
};

}  // namespace fusegate::bench
