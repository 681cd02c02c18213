#include "kernels/cuda/implementations/nccl_exchanges.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "kernels/cuda/device/nccl.h"
#include "kernels/cuda/implementations/expected_stages.h"
#include "kernels/operations/exchanges.h"

namespace fusegate::kernels {
namespace {

// The operation that is the exchange alone.
Implementation alone(std::string operation,
                     Stage (*stage)(CudaDevice&, const Tensor&, const Tensor&)) {
  return {.operation = operation,
          .name = "nccl",
          .device = "cuda",
          .dtypes = {Dtype::kBf16, Dtype::kFp16, Dtype::kFp32},
          .prepare =
              [stage](Device& device, const Problem&, Inputs in, const Tensor& out) {
                PreparedKernel kernel;
                kernel.stages.push_back(stage(static_cast<CudaDevice&>(device), in[0], out));
                return kernel;
              },
          .refuses = [](const Device&, const Problem&) { return refuses_nccl(); },
          .expects = {{.stages = {expected_nccl(operation)}}}};
}

// expected_nccl() goes by it.
Stage over_ranks(const CudaDevice& device, Stage work) {
  work.choice = fmt::format("{} ranks", device.ranks().count());
  return work;
}

const ImplementationRegistration all_reduce(alone("all_reduce", &nccl_all_reduce));
const ImplementationRegistration all_gather(alone("all_gather", &nccl_all_gather));
const ImplementationRegistration reduce_scatter(alone("reduce_scatter", &nccl_reduce_scatter));

}  // namespace

Stage nccl_all_reduce(CudaDevice& device, const Tensor& summand, const Tensor& out) {
  Stage stage = over_ranks(device, all_reduce_work(out, device.ranks().count()));
  stage.launch = [=, nccl = NcclRanks::of(device)] { nccl->all_reduce(summand, out); };
  return stage;
}

Stage nccl_all_gather(CudaDevice& device, const Tensor& part, const Tensor& whole) {
  Stage stage = over_ranks(device, all_gather_work(whole));
  stage.launch = [=, nccl = NcclRanks::of(device)] { nccl->all_gather(part, whole); };
  return stage;
}

Stage nccl_reduce_scatter(CudaDevice& device, const Tensor& summand, const Tensor& part) {
  Stage stage = over_ranks(device, reduce_scatter_work(summand, device.ranks().count()));
  stage.launch = [=, nccl = NcclRanks::of(device)] { nccl->reduce_scatter(summand, part); };
  return stage;
}

}  // namespace fusegate::kernels
