#include "kernels/cuda/fused_epilogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "kernels/cuda/cuda_stages.h"
#include "kernels/cuda/geglu_gemm_sm80.h"
#include "kernels/cuda/geglu_gemm_sm90.h"
#include "kernels/cuda/launch_contest.h"
#include "kernels/cuda/split_gemm_sm90.h"
#include "kernels/cuda/streamed_products.h"

namespace fusegate {
namespace {

// in: x, w_gate, w_up, as everywhere here.
std::vector<Contestant> tiled_sm80(CudaDevice& device, Inputs in, const Tensor& h) {
  const GegluGemmPlan plan =
      plan_geglu_gemm_sm80(geglu_gemm_size(in[0], h), gpu_limits(device.properties()));
  prepare_geglu_gemm_sm80(plan, h.dtype);
  return {{.name = plan_text(plan),
           .launch = [plan, x = in[0], w_gate = in[1], w_up = in[2], h, stream = device.stream()] {
             enqueue_geglu_gemm_sm80(plan, x, w_gate, w_up, h, stream);
           }}};
}

std::vector<Contestant> tiled_sm90(CudaDevice& device, Inputs in, const Tensor& h) {
  std::vector<Contestant> tiled;
  for (const GegluGemmPlan& plan :
       geglu_gemm_plans_sm90(geglu_gemm_size(in[0], h), device.properties().multiProcessorCount)) {
    tiled.push_back({.name = plan_text_sm90(plan),
                     .launch = make_geglu_gemm_sm90(device, plan, {in[0], in[1], in[2], h})});
  }
  return tiled;
}

std::vector<Contestant> split_sm90(CudaDevice& device, const Tensor& h, const Tensor& w,
                                   const Tensor& out) {
  std::vector<Contestant> split;
  for (const std::size_t shape :
       split_gemm_shapes({out.rows, out.cols, h.cols}, device.properties().multiProcessorCount)) {
    split.push_back(
        {.name = split_gemm_text(shape), .launch = make_split_gemm_sm90(device, shape, h, w, out)});
  }
  return split;
}

std::vector<Contestant> joined(std::vector<Contestant> all, std::vector<Contestant> more) {
  std::ranges::move(more, std::back_inserter(all));
  return all;
}

Stage gate_up_geglu(CudaDevice& device, Inputs in, const Tensor& h,
                    const std::vector<Contestant>& contestants) {
  Stage stage = gate_up_geglu_work(in[0], in[1], in[2], h);
  const ContestResult result = contest(
      device,
      fmt::format("gate_up_geglu {} x {} x {} {}", h.rows, h.cols, in[0].cols, dtype_name(h.dtype)),
      contestants, in[0], h);
  stage.choice = result.choice;
  stage.launch = contestants[result.taken].launch;
  return stage;
}

// gate_up: what can compute h. down: what can compute out from h, besides cublasLt; measured behind
// the first kernel, which some of them overlap.
using HContestants = std::function<std::vector<Contestant>(const Tensor& h)>;
PreparedKernel prepare_two_kernels(CudaDevice& device, const Problem& problem, Inputs in,
                                   const Tensor& out, const HContestants& gate_up,
                                   const HContestants& down) {
  PreparedKernel kernel;
  const Tensor h = kernel.intermediate(device, problem.rows(), problem.hidden, problem.dtype);
  const Stage first = gate_up_geglu(device, in, h, gate_up(h));
  kernel.stages.push_back(first);
  kernel.stages.push_back(
      CudaStages(device).tuned_matmul("down_proj", h, in[3], out, down(h), first));
  return kernel;
}

}  // namespace

std::string refuses_sm90(const Device& device) {
  const cudaDeviceProp& gpu = static_cast<const CudaDevice&>(device).properties();
  if (gpu.major != 9 || gpu.minor != 0) {
    return fmt::format("it needs compute capability 9.0, and {} has {}.{}", device.name(),
                       gpu.major, gpu.minor);
  }
  return has_sm90_code() ? "" : "this program was built without code for sm_90a";
}

PreparedKernel prepare_fused_epilogue_sm80(Device& any_device, const Problem& problem, Inputs in,
                                           const Tensor& out) {
  auto& device = static_cast<CudaDevice&>(any_device);
  return prepare_two_kernels(
      device, problem, in, out, [&](const Tensor& h) { return tiled_sm80(device, in, h); },
      [&](const Tensor& h) { return streamed_matmul(device, h, in[3], out); });
}

PreparedKernel prepare_fused_epilogue_sm90(Device& any_device, const Problem& problem, Inputs in,
                                           const Tensor& out) {
  auto& device = static_cast<CudaDevice&>(any_device);
  return prepare_two_kernels(
      device, problem, in, out, [&](const Tensor& h) { return tiled_sm90(device, in, h); },
      [&](const Tensor& h) { return split_sm90(device, h, in[3], out); });
}

PreparedKernel prepare_fused_epilogue_few_rows(Device& any_device, const Problem& problem,
                                               Inputs in, const Tensor& out) {
  auto& device = static_cast<CudaDevice&>(any_device);
  const bool is_sm90 = refuses_sm90(device).empty();
  return prepare_two_kernels(
      device, problem, in, out,
      [&](const Tensor& h) {
        return joined(streamed_geglu(device, in[0], in[1], in[2], h),
                      is_sm90 ? tiled_sm90(device, in, h) : tiled_sm80(device, in, h));
      },
      [&](const Tensor& h) {
        return joined(streamed_matmul(device, h, in[3], out),
                      is_sm90 ? split_sm90(device, h, in[3], out) : std::vector<Contestant>());
      });
}

}  // namespace fusegate
