// An example of integers and of a workspace: the running sum of a list, y[i] = x[0] + ... + x[i],
// on the GPU by CUB. CUB's workspace is allocated once, when the kernel is prepared.
#include <fusegate/kernel.h>
#include <fusegate/work.h>

#include <cstdint>
#include <numeric>
#include <vector>
#ifdef __CUDACC__
#include <fusegate/cuda.h>

#include <cub/device/device_scan.cuh>
#endif

namespace {

using namespace fusegate::kernels;

// The sums of the longest list stay within 32 bits.
std::vector<TensorSpec> inputs(const Problem& p) {
  return {{"x", {p.at("items")}, Fill::integers(-100, 100)}};
}

std::vector<TensorSpec> outputs(const Problem& p) { return {{"y", {p.at("items")}}}; }

void reference(const Problem&, std::span<const std::vector<double>> in,
               std::span<std::vector<double>> out) {
  std::partial_sum(in[0].begin(), in[0].end(), out[0].begin());
}

const OperationRegistration operation{{
    .name = "scan",
    .axes = {"items"},
    .inputs = &inputs,
    .outputs = &outputs,
    .host_reference = &reference,
}};

PreparedKernel prepare_on_cpu(Device&, const Problem&, Inputs in, const Tensor& y) {
  PreparedKernel kernel;
  kernel.stages.push_back(pointwise_work("scan", 1, {&in[0]}, y));
  kernel.stages.back().launch = [x = in[0], y] {
    const auto* const from = static_cast<const std::int32_t*>(x.data);
    std::partial_sum(from, from + x.count(), static_cast<std::int32_t*>(y.data));
  };
  return kernel;
}

const ImplementationRegistration on_cpu{{
    .operation = "scan",
    .name = "partial_sum",
    .device = "cpu",
    .dtypes = {Dtype::kInt32},
    .prepare = &prepare_on_cpu,
}};

#ifdef __CUDACC__

PreparedKernel prepare_on_cuda(Device& device, const Problem&, Inputs in, const Tensor& y) {
  const auto scan = [x = in[0], y, stream = cuda_stream(device)](void* workspace,
                                                                 std::size_t& bytes) {
    FUSEGATE_CUDA(cub::DeviceScan::InclusiveSum(workspace, bytes, static_cast<const int*>(x.data),
                                                static_cast<int*>(y.data),
                                                static_cast<int>(x.count()), stream));
  };
  std::size_t bytes = 0;
  scan(nullptr, bytes);  // only sets bytes
  PreparedKernel kernel;
  const Tensor workspace =
      kernel.intermediate(device, {static_cast<std::int64_t>(bytes)}, Dtype::kInt8);
  kernel.stages.push_back(pointwise_work("scan", 1, {&in[0]}, y));
  kernel.stages.back().launch = [=]() mutable { scan(workspace.data, bytes); };
  return kernel;
}

const ImplementationRegistration on_cuda{{
    .operation = "scan",
    .name = "cub",
    .device = "cuda",
    .dtypes = {Dtype::kInt32},
    .prepare = &prepare_on_cuda,
}};

#endif

}  // namespace
