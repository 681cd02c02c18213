#include "bench/profiling/graph_identity.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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

WordKind kind_of(std::uint64_t word) {
  // Where Linux puts programs, stacks and CUDA's memory; what is smaller is a number.
  constexpr std::uint64_t kLowest = std::uint64_t{1} << 36, kHighest = std::uint64_t{1} << 57;
  if (word < kLowest || word >= kHighest) return WordKind::kNumber;
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  if (driver().address_range(&base, &bytes, word) == CUDA_SUCCESS) return WordKind::kDeviceAddress;
  return is_mapped(word) ? WordKind::kHostAddress : WordKind::kNumber;
}

// Reads one graph's nodes.
class IdentityReader {
 public:
  IdentityReader(std::span<const MemorySpan> memory, const KernelCodes& codes)
      : memory_(memory), codes_(codes) {}

  LaunchIdentity read(cudaGraphNode_t node) const {
    cudaGraphNodeType type{};
    FUSEGATE_CUDA(cudaGraphNodeGetType(node, &type));
    switch (type) {
      case cudaGraphNodeTypeKernel:
        return kernel(node);
      case cudaGraphNodeTypeMemset:
        return memset(node);
      case cudaGraphNodeTypeMemcpy:
        return memcpy(node);
      case cudaGraphNodeTypeEmpty:
        return {.kernel = "nothing", .launch = "empty node"};
      default:
        throw Unknown(fmt::format("the call has a graph node of kind {}", static_cast<int>(type)));
    }
  }

 private:
  LaunchIdentity kernel(cudaGraphNode_t node) const {
    CUDA_KERNEL_NODE_PARAMS params{};
    check(driver().node_params(node, &params), "how a kernel is launched");
    const CUfunction function = driver().function_of(params);
    if (function == nullptr) throw Unknown("the driver does not report a kernel's function");
    const char* name = nullptr;
    check(driver().name(&name, function), "a kernel's name");
    const KernelCode code = codes_.find(name);
    LaunchIdentity launch{.kernel = kernels::readable_name(name),
                          .code = code.hash,
                          .instructions = code.instructions,
                          .launch = launch_text(node, params, function)};
    if (launch.code.empty()) throw Unknown("machine code not seen: " + launch.kernel);
    ContentHash hash;
    if (!add_arguments(params, function, hash)) {
      throw Unknown("an argument points outside of the benchmark's memory: " + launch.kernel);
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

  // As an array of pointers, one an argument, or as one buffer of all of them.
  bool add_arguments(const CUDA_KERNEL_NODE_PARAMS& params, CUfunction function,
                     ContentHash& hash) const {
    if (params.kernelParams == nullptr) return add_buffer(params.extra, hash);
    bool known = true;
    std::size_t offset = 0, bytes = 0;
    for (std::size_t i = 0; driver().parameter(function, i, &offset, &bytes) == CUDA_SUCCESS; ++i) {
      hash.add(static_cast<std::uint64_t>(bytes));
      known = add({static_cast<const std::byte*>(params.kernelParams[i]), bytes}, hash) && known;
    }
    return known;
  }

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
    return buffer == nullptr || add({buffer, bytes}, hash);
  }

  bool add(std::span<const std::byte> bytes, ContentHash& hash) const {
    return add_argument(bytes, memory_, kind_of, hash);
  }

  void add_address(const void* address, ContentHash& hash) const {
    const auto word = reinterpret_cast<std::uint64_t>(address);
    if (!add(std::as_bytes(std::span(&word, 1)), hash)) {
      throw Unknown("a memory operation reaches outside of the benchmark's memory");
    }
  }

  LaunchIdentity memset(cudaGraphNode_t node) const {
    cudaMemsetParams params{};
    FUSEGATE_CUDA(cudaGraphMemsetNodeGetParams(node, &params));
    ContentHash hash;
    add_address(params.dst, hash);
    return {.kernel = "memset",
            .launch = fmt::format("{} x {} elements of {} B, pitch {}, value {}", params.width,
                                  params.height, params.elementSize, params.pitch, params.value),
            .arguments = hash.hex()};
  }

  LaunchIdentity memcpy(cudaGraphNode_t node) const {
    cudaMemcpy3DParms params{};
    FUSEGATE_CUDA(cudaGraphMemcpyNodeGetParams(node, &params));
    ContentHash hash;
    add_address(params.srcPtr.ptr, hash);
    add_address(params.dstPtr.ptr, hash);
    return {.kernel = "memcpy",
            .launch = fmt::format("{} x {} x {} B, pitches {} and {}", params.extent.width,
                                  params.extent.height, params.extent.depth, params.srcPtr.pitch,
                                  params.dstPtr.pitch),
            .arguments = hash.hex()};
  }

  std::span<const MemorySpan> memory_;
  const KernelCodes& codes_;
};

// CUDA 13 gave the name to what 12 calls _v2.
constexpr auto* get_edges =
#if CUDART_VERSION >= 13000
    &cudaGraphGetEdges;
#else
    &cudaGraphGetEdges_v2;
#endif

// Which node waits for which, and whether for its end or for less (programmatic dependent launch).
std::string order_of(const kernels::Graph& graph, const std::vector<cudaGraphNode_t>& nodes) {
  std::size_t count = 0;
  FUSEGATE_CUDA(get_edges(graph.get(), nullptr, nullptr, nullptr, &count));
  std::vector<cudaGraphNode_t> from(count), to(count);
  std::vector<cudaGraphEdgeData> data(count);
  if (count > 0) {
    FUSEGATE_CUDA(get_edges(graph.get(), from.data(), to.data(), data.data(), &count));
  }
  const auto number = [&nodes](cudaGraphNode_t node) {
    return static_cast<std::uint64_t>(std::ranges::find(nodes, node) - nodes.begin());
  };
  std::vector<std::array<std::uint64_t, 5>> edges;
  for (std::size_t i = 0; i < count; ++i) {
    edges.push_back(
        {number(from[i]), number(to[i]), data[i].from_port, data[i].to_port, data[i].type});
  }
  std::ranges::sort(edges);
  ContentHash hash;
  for (const auto& edge : edges) {
    for (const std::uint64_t part : edge) hash.add(part);
  }
  return hash.hex();
}

}  // namespace

CallIdentity graph_identity(const kernels::Graph& graph, std::span<const MemorySpan> memory,
                            const KernelCodes& codes) {
  if (!driver().knows_arguments()) return {.unknown = "the driver is older than CUDA 12.4"};
  const IdentityReader reader(memory, codes);
  try {
    CallIdentity identity;
    const std::vector<cudaGraphNode_t> nodes = graph.nodes();
    for (const cudaGraphNode_t node : nodes) identity.launches.push_back(reader.read(node));
    identity.order = order_of(graph, nodes);
    return identity;
  } catch (const Unknown& unknown) {
    return {.unknown = unknown.what()};
  }
}

}  // namespace fusegate::bench
