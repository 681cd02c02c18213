// fused_epilogue of a gated MLP: two kernels. One product with both the gate's and the up's
// weights, as they are stored, has the gated unit as its epilogue, so that g and u never reach
// device memory; then the down product, cublasLt's or our own. The pair that measures fastest is
// taken; stages' choices name each kernel's tiles or algorithm.
//
// _sm80 uses Ampere's instructions, on compute capability 8.0 and newer, _sm90 Hopper's. Without a
// suffix: for few rows the fastest of these and of the products that stream weights; for more rows
// _sm90 where its code runs, else the faster of _sm80 and four kernels with tuned matmuls; four
// kernels where sizes are not aligned.
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
#include "kernels/cuda/gemm/sm90/gated_gemm.h"
#include "kernels/cuda/gemm/sm90/split_gemm.h"
#include "kernels/cuda/gemm/sm90/wide_gemm.h"
#include "kernels/cuda/implementations/cuda_stages.h"
#include "kernels/cuda/implementations/expected_stages.h"

namespace fusegate::kernels {
namespace {

constexpr const char *kGate = "gate_proj", *kDown = "down_proj";

// in: x, w_gate, w_up.
std::vector<Candidate> tiled_sm80(CudaDevice& device, const Activation& activation, Inputs in,
                                  const Tensor& h) {
  std::vector<Candidate> tiled;
  for (const GatedGemmPlan& plan :
       gated_gemm_plans_sm80(gated_gemm_size(in[0], h), device.limits())) {
    prepare_gated_gemm_sm80(plan, activation, h.dtype);
    tiled.push_back({.name = plan_text(plan),
                     .launch = [plan, activation, operands = GatedOperands{in[0], in[1], in[2], h},
                                stream = device.stream()] {
                       enqueue_gated_gemm_sm80(plan, activation, operands, stream);
                     }});
  }
  return tiled;
}

std::vector<Candidate> tiled_sm90(CudaDevice& device, const Activation& activation, Inputs in,
                                  const Tensor& h) {
  std::vector<Candidate> tiled;
  for (const GatedGemmPlan& plan :
       gated_gemm_plans_sm90(gated_gemm_size(in[0], h), device.limits())) {
    tiled.push_back(
        {.name = plan_text_sm90(plan),
         .launch = make_gated_gemm_sm90(device, plan, activation, {in[0], in[1], in[2], h})});
  }
  return tiled;
}

// Our own products, which start early: for few tiles, and for many rows.
std::vector<Candidate> down_sm90(CudaDevice& device, const Tensor& h, const Tensor& w,
                                 const Tensor& out) {
  const GemmSize size{out.rows(), out.cols(), h.cols()};
  std::vector<Candidate> own;
  for (const std::size_t shape : split_gemm_shapes(size, device.limits())) {
    own.push_back(
        {.name = split_gemm_text(shape), .launch = make_split_gemm_sm90(device, shape, h, w, out)});
  }
  if (is_wide_enough_sm90(size, device.limits())) {
    const WideGemmPlan plan = plan_wide_gemm_sm90(size, device.limits());
    own.push_back(
        {.name = wide_gemm_text(plan), .launch = make_wide_gemm_sm90(device, plan, h, w, out)});
  }
  return own;
}

std::vector<Candidate> merged(std::vector<Candidate> all, std::vector<Candidate> more) {
  std::ranges::move(more, std::back_inserter(all));
  return all;
}

// An MLP of two kernels, under construction.
class TwoKernels {
 public:
  TwoKernels(CudaDevice& device, const Activation& activation, const Problem& problem, Inputs in,
             const Tensor& out)
      : device_(device),
        activation_(activation),
        problem_(problem_name(problem)),
        in_(in),
        out_(out),
        h_(kernel_.intermediate(device, {in[0].rows(), in[1].rows()}, problem.dtype)) {}

  const Tensor& h() const { return h_; }

  // Of the fastest pair of products. own: down products, beside cublasLt's candidates.
  PreparedKernel of_fastest(const std::vector<Candidate>& gate_up,
                            const std::vector<Candidate>& own) && {
    const std::vector<Candidate> library = CudaStages(device_).matmul_candidates(h_, in_[3], out_);
    const StageCandidates down{kDown, merged(own, library), library.size()};
    const TunedPair best = tune_pair(device_, {.work = problem_,
                                               .first = {activation_.gate_up_stage(), gate_up},
                                               .second = down,
                                               .x = in_[0],
                                               .between = h_,
                                               .out = out_});
    kernel_.stages = {
        chosen_stage(gate_up_work(activation_, in_[0], in_[1], in_[2], h_), gate_up, best.first),
        chosen_stage(matmul_work(kDown, h_, in_[3], out_), down.candidates, best.second)};
    return std::move(kernel_);
  }

 private:
  CudaDevice& device_;
  Activation activation_;
  std::string problem_;
  Inputs in_;
  Tensor out_;
  PreparedKernel kernel_;
  Tensor h_;
};

PreparedKernel prepare_sm80(const Activation& activation, Device& any_device,
                            const Problem& problem, Inputs in, const Tensor& out) {
  auto& device = static_cast<CudaDevice&>(any_device);
  TwoKernels made(device, activation, problem, in, out);
  return std::move(made).of_fastest(tiled_sm80(device, activation, in, made.h()),
                                    streamed_matmul(device, made.h(), in[3], out));
}

PreparedKernel prepare_sm90(const Activation& activation, Device& any_device,
                            const Problem& problem, Inputs in, const Tensor& out) {
  auto& device = static_cast<CudaDevice&>(any_device);
  TwoKernels made(device, activation, problem, in, out);
  return std::move(made).of_fastest(tiled_sm90(device, activation, in, made.h()),
                                    down_sm90(device, made.h(), in[3], out));
}

PreparedKernel prepare_few_rows(const Activation& activation, Device& any_device,
                                const Problem& problem, Inputs in, const Tensor& out) {
  auto& device = static_cast<CudaDevice&>(any_device);
  const bool is_sm90 = refuses_sm90(device).empty();
  TwoKernels made(device, activation, problem, in, out);
  const Tensor& h = made.h();
  return std::move(made).of_fastest(
      merged(
          streamed_gated(device, activation, {in[0], in[1], in[2], h}),
          is_sm90 ? tiled_sm90(device, activation, in, h) : tiled_sm80(device, activation, in, h)),
      merged(streamed_matmul(device, h, in[3], out),
             is_sm90 ? down_sm90(device, h, in[3], out) : std::vector<Candidate>()));
}

bool is_aligned(const LadderProblem& problem) {
  return problem.dim % kGatedGemmAlignment == 0 && problem.hidden % kGatedGemmAlignment == 0;
}

PreparedKernel prepare_four(const Activation& activation, Device& device, const Problem& problem,
                            Inputs in, const Tensor& out) {
  CudaStages stages(device, MatmulChoice::kTuned);
  return gated_mlp_fused_pointwise(activation, stages, device, problem, in, out);
}

enum Composition : std::size_t { kTwo, kFour };  // kernels

// The pinned choices' composition, by the names of its stages.
std::optional<std::size_t> pinned_composition(const CudaDevice& device,
                                              const Activation& activation) {
  const auto& choices = device.pinned_choices().choices;
  if (choices.contains(activation.gate_up_stage())) return kTwo;
  if (choices.contains(kGate)) return kFour;
  return std::nullopt;
}

// By mma.sync, which uses an A100's tensor cores fully and those of 9.0 and newer about half, or by
// the library's products. Measured once per problem.
PreparedKernel prepare_two_or_four(const Activation& activation, Device& any_device,
                                   const Problem& problem, Inputs in, const Tensor& out) {
  auto& device = static_cast<CudaDevice&>(any_device);
  const auto prepared = [&](std::size_t composition) {
    return composition == kTwo ? prepare_sm80(activation, device, problem, in, out)
                               : prepare_four(activation, device, problem, in, out);
  };
  const auto pinned = pinned_composition(device, activation);
  if (pinned && device.pinned_choices().required) return prepared(*pinned);
  const std::string key =
      fmt::format("{}, {}: two kernels or four", activation.mlp(), problem_name(problem));
  auto& choices = device.launch_choices();
  if (const auto known = choices.find(key); known != choices.end()) {
    return prepared(known->second.index);
  }
  PreparedKernel two = prepared(kTwo), four = prepared(kFour);
  const TakenLaunch taken =
      fastest(device, {[&] { two.launch(); }, [&] { four.launch(); }}, in[0], out, pinned);
  choices.emplace(key, taken);
  return std::move(taken.index == kTwo ? two : four);
}

PreparedKernel prepare(const Activation& activation, Device& device, const Problem& problem,
                       Inputs in, const Tensor& out) {
  if (!is_aligned(problem)) return prepare_four(activation, device, problem, in, out);
  if (LadderProblem(problem).rows() <= kMostFewRows) {
    return prepare_few_rows(activation, device, problem, in, out);
  }
  const bool is_sm90 = refuses_sm90(static_cast<const CudaDevice&>(device)).empty();
  return (is_sm90 ? prepare_sm90 : prepare_two_or_four)(activation, device, problem, in, out);
}

const ImplementationRegistration chosen(kGemmActivations, [](const Activation& activation) {
  return Implementation{
      .operation = activation.mlp(),
      .name = "fused_epilogue",
      .device = "cuda",
      .dtypes = {Dtype::kBf16, Dtype::kFp16},
      .prepare = std::bind_front(&prepare, activation),
      .expects = {expected_epilogue_mlp(activation), expected_pointwise_mlp(activation)},
      .compared_with = {"fused_pointwise", "packed_pointwise"},
  };
});

const ImplementationRegistration on_sm80(kGemmActivations, [](const Activation& activation) {
  return Implementation{
      .operation = activation.mlp(),
      .name = "fused_epilogue_sm80",
      .device = "cuda",
      .dtypes = {Dtype::kBf16, Dtype::kFp16},
      .multiples = {{"dim", kGatedGemmAlignment}, {"hidden", kGatedGemmAlignment}},
      .prepare = std::bind_front(&prepare_sm80, activation),
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
      .multiples = {{"dim", kGatedGemmAlignment}, {"hidden", kGatedGemmAlignment}},
      .prepare = std::bind_front(&prepare_sm90, activation),
      .refuses =
          [](const Device& device, const Problem&) {
            return refuses_sm90(static_cast<const CudaDevice&>(device));
          },
      .expects = {expected_epilogue_mlp(activation)},
  };
});

}  // namespace
}  // namespace fusegate::kernels
