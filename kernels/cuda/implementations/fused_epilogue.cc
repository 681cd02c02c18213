// fused_epilogue of a gated MLP: two kernels. One product with both the gate's and the up's
// weights, as they are stored, has the gated unit as its epilogue, so that g and u never reach
// device memory; then the down product, cublasLt's or our own. The pair that measures fastest is
// taken; stages' choices name each kernel's tiles or algorithm.
//
// _sm80 uses Ampere's instructions, on compute capability 8.0 and newer, _sm90 Hopper's. Without a
// suffix: _sm90 where its code runs, for few rows beside the products that stream weights; or the
// three kernels of packed_pointwise where they may be faster and are (may_be_three()). Else _sm80,
// for few rows beside the products that stream weights, for more the faster of it and four kernels
// with tuned matmuls; four kernels where sizes are not aligned.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/activations/activations.h"
#include "kernels/cuda/autotuning/autotune.h"
#include "kernels/cuda/autotuning/streamed_products.h"
#include "kernels/cuda/few_rows/few_rows_plan.h"
#include "kernels/cuda/gemm/sm80/gated_gemm.h"
#include "kernels/cuda/gemm/sm90/products.h"
#include "kernels/cuda/implementations/cuda_stages.h"
#include "kernels/cuda/implementations/expected_stages.h"

namespace fusegate::kernels {
namespace {

constexpr const char* kGate = "gate_proj";

// One preparation.
struct Mlp {
  const Activation& activation;
  CudaDevice& device;
  const Problem& problem;
  Inputs in;  // x, w_gate, w_up, w_down
  const Tensor& out;

  GpuLimits gpu() const { return device.limits(); }
  GatedOperands gated(const Tensor& h) const { return {in[0], in[1], in[2], h}; }
  bool is_sm90() const { return refuses_sm90(device).empty(); }
};

void add_tiled_sm80(const Mlp& mlp, const Tensor& h, std::vector<Candidate>& to) {
  for (const GatedGemmPlan& plan : gated_gemm_plans_sm80(gemm_size(mlp.in[0], h), mlp.gpu())) {
    prepare_gated_gemm_sm80(plan, mlp.activation, h.dtype);
    to.push_back({.name = plan_text(plan),
                  .launch = [plan, activation = mlp.activation, operands = mlp.gated(h),
                             stream = mlp.device.stream()] {
                    enqueue_gated_gemm_sm80(plan, activation, operands, stream);
                  }});
  }
}

void add_tiled_sm90(const Mlp& mlp, const Tensor& h, std::vector<Candidate>& to) {
  std::ranges::move(tiled_gated_sm90(mlp.device, mlp.activation, mlp.gated(h)),
                    std::back_inserter(to));
}

// Our own products, which start early: for few tiles, and for many rows.
void add_down_sm90(const Mlp& mlp, const Tensor& h, std::vector<Candidate>& to) {
  const Tensor& w = mlp.in[3];
  const GemmSize size = gemm_size(h, mlp.out);
  for (const std::size_t shape : split_gemm_shapes(size, h.dtype, mlp.gpu())) {
    to.push_back({.name = split_gemm_text(shape),
                  .launch = make_split_gemm_sm90(mlp.device, shape, h, w, mlp.out)});
  }
  if (is_wide_enough_sm90(size, mlp.gpu())) {
    const TileRaster raster = plan_wide_gemm_sm90(size, mlp.gpu());
    to.push_back({.name = wide_gemm_text(raster),
                  .launch = make_wide_gemm_sm90(mlp.device, raster, h, w, mlp.out)});
  }
}

bool has_few_rows(const Problem& problem) { return LadderProblem(problem).rows() <= kMostFewRows; }

// Two kernels for sm_80 or for sm_90; streamed: those that stream weights, too.
PreparedKernel prepare_two(const Mlp& mlp, bool for_sm90, bool streamed) {
  const auto& [activation, device, problem, in, out] = mlp;
  return fastest_mlp(activation, device, problem, in, out, [&](const Tensor& h) {
    MlpCandidates all;
    if (streamed) all.gate_up = streamed_gated(device, activation, mlp.gated(h));
    (for_sm90 ? add_tiled_sm90 : add_tiled_sm80)(mlp, h, all.gate_up);
    if (streamed || !for_sm90) all.down = streamed_matmul(device, h, in[3], out);
    if (for_sm90) add_down_sm90(mlp, h, all.down);
    all.library_down = CudaStages(device).matmul_candidates(h, in[3], out);
    return all;
  });
}

PreparedKernel prepare_for(bool sm90, const Activation& activation, Device& device,
                           const Problem& problem, Inputs in, const Tensor& out) {
  return prepare_two({activation, static_cast<CudaDevice&>(device), problem, in, out}, sm90, false);
}

bool is_aligned(const LadderProblem& problem) {
  return problem.dim % kGemmAlignment == 0 && problem.hidden % kGemmAlignment == 0;
}

PreparedKernel prepare_four(const Mlp& mlp) {
  CudaStages stages(mlp.device, MatmulChoice::kTuned);
  return gated_mlp_fused_pointwise(mlp.activation, stages, mlp.device, mlp.problem, mlp.in,
                                   mlp.out);
}

enum Composition : std::size_t { kTwo, kFour, kThree };  // kernels

// The pinned choices' composition, by the names of its stages.
std::optional<std::size_t> pinned_composition(const CudaDevice& device,
                                              const Activation& activation) {
  const auto& choices = device.pinned_choices().choices;
  if (choices.contains(activation.gate_up_stage())) return kTwo;
  if (choices.contains(kGate)) return kFour;
  if (choices.contains(kPackedGateUp)) return kThree;
  return std::nullopt;
}

PreparedKernel prepare_as(std::size_t composition, const Mlp& mlp) {
  switch (composition) {
    case kTwo:
      return prepare_two(mlp, mlp.is_sm90(), has_few_rows(mlp.problem));
    case kFour:
      return prepare_four(mlp);
    default:
      return packed_gated_mlp(mlp.activation, mlp.device, mlp.problem, mlp.in, mlp.out);
  }
}

// Two kernels or the others. _sm80's use mma.sync, which uses an A100's tensor cores fully and
// those of 9.0 and newer about half. Measured once per problem.
PreparedKernel prepare_two_or(std::size_t others, const Mlp& mlp) {
  CudaDevice& device = mlp.device;
  const auto pinned = pinned_composition(device, mlp.activation);
  if (pinned && device.pinned_choices().required) return prepare_as(*pinned, mlp);
  const std::string key =
      fmt::format("{}, {}: two kernels or more", mlp.activation.mlp(), problem_name(mlp.problem));
  std::optional<PreparedKernel> two, more;
  const TakenLaunch taken = measured_once(device, key, [&] {
    two = prepare_as(kTwo, mlp);
    more = prepare_as(others, mlp);
    const auto index = pinned ? std::optional<std::size_t>(*pinned == kTwo ? 0 : 1) : std::nullopt;
    return fastest(device, {[&] { two->launch(); }, [&] { more->launch(); }}, mlp.in[0], mlp.out,
                   index);
  });
  if (two) return std::move(taken.index == 0 ? *two : *more);
  return prepare_as(taken.index == 0 ? kTwo : others, mlp);
}

// Whether a library's product may be faster by more than its third kernel and g and u in memory
// cost. Not where calls are short: with few rows, weights that stay in the L2 take some 20 us. Nor
// with many rows: above 512 three kernels were the faster at one of 52 problems, by 1.1 % at most,
// and by mistake another was 3.7 % slower with them (docs/evidence/models.md).
bool may_be_three(const Mlp& mlp) {
  constexpr std::int64_t kMostRows = 512;
  const LadderProblem p(mlp.problem);
  const auto weights = static_cast<std::size_t>(3 * p.dim * p.hidden * 2);
  return p.rows() <= kMostRows && (p.rows() > kMostFewRows || weights > mlp.gpu().l2_bytes);
}

PreparedKernel prepare(const Activation& activation, Device& device, const Problem& problem,
                       Inputs in, const Tensor& out) {
  return fastest_fused_mlp(activation, static_cast<CudaDevice&>(device), problem, in, out);
}

const ImplementationRegistration chosen(kGemmActivations, [](const Activation& activation) {
  return Implementation{
      .operation = activation.mlp(),
      .name = "fused_epilogue",
      .device = "cuda",
      .dtypes = {Dtype::kBf16, Dtype::kFp16},
      .prepare = std::bind_front(&prepare, activation),
      .expects = expected_fastest_fused_mlp(activation),
      .compared_with = {"fused_pointwise", "packed_pointwise"},
  };
});

const ImplementationRegistration on_sm80(kGemmActivations, [](const Activation& activation) {
  return Implementation{
      .operation = activation.mlp(),
      .name = "fused_epilogue_sm80",
      .device = "cuda",
      .dtypes = {Dtype::kBf16, Dtype::kFp16},
      .multiples = {{"dim", kGemmAlignment}, {"hidden", kGemmAlignment}},
      .prepare = std::bind_front(&prepare_for, false, activation),
      .expects = {expected_epilogue_mlp(activation)},
      .compared_with = {"fused_pointwise"},
  };
});

const ImplementationRegistration on_sm90(kGemmActivations, [](const Activation& activation) {
  return Implementation{
      .operation = activation.mlp(),
      .name = "fused_epilogue_sm90",
      .device = "cuda",
      .dtypes = {Dtype::kBf16, Dtype::kFp16},
      .multiples = {{"dim", kGemmAlignment}, {"hidden", kGemmAlignment}},
      .prepare = std::bind_front(&prepare_for, true, activation),
      .refuses =
          [](const Device& device, const Problem&) {
            return refuses_sm90(static_cast<const CudaDevice&>(device));
          },
      .expects = {expected_epilogue_mlp(activation)},
  };
});

}  // namespace

PreparedKernel fastest_fused_mlp(const Activation& activation, CudaDevice& device,
                                 const Problem& problem, Inputs in, const Tensor& out) {
  const Mlp mlp{activation, device, problem, in, out};
  if (!is_aligned(problem)) return prepare_four(mlp);
  if (mlp.is_sm90()) return may_be_three(mlp) ? prepare_two_or(kThree, mlp) : prepare_as(kTwo, mlp);
  return has_few_rows(problem) ? prepare_as(kTwo, mlp) : prepare_two_or(kFour, mlp);
}

std::vector<Candidate> tiled_gated_sm90(CudaDevice& device, const Activation& activation,
                                        const GatedOperands& operands) {
  const GemmSize size = gemm_size(operands.x, operands.h);
  std::vector<Candidate> all;
  for (const GatedGemmPlan& plan : gated_gemm_plans_sm90(size, device.limits())) {
    all.push_back({.name = plan_text_sm90(plan),
                   .launch = make_gated_gemm_sm90(device, plan, activation, operands)});
  }
  if (operands.h.dtype != Dtype::kBf16) return all;
  for (const GatedGemmPlan& plan : swapped_gated_plans_sm90(size, device.limits())) {
    all.push_back({.name = swapped_text_sm90(plan),
                   .launch = make_swapped_gated_sm90(device, plan, activation, operands)});
  }
  if (is_wide_gated_worth(size, device.limits())) {
    const TileRaster raster = plan_wide_gated_sm90(size, device.limits());
    all.push_back({.name = wide_gated_text(raster, device.limits()),
                   .launch = make_wide_gated_sm90(device, raster, activation, operands)});
  }
  return all;
}

}  // namespace fusegate::kernels
