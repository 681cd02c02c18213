// A gated MLP's backward pass and a step of training whose product dh has the unit's backward pass
// as its epilogue (gemm/sm90/backward_gemm.cuh): dh is no tensor, and a kernel less waits for
// memory. Else they are packed_pointwise and packed_keep (training_stages.h).
#include "kernels/activations/activations.h"
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
  stage.choice = backward_gemm_text(raster);
  stage.launch = make_backward_gemm_sm90(cuda, raster, activation, {dy, w_down, unit});
  return stage;
}

std::vector<MlpRung> rungs() {
  using A = Activation;
  return {{.operation = &A::mlp_backward,
           .name = "fused_epilogue",
           .pass = {.is_packed = true, .fused_dh = &fused_dh}},
          {.operation = &A::mlp_accumulate,
           .name = "fused_epilogue",
           .pass = {.adds = true, .is_packed = true, .fused_dh = &fused_dh}},
          {.operation = &A::mlp_training,
           .name = "fused_keep",
           .pass = {.trains = true, .is_packed = true, .fused_dh = &fused_dh}}};
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
          .expects = {Expectation{expected_mlp_pass(activation, rung.pass)}},
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
