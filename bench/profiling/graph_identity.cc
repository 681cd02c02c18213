#include "bench/profiling/graph_identity.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/profiling/graph_driver.h"
#include "kernels/contract/readable_name.h"

namespace fusegate::bench {
namespace {

using baselines::CallIdentity;
using baselines::LaunchIdentity;

class Unknown : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

void check(CUresult result, const char* what) {
  if (result != CUDA_SUCCESS) throw Unknown(fmt::format("the driver does not report {}", what));
}

// Whether a page of this process lies there.
bool is_mapped(std::uint64_t address) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return msync(reinterpret_cast<void*>(address / page * page), page, MS_ASYNC) == 0;
}

std::string name_of(CUfunction function) {
  const char* name = nullptr;
  check(driver().name(&name, function), "a kernel's name");
  return name;
}

CUDA_KERNEL_NODE_PARAMS launch_of(cudaGraphNode_t kernel) {
  CUDA_KERNEL_NODE_PARAMS params{};
  check(driver().node_params(kernel, &params), "how a kernel is launched");
  return params;
}

CUfunction function_of(const CUDA_KERNEL_NODE_PARAMS& params) {
  const CUfunction function = driver().function_of(params);
  if (function == nullptr) throw Unknown("the driver does not report a kernel's function");
  return function;
}

// What the words of a graph's arguments are, outside of the benchmark's memory.
class WordReader {
 public:
  explicit WordReader(const CallMemory& memory) : memory_(memory) {}

  WordMeaning meaning_of(std::uint64_t word) {
    // Where Linux puts programs, stacks and CUDA's memory; what is smaller is a number.
    constexpr std::uint64_t kLowest = std::uint64_t{1} << 36, kHighest = std::uint64_t{1} << 57;
    if (word < kLowest || word >= kHighest) return WordKind::kNumber;
    const WordMeaning meaning = meaning_of_address(word);
    const auto* const kind = std::get_if<WordKind>(&meaning);
    const bool is_half = memory_.program_allocates && kind != nullptr &&
                         *kind == WordKind::kNumber &&
                         host_halves().contains(static_cast<std::uint32_t>(word >> 32));
    return is_half ? WordKind::kHalfHostAddress : meaning;
  }

  // Remembers the first one's memory.
  bool is_stale(std::uint64_t word) {
    if (!memory_.earlier_layout) return false;
    const std::optional<MemorySpan> around = memory_.earlier_layout(word);
    if (around && !stale_) stale_ = around;
    return around.has_value();
  }
  const std::optional<MemorySpan>& stale() const { return stale_; }

 private:
  WordMeaning meaning_of_address(std::uint64_t word) {
    if (is_stale(word)) return WordKind::kDeviceAddress;
    CUdeviceptr base = 0;
    std::size_t bytes = 0;
    if (driver().address_range(&base, &bytes, word) == CUDA_SUCCESS) {
      if (memory_.program_allocates) return allocations_.locate({base, bytes}, word);
      return WordKind::kDeviceAddress;
    }
    return is_mapped(word) ? WordKind::kHostAddress : WordKind::kNumber;
  }

  // The upper halves of the addresses of what is mapped here.
  const std::set<std::uint32_t>& host_halves() {
    if (!halves_.empty()) return halves_;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      halves_.insert(static_cast<std::uint32_t>(std::stoull(line, nullptr, 16) >> 32));
    }
    halves_.erase(0);
    return halves_;
  }

  std::set<std::uint32_t> halves_;
  const CallMemory& memory_;
  OwnAllocations allocations_;
  std::optional<MemorySpan> stale_;
};

// Adds nodes' arguments to a hash. Each returns false where one points elsewhere.
class ArgumentReader {
 public:
  ArgumentReader(std::span<const MemorySpan> memory, MeaningOf meaning_of)
      : memory_(memory), meaning_of_(std::move(meaning_of)) {}

  // As an array of pointers, one an argument, or as one buffer of all of them. again: of another
  // capture of the same call, or the same.
  bool add(const CUDA_KERNEL_NODE_PARAMS& params, const CUDA_KERNEL_NODE_PARAMS& again,
           CUfunction function, ContentHash& hash) const {
    if (params.kernelParams == nullptr) return add_buffer(params.extra, hash);
    const bool is_alike = again.kernelParams != nullptr;
    bool known = true;
    std::size_t offset = 0, bytes = 0;
    for (std::size_t i = 0; driver().parameter(function, i, &offset, &bytes) == CUDA_SUCCESS; ++i) {
      hash.add(static_cast<std::uint64_t>(bytes));
      const auto* const first = static_cast<const std::byte*>(params.kernelParams[i]);
      const auto* const second = static_cast<const std::byte*>(again.kernelParams[i]);
      known = add({{first, bytes}, {is_alike ? second : first, bytes}}, hash) && known;
    }
    return known;
  }

  bool add(const cudaMemsetParams& params, ContentHash& hash) const {
    return add_address(params.dst, hash);
  }

  bool add(const cudaMemcpy3DParms& params, ContentHash& hash) const {
    const bool known = add_address(params.srcPtr.ptr, hash);
    return add_address(params.dstPtr.ptr, hash) && known;
  }

 private:
  bool add_buffer(void* const* extra, ContentHash& hash) const {
    const std::byte* buffer = nullptr;
    std::size_t bytes = 0;
    for (; extra != nullptr && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
      if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER) {
        buffer = static_cast<const std::byte*>(extra[1]);
      } else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE) {
        bytes = *static_cast<const std::size_t*>(extra[1]);
      }
    }
    return buffer == nullptr || add({{buffer, bytes}, {buffer, bytes}}, hash);
  }

  bool add(const ArgumentBytes& bytes, ContentHash& hash) const {
    return add_argument(bytes, memory_, meaning_of_, hash);
  }

  bool add_address(const void* address, ContentHash& hash) const {
    const auto word = reinterpret_cast<std::uint64_t>(address);
    const auto bytes = std::as_bytes(std::span(&word, 1));
    return add({bytes, bytes}, hash);
  }

  std::span<const MemorySpan> memory_;
  MeaningOf meaning_of_;
};

cudaMemsetParams memset_of(cudaGraphNode_t node) {
  cudaMemsetParams params{};
  FUSEGATE_CUDA(cudaGraphMemsetNodeGetParams(node, &params));
  return params;
}

cudaMemcpy3DParms memcpy_of(cudaGraphNode_t node) {
  cudaMemcpy3DParms params{};
  FUSEGATE_CUDA(cudaGraphMemcpyNodeGetParams(node, &params));
  return params;
}

// What a node does that no identity is read of.
std::string described(cudaGraphNodeType type) {
  switch (static_cast<int>(type)) {
    case CU_GRAPH_NODE_TYPE_HOST:
      return "the host runs a function";
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return "another graph runs in its graph";
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return "it waits for an event";
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return "it records an event";
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
      return "it signals or waits for a semaphore";
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return "it allocates or frees memory";
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return "its stream writes or waits for a word";
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return "a part of its graph is conditional";
    default:
      return fmt::format("its graph has a node of the driver's kind {}", static_cast<int>(type));
  }
}

// Reads one graph's nodes.
class IdentityReader {
 public:
  IdentityReader(const CallMemory& memory, const KernelCodes& codes)
      : words_(memory),
        arguments_(memory.spans, [this](std::uint64_t word) { return words_.meaning_of(word); }),
        codes_(codes) {}
  IdentityReader(const IdentityReader&) = delete;  // it refers to itself
  IdentityReader& operator=(const IdentityReader&) = delete;

  // again: the same node of another capture of the call, or itself.
  LaunchIdentity read(cudaGraphNode_t node, cudaGraphNode_t again) const {
    switch (const cudaGraphNodeType type = kernels::graph_node_type(node)) {
      case cudaGraphNodeTypeKernel:
        return kernel(node, kernels::graph_node_type(again) == type ? again : node);
      case cudaGraphNodeTypeMemset:
        return memset(node);
      case cudaGraphNodeTypeMemcpy:
        return memcpy(node);
      case cudaGraphNodeTypeEmpty:
        return {.kernel = "nothing", .launch = "empty node"};
      default:
        throw Unknown("the call does more than kernels, copies and fills: " + described(type));
    }
  }

 private:
  LaunchIdentity kernel(cudaGraphNode_t node, cudaGraphNode_t again) const {
    const CUDA_KERNEL_NODE_PARAMS params = launch_of(node);
    const CUfunction function = function_of(params);
    const std::string name = name_of(function);
    const KernelCode code = codes_.find(name);
    LaunchIdentity launch{.kernel = kernels::readable_name(name.c_str()),
                          .code = code.hash,
                          .instructions = code.instructions,
                          .launch = launch_text(node, params, function)};
    if (launch.code.empty()) throw Unknown("machine code not seen: " + launch.kernel);
    ContentHash hash;
    const CUDA_KERNEL_NODE_PARAMS others = launch_of(again);
    const bool is_same = function_of(others) == function;
    if (!arguments_.add(params, is_same ? others : params, function, hash)) {
      throw Unknown(fmt::format("an argument points {}: {}", elsewhere(), launch.kernel));
    }
    launch.arguments = hash.hex();
    return launch;
  }

  static std::string launch_text(cudaGraphNode_t node, const CUDA_KERNEL_NODE_PARAMS& params,
                                 CUfunction function) {
    std::string text =
        fmt::format("grid {}x{}x{}, block {}x{}x{}", params.gridDimX, params.gridDimY,
                    params.gridDimZ, params.blockDimX, params.blockDimY, params.blockDimZ);
    const auto attribute = [node](CUlaunchAttributeID id) {
      CUlaunchAttributeValue value{};
      // One that this driver does not know was not asked for.
      if (driver().node_attribute(node, id, &value) != CUDA_SUCCESS) value = {};
      return value;
    };
    const auto cluster = attribute(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim;
    if (cluster.x != 0) text += fmt::format(", cluster {}x{}x{}", cluster.x, cluster.y, cluster.z);
    const auto scheduling = attribute(CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)
                                .clusterSchedulingPolicyPreference;
    if (scheduling != 0)
      text += fmt::format(", cluster scheduling {}", static_cast<int>(scheduling));
    if (attribute(CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative != 0) text += ", cooperative";
    if (const int priority = attribute(CU_LAUNCH_ATTRIBUTE_PRIORITY).priority; priority != 0) {
      text += fmt::format(", priority {}", priority);
    }
    const auto window = attribute(CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW).accessPolicyWindow;
    if (window.num_bytes != 0) {
      text += fmt::format(", L2 window of {} B", window.num_bytes);
    }
    text += fmt::format(", {} + {} B shared", params.sharedMemBytes,
                        function_value(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
    text += fmt::format(", {} registers, {} B local",
                        function_value(function, CU_FUNC_ATTRIBUTE_NUM_REGS),
                        function_value(function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
    const int carveout =
        function_value(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
    if (carveout >= 0) text += fmt::format(", carveout {} %", carveout);
    return text;
  }

  static int function_value(CUfunction function, CUfunction_attribute attribute) {
    int value = 0;
    check(driver().attribute(&value, attribute, function), "what a kernel takes");
    return value;
  }

  const char* elsewhere() const {
    return words_.stale() ? "into memory of an earlier layout"
                          : "outside of the benchmark's memory";
  }

  template <typename Params>
  std::string addresses(const Params& params) const {
    ContentHash hash;
    if (arguments_.add(params, hash)) return hash.hex();
    throw Unknown(fmt::format("a memory operation reaches {}", elsewhere()));
  }

  LaunchIdentity memset(cudaGraphNode_t node) const {
    const cudaMemsetParams params = memset_of(node);
    return {.kernel = "memset",
            .launch = fmt::format("{} x {} elements of {} B, pitch {}, value {}", params.width,
                                  params.height, params.elementSize, params.pitch, params.value),
            .arguments = addresses(params)};
  }

  LaunchIdentity memcpy(cudaGraphNode_t node) const {
    const cudaMemcpy3DParms params = memcpy_of(node);
    return {.kernel = "memcpy",
            .launch = fmt::format("{} x {} x {} B, pitches {} and {}", params.extent.width,
                                  params.extent.height, params.extent.depth, params.srcPtr.pitch,
                                  params.dstPtr.pitch),
            .arguments = addresses(params)};
  }

  WordReader words_;
  ArgumentReader arguments_;
  const KernelCodes& codes_;
};

// Its name where an argument makes the word reader remember one of an earlier layout.
std::string read_for_stale(cudaGraphNode_t node, const ArgumentReader& arguments) {
  ContentHash ignored;
  switch (kernels::graph_node_type(node)) {
    case cudaGraphNodeTypeKernel: {
      const CUDA_KERNEL_NODE_PARAMS params = launch_of(node);
      const CUfunction function = function_of(params);
      arguments.add(params, params, function, ignored);
      return kernels::readable_name(name_of(function).c_str());
    }
    case cudaGraphNodeTypeMemset:
      arguments.add(memset_of(node), ignored);
      return "memset";
    case cudaGraphNodeTypeMemcpy:
      arguments.add(memcpy_of(node), ignored);
      return "memcpy";
    default:
      return "";
  }
}

// Which node waits for which, and whether for its end or for less (programmatic dependent launch).
std::string order_of(const kernels::Graph& graph, const std::vector<cudaGraphNode_t>& nodes) {
  const auto number = [&nodes](cudaGraphNode_t node) {
    return static_cast<std::uint64_t>(std::ranges::find(nodes, node) - nodes.begin());
  };
  std::vector<std::array<std::uint64_t, 5>> edges;
  for (const auto& [from, to, data] : graph.edges()) {
    edges.push_back({number(from), number(to), data.from_port, data.to_port, data.type});
  }
  std::ranges::sort(edges);
  ContentHash hash;
  for (const auto& edge : edges) {
    for (const std::uint64_t part : edge) hash.add(part);
  }
  return hash.hex();
}

}  // namespace

CallIdentity graph_identity(const kernels::Graph& graph, const kernels::Graph& again,
                            const CallMemory& memory, const KernelCodes& codes) {
  if (!driver().knows_arguments()) return {.unknown = "the driver is older than CUDA 12.4"};
  const IdentityReader reader(memory, codes);
  try {
    CallIdentity identity;
    const std::vector<cudaGraphNode_t> nodes = graph.nodes();
    const std::vector<cudaGraphNode_t> others = again.nodes();
    if (others.size() != nodes.size())
      throw Unknown("captured twice, the call launches another work");
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      identity.launches.push_back(reader.read(nodes[i], others[i]));
    }
    identity.order = order_of(graph, nodes);
    return identity;
  } catch (const Unknown& unknown) {
    return {.unknown = unknown.what()};
  }
}

std::optional<StaleArgument> find_stale_argument(const kernels::Graph& graph,
                                                 const CallMemory& memory) {
  if (!driver().knows_arguments()) return std::nullopt;
  WordReader words(memory);
  const ArgumentReader arguments(memory.spans, [&words](std::uint64_t word) -> WordMeaning {
    words.is_stale(word);
    return WordKind::kNumber;
  });
  for (const cudaGraphNode_t node : graph.nodes()) {
    try {
      const std::string kernel = read_for_stale(node, arguments);
      if (words.stale()) return StaleArgument{kernel, *words.stale()};
    } catch (const Unknown&) {
      continue;  // of this one nothing is known
    }
  }
  return std::nullopt;
}

}  // namespace fusegate::bench
