// The fp8 MLPs. unfused: three products by cublasLt, tuned, and one kernel for the gated unit,
// which also quantizes. fused_epilogue_sm90: two kernels, one product whose epilogue is the unit
// and quantizes h, and a down product, ours or cublasLt's. h's scales are static
// (Fp8Input::kHScale), except those of blocks, which the epilogue makes of their largest elements.
// _promoted: partial sums are added up in fp32, as with scales of blocks they always are.
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
  bool promotes;
  CudaDevice& device;
  const LadderProblem& problem;
  Inputs in;
  const Tensor& out;

  ScaledBy by() const {
    return scales == Fp8Scales::kTensor ? ScaledBy::kMatrix
           : scales == Fp8Scales::kRow  ? ScaledBy::kRows
                                        : ScaledBy::kBlocks;
  }
  LtScales of_product(std::size_t x, std::size_t w) const {
    return {in[x].data, in[w].data, scales == Fp8Scales::kRow};
  }
};

using Prepare = PreparedKernel (*)(const Fp8Mlp& mlp);

PreparedKernel prepare_unfused(const Fp8Mlp& mlp) {
  const auto& [activation, scales, promotes, device, p, in, out] = mlp;
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

// Measuring remembers kernels by their names.
std::string text_of(const Fp8Mlp& mlp, const std::string& plan) {
  constexpr std::array<std::string_view, 3> kScales{"", ", scales of rows", ", scales of blocks"};
  return plan + std::string(kScales[static_cast<std::size_t>(mlp.scales)]);
}

std::vector<Candidate> gated_sm90(const Fp8Mlp& mlp, const Tensor& h, const Tensor& h_scale) {
  const auto& [activation, scales, promotes, device, p, in, out] = mlp;
  std::vector<Candidate> all;
  for (std::size_t tile = 0; tile < kGatedTilesFp8Sm90.size(); ++tile) {
    if (kGatedTilesFp8Sm90[tile].promotes != promotes) continue;
    const GatedGemmPlan plan =
        plan_gated_gemm_fp8_sm90(gemm_size(in[kX], h), device.limits(), tile);
    all.push_back({.name = text_of(mlp, plan_text_fp8_sm90(plan)),
                   .launch = make_gated_gemm_fp8_sm90(
                       device, plan, activation, {in[kX], in[kGate], in[kUp], h},
                       {in[kXScale], in[kGateScale], in[kUpScale], h_scale, mlp.by()})});
  }
  return all;
}

std::vector<Candidate> down_sm90(const Fp8Mlp& mlp, const Tensor& h, const Tensor& h_scale) {
  const auto& [activation, scales, promotes, device, p, in, out] = mlp;
  const GemmSize size = gemm_size(h, out);
  const int cols = promotes ? kNarrowGemmCols : kWideGemmCols;
  const TileRaster raster = plan_wide_gemm_sm90(size, device.limits(), h.dtype, cols);
  const std::string promoted = promotes ? ", promoted" : "";
  return {{.name = text_of(mlp, wide_gemm_text(raster, cols) + promoted),
           .launch = make_wide_gemm_fp8_sm90(device, raster, h, in[kDown], out,
                                             {h_scale, in[kDownScale], {}, mlp.by()}, promotes)}};
}

// A kernel that promotes has no library's beside it, whose sums are of other precision.
PreparedKernel prepare_sm90(const Fp8Mlp& mlp) {
  const auto& [activation, scales, promotes, device, p, in, out] = mlp;
  PreparedKernel kernel;
  const bool is_static = scales != Fp8Scales::kBlock;
  const Tensor h_scale =
      is_static ? in[kHScale]
                : kernel.intermediate(
                      device, left_blocks(scales, p.rows(), p.hidden).shape(p.rows(), p.hidden),
                      Dtype::kFp32);
  if (!is_static)
    device.fill(h_scale, Fill::constant(1), 1);  // a down product is measured alone too
  const Problem problem = ladder_problem(p.batch, p.seq, p.dim, p.hidden, p.dtype);
  PreparedKernel fastest = fastest_mlp(activation, device, problem, in, out, [&](const Tensor& h) {
    MlpCandidates all{gated_sm90(mlp, h, h_scale), down_sm90(mlp, h, h_scale)};
    if (!promotes) {
      all.library_down = CudaStages(device).matmul_candidates(h, in[kDown], out,
                                                              mlp.of_product(kHScale, kDownScale));
    }
    return all;
  });
  for (const Tensor& of : {in[kXScale], in[kGateScale], in[kUpScale], h_scale}) {
    fastest.stages[0].min_bytes += static_cast<double>(of.bytes());
  }
  for (const Tensor& of : {h_scale, in[kDownScale]}) {
    fastest.stages[1].min_bytes += static_cast<double>(of.bytes());
  }
  for (Memory& memory : kernel.scratch) fastest.scratch.push_back(std::move(memory));
  return fastest;
}

template <Fp8Scales kScales, bool kPromotes, Prepare kPrepare>
PreparedKernel prepare(const Activation& activation, Device& device, const LadderProblem& problem,
                       Inputs in, const Tensor& out) {
  return kPrepare(
      {activation, kScales, kPromotes, static_cast<CudaDevice&>(device), problem, in, out});
}

std::string refuses_unfused(const Device& device, const Problem&) {
  const cudaDeviceProp& gpu = static_cast<const CudaDevice&>(device).properties();
  if (gpu.major * 10 + gpu.minor >= 89) return "";
  return "it needs compute capability 8.9, whose tensor cores have fp8";
}

std::string refuses_fused(const Device& device, const Problem&) {
  return refuses_sm90(static_cast<const CudaDevice&>(device));
}

template <Fp8Scales kScales>
Implementation unfused(const Activation& activation) {
  return {
      .operation = fp8_mlp(activation, kScales),
      .name = "unfused",
      .device = "cuda",
      .dtypes = {Dtype::kFp8E4m3},
      .multiples = {{"dim", kFp8Alignment}, {"hidden", kFp8Alignment}},
      .prepare = std::bind_front(&prepare<kScales, false, &prepare_unfused>, activation),
      .refuses = &refuses_unfused,
      .expects = {{.stages = {expected_matmul("gate_proj"), expected_matmul("up_proj"),
                              expected_quantized_gated(activation), expected_matmul("down_proj")}}},
  };
}

template <Fp8Scales kScales, bool kPromotes>
Implementation fused(const Activation& activation) {
  return {
      .operation = fp8_mlp(activation, kScales),
      .name = "fused_epilogue_sm90",
      .device = "cuda",
      .dtypes = {Dtype::kFp8E4m3},
      .multiples = {{"dim", kFp8Alignment}, {"hidden", kFp8Alignment}},
      .prepare = std::bind_front(&prepare<kScales, kPromotes, &prepare_sm90>, activation),
      .refuses = &refuses_fused,
      .expects = {expected_epilogue_mlp(activation)},
  };
}

// A name of its own, written so that fusegate_record_implementations (CMake) finds it.
Implementation promoted(const Activation& activation) {
  const Implementation fused_too = fused<Fp8Scales::kTensor, true>(activation);
  return {
      .operation = fused_too.operation,
      .name = "fused_epilogue_sm90_promoted",
      .device = fused_too.device,
      .dtypes = fused_too.dtypes,
      .multiples = fused_too.multiples,
      .prepare = fused_too.prepare,
      .refuses = fused_too.refuses,
      .expects = fused_too.expects,
  };
}

// cublasLt wants the scales of blocks in another order than they are stored in here, so that
// nothing is unfused there.
const ImplementationRegistration kFp8Registrations[]{
    {kGemmActivations, &unfused<Fp8Scales::kTensor>},
    {kGemmActivations, &unfused<Fp8Scales::kRow>},
    {kGemmActivations, &fused<Fp8Scales::kTensor, false>},
    {kGemmActivations, &promoted},
    {kGemmActivations, &fused<Fp8Scales::kRow, false>},
    {kGemmActivations, &fused<Fp8Scales::kBlock, true>}};

}  // namespace
}  // namespace fusegate::kernels
