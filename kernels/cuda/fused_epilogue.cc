#include "kernels/cuda/fused_epilogue.h"

#include <fmt/format.h>

#include "kernels/cuda/cuda_stages.h"
#include "kernels/cuda/few_rows_gemm.h"
#include "kernels/cuda/geglu_gemm_sm80.h"
#include "kernels/cuda/geglu_gemm_sm90.h"
#include "kernels/cuda/split_gemm_sm90.h"

namespace fusegate {
namespace {

// in: x, w_gate, w_up.
Stage gate_up_geglu_sm80(CudaDevice& device, Inputs in, const Tensor& h) {
  const GegluGemmPlan plan =
      plan_geglu_gemm_sm80(geglu_gemm_size(in[0], h), gpu_limits(device.properties()));
  prepare_geglu_gemm_sm80(plan, h.dtype);
  Stage stage = gate_up_geglu_work(in[0], in[1], in[2], h);
  stage.choice = plan_text(plan);
  stage.launch = [plan, x = in[0], w_gate = in[1], w_up = in[2], h, stream = device.stream()] {
    enqueue_geglu_gemm_sm80(plan, x, w_gate, w_up, h, stream);
  };
  return stage;
}

Stage gate_up_geglu_sm90(CudaDevice& device, Inputs in, const Tensor& h) {
  const GegluGemmPlan plan =
      plan_geglu_gemm_sm90(geglu_gemm_size(in[0], h), device.properties().multiProcessorCount);
  Stage stage = gate_up_geglu_work(in[0], in[1], in[2], h);
  stage.choice = plan_text_sm90(plan);
  stage.launch = make_geglu_gemm_sm90(device, plan, {in[0], in[1], in[2], h});
  return stage;
}

// What can compute the down product besides cublasLt, anywhere.
std::vector<MatmulRival> few_rows_rivals(CudaDevice& device, const Tensor& h, const Tensor& w,
                                         const Tensor& out) {
  if (out.rows > kMostFewRows) return {};
  const FewRowsPlan plan = plan_few_rows({.rows = h.rows, .cols = out.cols, .k = h.cols},
                                         device.properties().multiProcessorCount);
  return {{.name = "few_rows: " + plan_text(plan), .launch = [=, stream = device.stream()] {
             enqueue_few_rows_matmul(plan, h, w, out, stream);
           }}};
}

// And on Hopper.
std::vector<MatmulRival> sm90_rivals(CudaDevice& device, const Tensor& h, const Tensor& w,
                                     const Tensor& out) {
  std::vector<MatmulRival> rivals = few_rows_rivals(device, h, w, out);
  for (const std::size_t shape :
       split_gemm_shapes({out.rows, out.cols, h.cols}, device.properties().multiProcessorCount)) {
    rivals.push_back(
        {.name = split_gemm_text(shape), .launch = make_split_gemm_sm90(device, shape, h, w, out)});
  }
  return rivals;
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

PreparedKernel prepare_fused_epilogue_sm80(Device& device, const Problem& problem, Inputs in,
                                           const Tensor& out) {
  auto& gpu = static_cast<CudaDevice&>(device);
  PreparedKernel kernel;
  const Tensor h = kernel.intermediate(device, problem.rows(), problem.hidden, problem.dtype);
  kernel.stages.push_back(gate_up_geglu_sm80(gpu, in.first(3), h));
  kernel.stages.push_back(CudaStages(device).tuned_matmul("down_proj", h, in[3], out,
                                                          few_rows_rivals(gpu, h, in[3], out)));
  return kernel;
}

PreparedKernel prepare_fused_epilogue_sm90(Device& device, const Problem& problem, Inputs in,
                                           const Tensor& out) {
  auto& gpu = static_cast<CudaDevice&>(device);
  PreparedKernel kernel;
  const Tensor h = kernel.intermediate(device, problem.rows(), problem.hidden, problem.dtype);
  kernel.stages.push_back(gate_up_geglu_sm90(gpu, in.first(3), h));
  kernel.stages.push_back(
      CudaStages(device).tuned_matmul("down_proj", h, in[3], out, sm90_rivals(gpu, h, in[3], out)));
  return kernel;
}

}  // namespace fusegate
