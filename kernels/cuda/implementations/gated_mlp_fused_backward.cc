// A gated MLP's backward pass and a step of training whose product dh has the unit's backward pass
// as its epilogue (gemm/sm90/backward_gemm.cuh): dh is no tensor, and a kernel less waits for
// memory. A step's first product likewise computes the unit, and keeps g and u
// (gemm/sm90/keeping_gated.cu). Else they are packed_pointwise and packed_keep
// (training_stages.h), whose two stages they take where these measure faster: with few rows.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/activations/activations.h"
#include "kernels/cuda/autotuning/autotune.h"
#include "kernels/cuda/gemm/sm90/products.h"
#include "kernels/cuda/implementations/cuda_stages.h"
#include "kernels/cuda/implementations/expected_training.h"
#include "kernels/operations/training_stages.h"

namespace fusegate::kernels {
namespace {

Stage fused_dh(CudaDevice& device, const Activation& activation, const Tensor& dy,
               const Tensor& w_down, const UnitBackward& unit) {
  const BackwardGemmPlan plan =
      plan_backward_gemm_sm90({dy.rows(), w_down.cols(), dy.cols()}, device.limits());
  Stage stage = dh_work(activation, dy, w_down, unit);
  stage.choice = backward_gemm_text(plan);
  stage.launch = make_backward_gemm_sm90(device, plan, activation, {dy, w_down, unit});
  return stage;
}

// The product that keeps g and u, as its epilogue computes h.
Stage fused_gate_up(CudaDevice& device, const Activation& activation, const KeptUnit& unit) {
  const GatedGemmPlan plan = plan_gated_gemm_sm90(
      {unit.x.rows(), unit.w_gate.rows(), unit.x.cols()}, device.limits(), kKeepingTileSm90);
  Stage stage = gate_up_work(activation, unit);
  stage.choice = "keeping_gated_sm90: " + plan_text_sm90(plan);
  stage.launch = make_keeping_gated_sm90(device, plan, activation, unit);
  return stage;
}

// The way that a pinned choice is of: fused or apart.
std::optional<std::size_t> pinned_index(const PinnedChoices& pinned, const Stage& fused,
                                        const std::vector<Stage>& apart) {
  if (pinned.choices.contains(fused.name)) return 0;
  if (pinned.choices.contains(apart.front().name)) return 1;
  return std::nullopt;
}

// The fused stage or the stages apart, which measure faster, once per sizes. x: what the first of
// them reads; out: what the last writes.
std::vector<Stage> faster_way(CudaDevice& device, const std::string& sizes, Stage fused,
                              std::vector<Stage> apart, const Tensor& x, const Tensor& out) {
  const auto pinned = pinned_index(device.pinned_choices(), fused, apart);
  const auto measure = [&] {
    const auto run_apart = [&] {
      for (const Stage& stage : apart) stage.launch();
    };
    return fastest(device, {fused.launch, run_apart}, x, out, pinned);
  };
  const TakenLaunch taken =
      pinned && device.pinned_choices().required
          ? TakenLaunch{*pinned}
          : measured_once(device, fused.name + ", " + sizes + ": fused or apart", measure);
  if (taken.index == 1) return apart;
  return {std::move(fused)};
}

std::vector<Stage> faster_gate_up(Device& device, const Activation& activation,
                                  const KeptUnit& unit, std::vector<Stage> apart) {
  auto& cuda = static_cast<CudaDevice&>(device);
  const std::string sizes = fmt::format("kept, {} x {} x {}, every {}", unit.x.rows(),
                                        unit.x.cols(), unit.h.cols(), unit.stride);
  return faster_way(cuda, sizes, fused_gate_up(cuda, activation, unit), std::move(apart), unit.x,
                    unit.h);
}

std::vector<Stage> faster_dh(Device& device, const Activation& activation, const Tensor& dy,
                             const Tensor& w_down, const UnitBackward& unit,
                             std::vector<Stage> apart) {
  auto& cuda = static_cast<CudaDevice&>(device);
  UnitBackward without_dh = unit;
  without_dh.dh = {};
  const std::string sizes =
      fmt::format("{} x {} x {}, every {}", dy.rows(), dy.cols(), w_down.cols(), unit.in_stride);
  return faster_way(cuda, sizes, fused_dh(cuda, activation, dy, w_down, without_dh),
                    std::move(apart), dy, unit.dh);
}

std::vector<MlpRung> rungs() {
  using A = Activation;
  return {{.operation = &A::mlp_backward,
           .name = "fused_epilogue",
           .pass = {.is_packed = true, .faster_dh = &faster_dh}},
          {.operation = &A::mlp_accumulate,
           .name = "fused_epilogue",
           .pass = {.adds = true, .is_packed = true, .faster_dh = &faster_dh}},
          {.operation = &A::mlp_training,
           .name = "fused_keep",
           .pass = {.trains = true,
                    .is_packed = true,
                    .faster_gate_up = &faster_gate_up,
                    .faster_dh = &faster_dh}}};
}

std::vector<Expectation> expectations(const Activation& activation, const MlpPass& pass) {
  std::vector<Expectation> all;
  for (const bool is_gate_up_fused : {true, false}) {
    if (is_gate_up_fused && !pass.faster_gate_up) continue;
    for (const bool is_dh_fused : {true, false}) {
      MlpPass one = pass;
      if (!is_gate_up_fused) one.faster_gate_up = nullptr;
      if (!is_dh_fused) one.faster_dh = nullptr;
      all.push_back({expected_mlp_pass(activation, one)});
    }
  }
  return all;
}

Implementation on_sm90(const Activation& activation, const MlpRung& rung) {
  return {.operation = (activation.*rung.operation)(),
          .name = rung.name,
          .device = "cuda",
          .dtypes = {Dtype::kBf16},
          .multiples = {{"dim", kGemmAlignment}, {"hidden", kGemmAlignment}},
          .prepare =
              [compose = mlp_pass(activation, rung.pass)](Device& device, const Problem& problem,
                                                          Inputs in, const Outputs& out) {
                CudaStages stages(device, MatmulChoice::kTuned);
                return compose(stages, device, problem, in, out);
              },
          .refuses =
              [](const Device& device, const Problem&) {
                return refuses_sm90(static_cast<const CudaDevice&>(device));
              },
          .expects = expectations(activation, rung.pass),
          .compared_with = {std::string(rung.pass.trains ? "packed_keep" : "packed_pointwise")}};
}

const bool registered = [] {
  for (const Activation& activation : kGemmActivations) {
    for (const MlpRung& rung : rungs()) ImplementationRegistration(on_sm90(activation, rung));
  }
  return true;
}();

}  // namespace
}  // namespace fusegate::kernels
