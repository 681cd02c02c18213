#include "kernels/cuda/implementations/cuda_stages.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kernels/cuda/planted/planted_change.h"
#include "kernels/cuda/pointwise/pointwise.h"

namespace fusegate::kernels {
namespace {

// The stage with the choice, its note and the chosen candidate's launch.
Stage chosen_stage(Stage work, const std::vector<Candidate>& candidates, const TunedStage& result) {
  work.choice = result.choice;
  work.note = result.note;
  work.launch = candidates[result.taken].launch;
  return work;
}

// The largest power of two up to 256 that divides the tensor's address.
std::uint32_t alignment_of(const Tensor& tensor) {
  const std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(tensor.data) | 256;
  return static_cast<std::uint32_t>(bits & (~bits + 1));
}

}  // namespace

Stage CudaStages::matmul(std::string name, const Tensor& x, const Tensor& w, const Tensor* bias,
                         const Tensor& out) {
  return chosen_matmul(matmul_work(std::move(name), x, w, out, bias), lt_matmul(x, bias, out),
                       {x, w, out});
}

Stage CudaStages::scaled_matmul(std::string name, const Tensor& x, const Tensor& w,
                                const Tensor& out, const LtScales& scales) {
  return chosen_matmul(matmul_work(std::move(name), x, w, out), lt_matmul(x, nullptr, out, scales),
                       {x, w, out});
}

// What adds is not tuned, which would leave its sums added to.
Stage CudaStages::chosen_matmul(Stage work, const std::shared_ptr<LtMatmul>& matmul,
                                const Product& product) {
  const Tensor &a = product.a, &b = product.b, &out = product.out;
  if (choice_ == MatmulChoice::kTuned && !product.adds) {
    const TunedMatmul tuned = tune(device_, work.name, *matmul, a, b, out);
    work.choice = tuned.choice;
    work.note = tuned.note;
  } else {
    work.choice = matmul->algorithm();
  }
  work.launch = [matmul, a, b, out] { matmul->enqueue(a.data, b.data, out.data); };
  return work;
}

std::vector<Candidate> CudaStages::matmul_candidates(const Tensor& x, const Tensor& w,
                                                     const Tensor& out, const LtScales& scales) {
  const std::shared_ptr<const LtMatmul> product = lt_matmul(x, nullptr, out, scales);
  std::vector<Candidate> candidates = lt_candidates(*product, x, w, out);
  for (Candidate& candidate : candidates) {
    candidate.launch = [product, launch = std::move(candidate.launch)] { launch(); };
  }
  return candidates;
}

std::shared_ptr<LtMatmul> CudaStages::lt_matmul(const Tensor& x, const Tensor* bias,
                                                const Tensor& out, const LtScales& scales) {
  auto product = std::make_shared<LtMatmul>(
      device_.lt(), LtMatmulShape{.m = out.rows(),
                                  .n = out.cols(),
                                  .k = x.cols(),
                                  .type = cuda_data_type(x.dtype),
                                  .out_type = cuda_data_type(out.dtype),
                                  .bias = bias != nullptr ? bias->data : nullptr,
                                  .scales = scales});
  if constexpr (kPlantedChange == PlantedChange::kOtherAlgorithm) {
    product->use(product->candidates(2).back());
  }
  return product;
}

Stage CudaStages::bias_add(const Tensor& x, const Tensor& bias, const Tensor& out) {
  Stage stage = pointwise_work("bias_add", 1, {&x, &bias}, out);
  stage.launch = [=, stream = device_.stream()] { enqueue_bias_add(x, bias, out, stream); };
  return stage;
}

Stage CudaStages::activate(const Activation& activation, const Tensor& x, const Tensor& out) {
  Stage stage = pointwise_work(std::string(activation.stage), activation.flops, {&x}, out);
  stage.launch = [=, stream = device_.stream()] { enqueue_activation(activation, x, out, stream); };
  return stage;
}

Stage CudaStages::mul(const Tensor& a, const Tensor& b, const Tensor& out) {
  Stage stage = pointwise_work("mul", 1, {&a, &b}, out);
  stage.launch = [=, stream = device_.stream()] { enqueue_mul(a, b, out, stream); };
  return stage;
}

Stage CudaStages::gate(const Activation& activation, const Tensor& g, const Tensor& u,
                       const Tensor& out) {
  Stage stage = gated_work(activation, {&g, &u}, out);
  stage.launch = [=, stream = device_.stream()] {
    if constexpr (kPlantedChange == PlantedChange::kExtraLaunch) {
      enqueue_activation(activation, g, out, stream);
      enqueue_mul(out, u, out, stream);
    } else {
      if constexpr (kPlantedChange == PlantedChange::kHostDelay) dawdle();
      enqueue_gated(activation, g, u, out, stream);
    }
  };
  return stage;
}

Stage CudaStages::product(std::string name, const Product& product) {
  return lt_stage(product_work(std::move(name), product), product);
}

Stage CudaStages::lt_stage(Stage work, const Product& product) {
  const auto& [a, b, out, a_transposed, b_transposed, adds, a_stride] = product;
  const LtAlignment alignment{.x = alignment_of(a), .w = alignment_of(b), .out = alignment_of(out)};
  const auto matmul =
      std::make_shared<LtMatmul>(device_.lt(), LtMatmulShape{.m = out.rows(),
                                                             .n = out.cols(),
                                                             .k = product.k(),
                                                             .type = cuda_data_type(a.dtype),
                                                             .out_type = cuda_data_type(out.dtype),
                                                             .x_transposed = a_transposed,
                                                             .w_plain = !b_transposed,
                                                             .adds = adds,
                                                             .x_stride = a_stride,
                                                             .alignment = alignment});
  return chosen_matmul(std::move(work), matmul, product);
}

Stage CudaStages::activate_backward(const Activation& activation, const Tensor& g, const Tensor& d,
                                    const Tensor& out) {
  Stage stage = activate_backward_work(activation, g, d, out);
  stage.launch = [=, stream = device_.stream()] {
    enqueue_activation_backward(activation, g, d, out, stream);
  };
  return stage;
}

Stage CudaStages::gate_backward(const Activation& activation, const UnitBackward& unit) {
  Stage stage = gated_backward_work(activation, unit);
  stage.launch = [=, stream = device_.stream()] {
    enqueue_gated_backward(activation, unit, stream);
  };
  return stage;
}

Stage CudaStages::packed_gate(const Activation& activation, const Tensor& gu, const Tensor& out) {
  Stage stage = gated_work(activation, {&gu}, out);
  stage.launch = [=, stream = device_.stream()] {
    enqueue_packed_gated(activation, gu, out, stream);
  };
  return stage;
}

PreparedKernel fastest_mlp(const Activation& activation, CudaDevice& device, const Problem& problem,
                           Inputs in, const Tensor& out,
                           const std::function<MlpCandidates(const Tensor& h)>& candidates) {
  PreparedKernel kernel;
  const Tensor h = kernel.intermediate(device, {out.rows(), in[1].rows()}, problem.dtype);
  auto [gate_up, down, library] = candidates(h);
  const std::size_t of_library = library.size();
  std::ranges::move(library, std::back_inserter(down));
  const Stage first = gate_up_work(activation, in[0], in[1], in[2], h);
  const Stage second = matmul_work("down_proj", h, in[3], out);
  const TunedPair best = tune_pair(device, {.work = problem_name(problem),
                                            .first = {first.name, gate_up},
                                            .second = {second.name, down, of_library},
                                            .x = in[0],
                                            .between = h,
                                            .out = out});
  kernel.stages = {chosen_stage(first, gate_up, best.first),
                   chosen_stage(second, down, best.second)};
  return kernel;
}

}  // namespace fusegate::kernels
