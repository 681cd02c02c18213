#include "kernels/operations/stages.h"

#include <utility>

namespace fusegate::kernels {
namespace {

// The intermediates of a gated MLP, named as its operation names its parts.
struct MlpTensors {
  Tensor g, u, h;
};

MlpTensors mlp_tensors(PreparedKernel& kernel, Device& device, const LadderProblem& p) {
  const auto take = [&] { return kernel.intermediate(device, {p.rows(), p.hidden}, p.dtype); };
  return {.g = take(), .u = take(), .h = take()};
}

}  // namespace

Stage gated_work(const Activation& activation, std::initializer_list<const Tensor*> inputs,
                 const Tensor& out) {
  return pointwise_work(activation.gated_stage(), activation.flops + 1, inputs, out);
}

Stage gate_up_work(const Activation& activation, const Tensor& x, const Tensor& w_gate,
                   const Tensor& w_up, const Tensor& h) {
  Stage stage = matmul_work(activation.gate_up_stage(), x, w_gate, h);
  stage.flops +=
      matmul_work("", x, w_up, h).flops + (activation.flops + 1) * static_cast<double>(h.count());
  stage.min_bytes += static_cast<double>(w_up.bytes());
  return stage;
}

Stage gate_up_work(const Activation& activation, const KeptUnit& unit) {
  Stage stage = gate_up_work(activation, unit.x, unit.w_gate, unit.w_up, unit.h);
  stage.min_bytes += static_cast<double>(unit.g.bytes() + unit.u.bytes());
  return stage;
}

Stage activate_backward_work(const Activation& activation, const Tensor& g, const Tensor& d,
                             const Tensor& out) {
  return pointwise_work(activation.backward_stage(), activation.slope_flops + 1, {&g, &d}, out);
}

Stage gated_backward_work(const Activation& activation, const UnitBackward& unit) {
  const double flops = activation.flops + activation.slope_flops + 3 + (unit.h ? 1 : 0);
  Stage stage = pointwise_work(activation.gated_backward_stage(), flops,
                               {&unit.g, &unit.u, &unit.dh}, unit.dg);
  stage.min_bytes += static_cast<double>(unit.du.bytes() + (unit.h ? unit.h->bytes() : 0));
  return stage;
}

Stage dh_work(const Activation& activation, const Tensor& dy, const Tensor& w_down,
              const UnitBackward& unit) {
  Stage stage = gated_backward_work(activation, unit);
  const Stage product = product_work("", {.a = dy, .b = w_down, .out = unit.dg});
  stage.name = activation.dh_stage();
  stage.flops += product.flops;
  // dh stays in registers, whether or not the unit has a tensor of it.
  stage.min_bytes -= static_cast<double>(unit.dh.bytes());
  stage.min_bytes += static_cast<double>(dy.bytes() + w_down.bytes());
  return stage;
}

Stage product_work(std::string name, const Product& product) {
  const auto& [a, b, out, a_transposed, b_transposed, adds, a_stride] = product;
  const double elements = static_cast<double>(out.count()), k = static_cast<double>(product.k());
  return {.name = std::move(name),
          .flops = elements * (2 * k + (adds ? 1 : 0)),
          .min_bytes = static_cast<double>(a.bytes() + b.bytes() + out.bytes() * (adds ? 2 : 1))};
}

Stage StageLibrary::products(const std::string& name, const Product& first, const Product& second) {
  Stage stage = product(name, first);
  const Stage other = product(name, second);
  stage.flops += other.flops;
  stage.min_bytes += other.min_bytes;
  stage.launch = [one = std::move(stage.launch), two = other.launch] {
    one();
    two();
  };
  return stage;
}

PreparedKernel linear_addmm(StageLibrary& stages, Device&, const Problem&, Inputs in,
                            const Tensor& out) {
  return {.stages = {stages.matmul("addmm", in[0], in[1], &in[2], out)}};
}

PreparedKernel linear_matmul_add(StageLibrary& stages, Device& device, const Problem&, Inputs in,
                                 const Tensor& out) {
  PreparedKernel kernel;
  const Tensor product = kernel.intermediate(device, out.shape, out.dtype);
  kernel.stages.push_back(stages.matmul("matmul", in[0], in[1], nullptr, product));
  kernel.stages.push_back(stages.bias_add(product, in[2], out));
  return kernel;
}

PreparedKernel gated_unfused(const Activation& activation, StageLibrary& stages, Device& device,
                             const Problem&, Inputs in, const Tensor& out) {
  PreparedKernel kernel;
  const Tensor activated = kernel.intermediate(device, out.shape, out.dtype);
  kernel.stages.push_back(stages.activate(activation, in[0], activated));
  kernel.stages.push_back(stages.mul(activated, in[1], out));
  return kernel;
}

PreparedKernel gated_fused(const Activation& activation, StageLibrary& stages, Device&,
                           const Problem&, Inputs in, const Tensor& out) {
  return {.stages = {stages.gate(activation, in[0], in[1], out)}};
}

PreparedKernel gated_mlp_unfused(const Activation& activation, StageLibrary& stages, Device& device,
                                 const Problem& problem, Inputs in, const Tensor& out) {
  PreparedKernel kernel;
  const MlpTensors t = mlp_tensors(kernel, device, problem);
  const Tensor activated = kernel.intermediate(device, t.g.shape, t.g.dtype);
  kernel.stages.push_back(stages.matmul("gate_proj", in[0], in[1], nullptr, t.g));
  kernel.stages.push_back(stages.matmul("up_proj", in[0], in[2], nullptr, t.u));
  kernel.stages.push_back(stages.activate(activation, t.g, activated));
  kernel.stages.push_back(stages.mul(activated, t.u, t.h));
  kernel.stages.push_back(stages.matmul("down_proj", t.h, in[3], nullptr, out));
  return kernel;
}

PreparedKernel gated_mlp_fused_pointwise(const Activation& activation, StageLibrary& stages,
                                         Device& device, const Problem& problem, Inputs in,
                                         const Tensor& out) {
  PreparedKernel kernel;
  const MlpTensors t = mlp_tensors(kernel, device, problem);
  kernel.stages.push_back(stages.matmul("gate_proj", in[0], in[1], nullptr, t.g));
  kernel.stages.push_back(stages.matmul("up_proj", in[0], in[2], nullptr, t.u));
  kernel.stages.push_back(stages.gate(activation, t.g, t.u, t.h));
  kernel.stages.push_back(stages.matmul("down_proj", t.h, in[3], nullptr, out));
  return kernel;
}

}  // namespace fusegate::kernels
