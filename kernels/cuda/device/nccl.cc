#include "kernels/cuda/device/nccl.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "kernels/cuda/device/cuda.h"

namespace fusegate::kernels {
namespace {

// Types, numbers and functions as NCCL's user guide has them, "NCCL API": the same since 2.10,
// which brought bf16.
enum class Result : int {};
enum class DataType : int { kFp16 = 6, kFp32 = 7, kBf16 = 9 };
enum class Reduction : int { kSum = 0 };
struct UniqueId {
  char bytes[128];
};

struct Nccl {
  Result (*ncclGetVersion)(int* version) = nullptr;
  const char* (*ncclGetErrorString)(Result result) = nullptr;
  Result (*ncclGetUniqueId)(UniqueId* id) = nullptr;
  Result (*ncclCommInitRank)(void** communicator, int ranks, UniqueId id, int rank) = nullptr;
  Result (*ncclAllReduce)(const void* from, void* to, std::size_t count, DataType type,
                          Reduction by, void* communicator, cudaStream_t stream) = nullptr;
  // count: of a rank's part.
  Result (*ncclAllGather)(const void* from, void* to, std::size_t count, DataType type,
                          void* communicator, cudaStream_t stream) = nullptr;
  Result (*ncclReduceScatter)(const void* from, void* to, std::size_t count, DataType type,
                              Reduction by, void* communicator, cudaStream_t stream) = nullptr;
  std::string missing;  // why it cannot be used
};

template <typename Function>
void find(Nccl& nccl, void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr && nccl.missing.empty()) {
    nccl.missing = fmt::format("this NCCL has no {}: install a newer libnccl2", name);
  }
}

Nccl opened() {
  Nccl nccl;
  setenv("NCCL_NVLS_ENABLE", "0", 0);
  // Else it puts two events beside each captured call, and a batch could not copy its first ones.
  // None follows a graph's launch before the device has ended.
  setenv("NCCL_GRAPH_MIXING_SUPPORT", "0", 0);
  // Never closed: it has threads of its own.
  void* const library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    nccl.missing =
        "NCCL is not installed: libnccl.so.2 is not found; install libnccl2, or the wheel "
        "nvidia-nccl-cu13 and name its folder in LD_LIBRARY_PATH";
    return nccl;
  }
  find(nccl, library, "ncclGetVersion", nccl.ncclGetVersion);
  find(nccl, library, "ncclGetErrorString", nccl.ncclGetErrorString);
  find(nccl, library, "ncclGetUniqueId", nccl.ncclGetUniqueId);
  find(nccl, library, "ncclCommInitRank", nccl.ncclCommInitRank);
  find(nccl, library, "ncclAllReduce", nccl.ncclAllReduce);
  find(nccl, library, "ncclAllGather", nccl.ncclAllGather);
  find(nccl, library, "ncclReduceScatter", nccl.ncclReduceScatter);
  return nccl;
}

const Nccl& found() {
  static const Nccl nccl = opened();
  return nccl;
}

const Nccl& nccl() {
  if (!found().missing.empty()) throw DeviceError(found().missing);
  return found();
}

void check(Result result, const char* call) {
  if (result == Result{}) return;
  throw DeviceError(fmt::format("NCCL: {} in {}; NCCL_DEBUG=WARN says more",
                                nccl().ncclGetErrorString(result), call));
}

DataType type_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::kBf16:
      return DataType::kBf16;
    case Dtype::kFp16:
      return DataType::kFp16;
    case Dtype::kFp32:
      return DataType::kFp32;
    default:
      throw DeviceError(fmt::format("NCCL: {} is not supported here", dtype_name(dtype)));
  }
}

std::size_t count_of(const Tensor& tensor) { return static_cast<std::size_t>(tensor.count()); }

}  // namespace

std::string refuses_nccl() { return found().missing; }

std::string nccl_version() {
  int version = 0;
  check(nccl().ncclGetVersion(&version), "ncclGetVersion");
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::shared_ptr<const NcclRanks> NcclRanks::of(CudaDevice& device) {
  std::shared_ptr<void>& kept = device.kept()[fmt::format("nccl of {}", device.ranks().count())];
  if (!kept) kept = std::shared_ptr<NcclRanks>(new NcclRanks(device));
  return std::static_pointer_cast<const NcclRanks>(kept);
}

NcclRanks::NcclRanks(CudaDevice& device) : stream_(device.stream()) {
  Ranks& ranks = device.ranks();
  std::string mine(sizeof(UniqueId), '\0');
  ranks.together("making NCCL's id", [&] {
    UniqueId id{};
    if (ranks.is_first()) check(nccl().ncclGetUniqueId(&id), "ncclGetUniqueId");
    std::memcpy(mine.data(), &id, sizeof(id));
  });
  const std::string first = ranks.gather("NCCL's id", std::move(mine)).front();
  ranks.together("joining NCCL", [&] {
    UniqueId id{};
    first.copy(id.bytes, sizeof(id.bytes));
    check(nccl().ncclCommInitRank(&communicator_, ranks.count(), id, ranks.rank()),
          "ncclCommInitRank");
  });
}

void NcclRanks::all_reduce(const Tensor& summand, const Tensor& out) const {
  check(nccl().ncclAllReduce(summand.data, out.data, count_of(out), type_of(out.dtype),
                             Reduction::kSum, communicator_, stream_),
        "ncclAllReduce");
}

void NcclRanks::all_gather(const Tensor& part, const Tensor& whole) const {
  check(nccl().ncclAllGather(part.data, whole.data, count_of(part), type_of(part.dtype),
                             communicator_, stream_),
        "ncclAllGather");
}

void NcclRanks::reduce_scatter(const Tensor& summand, const Tensor& part) const {
  check(nccl().ncclReduceScatter(summand.data, part.data, count_of(part), type_of(part.dtype),
                                 Reduction::kSum, communicator_, stream_),
        "ncclReduceScatter");
}

}  // namespace fusegate::kernels
