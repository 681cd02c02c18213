#include "kernels/cuda/fused_epilogue.h"

#include <fmt/format.h>

#include "kernels/cuda/cuda_stages.h"
#include "kernels/cuda/geglu_gemm_sm80.h"
#include "kernels/cuda/gemm_sm90.h"
#include "kernels/cuda/split_gemm_sm90.h"

namespace fusegate {
namespace {

// in: x, w_gate, w_up.
Stage gate_up_geglu_sm80(CudaDevice& device, Inputs in, const Tensor& h) {
  const GemmPlan plan =
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
  const GemmPlan plan =
      plan_gemm_sm90({.rows = h.rows, .cols = h.cols, .k = in[0].cols}, GemmEpilogue::kGeglu,
                     device.properties().multiProcessorCount);
  Stage stage = gate_up_geglu_work(in[0], in[1], in[2], h);
  stage.choice = plan_text_sm90(plan);
  stage.launch = make_geglu_gemm_sm90(device, plan, {in[0], in[1], in[2], h});
  return stage;
}

Stage down_proj_sm90(CudaDevice& device, const Tensor& h, const Tensor& w, const Tensor& out) {
  if (!split_gemm_sm90_pays(out.rows, out.cols, h.cols, device.properties().multiProcessorCount)) {
    return CudaStages(device, MatmulChoice::kTuned).matmul("down_proj", h, w, nullptr, out);
  }
  Stage stage = matmul_work("down_proj", h, w, out);
  stage.choice = "split_gemm_sm90";
  stage.launch = make_split_gemm_sm90(device, h, w, out);
  return stage;
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
  PreparedKernel kernel;
  const Tensor h = kernel.intermediate(device, problem.rows(), problem.hidden, problem.dtype);
  kernel.stages.push_back(gate_up_geglu_sm80(static_cast<CudaDevice&>(device), in.first(3), h));
  kernel.stages.push_back(
      CudaStages(device, MatmulChoice::kTuned).matmul("down_proj", h, in[3], nullptr, out));
  return kernel;
}

PreparedKernel prepare_fused_epilogue_sm90(Device& device, const Problem& problem, Inputs in,
                                           const Tensor& out) {
  auto& gpu = static_cast<CudaDevice&>(device);
  PreparedKernel kernel;
  const Tensor h = kernel.intermediate(device, problem.rows(), problem.hidden, problem.dtype);
  kernel.stages.push_back(gate_up_geglu_sm90(gpu, in.first(3), h));
  kernel.stages.push_back(down_proj_sm90(gpu, h, in[3], out));
  return kernel;
}

}  // namespace fusegate
