#include "kernels/cuda/implementations/expected_stages.h"

#include <utility>

namespace fusegate::kernels {
namespace {

// Functions, since registrations run before main in no particular order.

// The families of cuBLAS's names: "nvjet_tst_128x160_...", "sm80_xmma_gemm_...",
// "gemmSN_TN_kernel", "gemvx::kernel", "cutlass::Kernel2".
constexpr char kLibraryGemm[] = "nvjet|gemm|gemv|xmma|cutlass";
constexpr char kOwnGemm[] =
    "fusegate::.*(gemm|pingpong|(keeping|swapped|wide)_gated|few_rows|gemv)_kernel";
constexpr char kReduction[] = "splitKreduce";

// In the 204 benchmarks with matmuls of the baselines stored for the H200 (pr and nightly) a second
// kernel was launched exactly where the choice splits K.
ExpectedKernels reduction_if_split() {
  return {"split-K reduction", kReduction, 1, 1, "split-k ([2-9]|[1-9][0-9])"};
}

// The reduction comes first, since the GEMM's pattern may match the reduction's template arguments.
// In the same benchmarks no matmul had more than one memset.
ExpectedStage library_matmul(const std::string& stage, ExpectedKernels reduction,
                             ExpectedKernels gemm) {
  return {.name = stage,
          .kernels = {std::move(reduction), std::move(gemm)},
          .most_memory_operations = 1};
}

}  // namespace

ExpectedStage expected_matmul(const std::string& stage, int most) {
  ExpectedKernels reduction = reduction_if_split();
  reduction.most = most;
  ExpectedStage expected =
      library_matmul(stage, std::move(reduction), {"GEMM of the library", kLibraryGemm, 1, most});
  expected.most_memory_operations = most;
  return expected;
}

ExpectedStage expected_cublas_matmul(const std::string& stage) {
  return library_matmul(stage, {"split-K reduction", kReduction, 0, 1},
                        {"GEMM of the library", kLibraryGemm});
}

ExpectedStage expected_own_matmul(const std::string& stage) {
  return {.name = stage, .kernels = {{"GEMM of ours", kOwnGemm}}};
}

ExpectedStage expected_fastest_matmul(const std::string& stage) {
  return library_matmul(stage, reduction_if_split(),
                        {"GEMM", std::string(kLibraryGemm) + "|" + kOwnGemm});
}

ExpectedStage expected_element_wise(const std::string& stage, const std::string& pattern) {
  return {.name = stage, .kernels = {{stage, pattern}}};
}
ExpectedStage expected_bias_add() {
  return expected_element_wise("bias_add", "pointwise_kernel<.*::BiasAdd<");
}
ExpectedStage expected_activation(const Activation& activation) {
  return expected_element_wise(std::string(activation.stage), "pointwise_kernel<.*::Activated<");
}
ExpectedStage expected_mul() { return expected_element_wise("mul", "pointwise_kernel<.*::Mul,"); }
// In one kernel for all shapes, rounding in between or not; for packed operands; or compiled for
// one shape.
ExpectedStage expected_gated(const Activation& activation) {
  return expected_element_wise(
      activation.gated_stage(),
      "pointwise_kernel<.*::(Rounded|Packed)?Gated<|^" + activation.gated_stage() + "$");
}

ExpectedStage expected_quantized_gated(const Activation& activation) {
  return expected_element_wise(activation.gated_stage(), "quantized_gated_kernel<");
}

std::vector<ExpectedCalls> expected_own_launches(int count) {
  return {{"launches", "^cudaLaunchKernel", count, count},
          {"occupancy queries", "Occupancy", 0, 0}};
}

Expectation expected_pointwise_mlp(const Activation& activation) {
  return {.stages = {expected_matmul("gate_proj"), expected_matmul("up_proj"),
                     expected_gated(activation), expected_matmul("down_proj")}};
}

Expectation expected_packed_mlp(const Activation& activation) {
  return {.stages = {expected_matmul(kPackedGateUp), expected_gated(activation),
                     expected_matmul("down_proj")}};
}

Expectation expected_epilogue_mlp(const Activation& activation) {
  return {.stages = {expected_own_matmul(activation.gate_up_stage()),
                     expected_fastest_matmul("down_proj")}};
}

std::vector<Expectation> expected_fastest_fused_mlp(const Activation& activation) {
  return {expected_epilogue_mlp(activation), expected_pointwise_mlp(activation),
          expected_packed_mlp(activation)};
}

// "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(...)", before 2.19 "ncclKernel_AllReduce_...". For one
// rank alone, as the stage's choice says, NCCL launches nothing, or a copy.
ExpectedStage expected_nccl(const std::string& stage) {
  return {
      .name = stage,
      .kernels = {{"collective of NCCL", "^nccl(Dev)?Kernel", 1, 1, "^([2-9]|[1-9][0-9]+) ranks"}},
      .most_memory_operations = 1};
}

std::vector<Expectation> expected_between(const std::vector<ExpectedStage>& before,
                                          std::vector<Expectation> mlps,
                                          const std::vector<ExpectedStage>& after) {
  for (Expectation& mlp : mlps) {
    mlp.stages.insert(mlp.stages.begin(), before.begin(), before.end());
    mlp.stages.insert(mlp.stages.end(), after.begin(), after.end());
  }
  return mlps;
}

}  // namespace fusegate::kernels
