// The fp8 MLPs. unfused: three products by cublasLt, tuned, and one kernel for the gated unit,
// which also quantizes. fused_epilogue_sm90: two kernels, one product whose epilogue is the unit
// and quantizes h, and a down product, ours or cublasLt's. h's scales are static
// (Fp8Input::kHScale).
#include <functional>
#include <string>
#include <utility>

#include "kernels/activations/activations.h"
#include "kernels/cuda/gemm/sm90/products.h"
#include "kernels/cuda/implementations/cuda_stages.h"
#include "kernels/cuda/implementations/expected_stages.h"
#include "kernels/cuda/pointwise/quantized_gated.h"
#include "kernels/operations/fp8_scales.h"

namespace fusegate::kernels {
namespace {

// Rows are read 16 bytes at a time.
constexpr std::int64_t kFp8Alignment = 16;

// One preparation.
struct Fp8Mlp {
  const Activation& activation;
  Fp8Scales scales;
  CudaDevice& device;
  const LadderProblem& problem;
  Inputs in;
  const Tensor& out;

  bool of_rows() const { return scales == Fp8Scales::kRow; }
  LtScales of_product(std::size_t x, std::size_t w) const {
    return {in[x].data, in[w].data, of_rows()};
  }
};

using Prepare = PreparedKernel (*)(const Fp8Mlp& mlp);

PreparedKernel prepare_unfused(const Fp8Mlp& mlp) {
  const auto& [activation, scales, device, p, in, out] = mlp;
  PreparedKernel kernel;
  CudaStages stages(device, MatmulChoice::kTuned);
  const auto take = [&](Dtype dtype) {
    return kernel.intermediate(device, {p.rows(), p.hidden}, dtype);
  };
  const Tensor g = take(Dtype::kBf16), u = take(Dtype::kBf16), h = take(p.dtype);
  kernel.stages.push_back(
      stages.scaled_matmul("gate_proj", in[kX], in[kGate], g, mlp.of_product(kXScale, kGateScale)));
  kernel.stages.push_back(
      stages.scaled_matmul("up_proj", in[kX], in[kUp], u, mlp.of_product(kXScale, kUpScale)));
  Stage unit = gated_work(activation, {&g, &u}, h);
  unit.launch = [=, stream = device.stream(), of_h = in[kHScale], unit = activation] {
    enqueue_quantized_gated(unit, g, u, of_h, h, stream);
  };
  kernel.stages.push_back(unit);
  kernel.stages.push_back(
      stages.scaled_matmul("down_proj", h, in[kDown], out, mlp.of_product(kHScale, kDownScale)));
  return kernel;
}

// Names tell kernels apart that measuring remembers.
std::string text_of(const Fp8Mlp& mlp, const std::string& plan) {
  return mlp.of_rows() ? plan + ", scales of rows" : plan;
}

MlpCandidates candidates_sm90(const Fp8Mlp& mlp, const Tensor& h) {
  const auto& [activation, scales, device, p, in, out] = mlp;
  MlpCandidates all;
  for (std::size_t tile = 0; tile < kGatedTilesFp8Sm90.size(); ++tile) {
    const GatedGemmPlan plan =
        plan_gated_gemm_fp8_sm90(gemm_size(in[kX], h), device.limits(), tile);
    all.gate_up.push_back(
        {.name = text_of(mlp, plan_text_fp8_sm90(plan)),
         .launch = make_gated_gemm_fp8_sm90(
             device, plan, activation, {in[kX], in[kGate], in[kUp], h},
             {in[kXScale], in[kGateScale], in[kUpScale], in[kHScale], mlp.of_rows()})});
  }
  if (const GemmSize size = gemm_size(h, out); is_wide_enough_sm90(size, device.limits())) {
    const TileRaster raster = plan_wide_gemm_sm90(size, device.limits(), h.dtype);
    all.down.push_back(
        {.name = text_of(mlp, wide_gemm_text(raster)),
         .launch = make_wide_gemm_fp8_sm90(device, raster, h, in[kDown], out,
                                           {in[kHScale], in[kDownScale], {}, mlp.of_rows()})});
  }
  all.library_down =
      CudaStages(device).matmul_candidates(h, in[kDown], out, mlp.of_product(kHScale, kDownScale));
  return all;
}

PreparedKernel prepare_sm90(const Fp8Mlp& mlp) {
  const Problem problem = ladder_problem(mlp.problem.batch, mlp.problem.seq, mlp.problem.dim,
                                         mlp.problem.hidden, mlp.problem.dtype);
  return fastest_mlp(mlp.activation, mlp.device, problem, mlp.in, mlp.out,
                     [&](const Tensor& h) { return candidates_sm90(mlp, h); });
}

Implementation implementation(const std::string& name, Fp8Scales scales,
                              const Activation& activation, Prepare prepare) {
  return {
      .operation = fp8_mlp(activation, scales),
      .name = name,
      .device = "cuda",
      .dtypes = {Dtype::kFp8E4m3},
      .multiples = {{"dim", kFp8Alignment}, {"hidden", kFp8Alignment}},
      .prepare = [=](Device& device, const LadderProblem& problem, Inputs in, const Tensor& out) {
        return prepare({activation, scales, static_cast<CudaDevice&>(device), problem, in, out});
      }};
}

template <Fp8Scales kScales>
Implementation unfused(const Activation& activation) {
  Implementation made = implementation("unfused", kScales, activation, &prepare_unfused);
  made.expects = {{.stages = {expected_matmul("gate_proj"), expected_matmul("up_proj"),
                              expected_quantized_gated(activation), expected_matmul("down_proj")}}};
  made.refuses = [](const Device& device, const Problem&) -> std::string {
    const cudaDeviceProp& gpu = static_cast<const CudaDevice&>(device).properties();
    if (gpu.major * 10 + gpu.minor >= 89) return "";
    return "it needs compute capability 8.9, whose tensor cores have fp8";
  };
  return made;
}

template <Fp8Scales kScales>
Implementation fused_epilogue_sm90(const Activation& activation) {
  Implementation made = implementation("fused_epilogue_sm90", kScales, activation, &prepare_sm90);
  made.expects = {expected_epilogue_mlp(activation)};
  made.refuses = [](const Device& device, const Problem&) {
    return refuses_sm90(static_cast<const CudaDevice&>(device));
  };
  return made;
}

const ImplementationRegistration kOfTensor[]{
    {kGemmActivations, &unfused<Fp8Scales::kTensor>},
    {kGemmActivations, &fused_epilogue_sm90<Fp8Scales::kTensor>}};
const ImplementationRegistration kOfRows[]{
    {kGemmActivations, &unfused<Fp8Scales::kRow>},
    {kGemmActivations, &fused_epilogue_sm90<Fp8Scales::kRow>}};

}  // namespace
}  // namespace fusegate::kernels
