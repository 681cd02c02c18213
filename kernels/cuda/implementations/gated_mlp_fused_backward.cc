// A gated MLP's backward pass and a step of training whose product dh has the unit's backward pass
// as its epilogue (gemm/sm90/backward_gemm.cuh): dh is no tensor, and a kernel less waits for
// memory. Else they are packed_pointwise and packed_keep (training_stages.h), whose two stages they
// take where these measure faster: with few rows, and where k is so long that a library's product
// gains more than the unit's pass costs.
#include <fmt/format.h>

#include <optional>
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

Stage fused_dh(Device& device, const Activation& activation, const Tensor& dy, const Tensor& w_down,
               const UnitBackward& unit) {
  auto& cuda = static_cast<CudaDevice&>(device);
  const TileRaster raster =
      plan_backward_gemm_sm90({dy.rows(), w_down.cols(), dy.cols()}, cuda.limits());
  Stage stage = dh_work(activation, dy, w_down, unit);
  constexpr std::size_t kRing = 0;
  stage.choice = backward_gemm_text(raster, kRing);
  stage.launch = make_backward_gemm_sm90(cuda, raster, activation, {dy, w_down, unit}, kRing);
  return stage;
}

// The stage that a pinned choice is of.
std::optional<std::size_t> pinned_index(const CudaDevice& device, const Activation& activation) {
  const auto& choices = device.pinned_choices().choices;
  if (choices.contains(activation.dh_stage())) return 0;
  if (choices.contains("dh")) return 1;
  return std::nullopt;
}

// Measured once per problem.
std::vector<Stage> faster_dh(Device& device, const Activation& activation, const Tensor& dy,
                             const Tensor& w_down, const UnitBackward& unit,
                             std::vector<Stage> apart) {
  auto& cuda = static_cast<CudaDevice&>(device);
  UnitBackward without_dh = unit;
  without_dh.dh = {};
  Stage fused = fused_dh(device, activation, dy, w_down, without_dh);
  const auto pinned = pinned_index(cuda, activation);
  const std::string key =
      fmt::format("{}, {} x {} x {}, every {}: with dh's product or apart", fused.name, dy.rows(),
                  dy.cols(), w_down.cols(), unit.in_stride);
  const auto measure = [&] {
    const auto run_apart = [&] {
      for (const Stage& stage : apart) stage.launch();
    };
    return fastest(cuda, {fused.launch, run_apart}, dy, unit.dh, pinned);
  };
  const TakenLaunch taken = pinned && cuda.pinned_choices().required
                                ? TakenLaunch{*pinned}
                                : measured_once(cuda, key, measure);
  if (taken.index == 1) return apart;
  return {std::move(fused)};
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
           .pass = {.trains = true, .is_packed = true, .faster_dh = &faster_dh}}};
}

std::vector<Expectation> expectations(const Activation& activation, const MlpPass& pass) {
  MlpPass apart = pass;
  apart.faster_dh = nullptr;
  return {Expectation{expected_mlp_pass(activation, pass)},
          Expectation{expected_mlp_pass(activation, apart)}};
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
