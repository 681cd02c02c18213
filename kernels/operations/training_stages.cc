#include "kernels/operations/training_stages.h"

#include <functional>
#include <utility>

namespace fusegate::kernels {
namespace {

// A backward pass's tensors by name; of the forward pass alone the first four count.
struct Mlp {
  Tensor x, w_gate, w_up, w_down, dy;
  Tensor dx, dw_gate, dw_up, dw_down;

  Mlp(Inputs in, std::span<const Tensor> out)
      : x(in[0]),
        w_gate(in[1]),
        w_up(in[2]),
        w_down(in[3]),
        dy(in[4]),
        dx(out[0]),
        dw_gate(out[1]),
        dw_up(out[2]),
        dw_down(out[3]) {}
};

struct Pair {
  Tensor gate, up;
};

// Two [M, hidden] tensors in one, in the order of dw_gate and dw_up in memory, so that both
// products with x are at the same distances from each other (StageLibrary::products).
Pair gate_and_up(PreparedKernel& kernel, Device& device, const LadderProblem& p, const Mlp& mlp) {
  const Tensor both = kernel.intermediate(device, {2 * p.rows(), p.hidden}, p.dtype);
  const Tensor first{both.data, {p.rows(), p.hidden}, p.dtype};
  const Tensor second{static_cast<std::byte*>(both.data) + first.bytes(), first.shape, p.dtype};
  if (std::less<>()(mlp.dw_gate.data, mlp.dw_up.data)) return {first, second};
  return {second, first};
}

Stage named(std::string name, Stage stage) {
  stage.name = std::move(name);
  return stage;
}

Stage weight_gradient(StageLibrary& stages, std::string name, const Tensor& d, const Tensor& x,
                      const Tensor& dw) {
  return stages.product(std::move(name), {.a = d, .b = x, .out = dw, .a_transposed = true});
}

void append_dh(PreparedKernel& kernel, StageLibrary& stages, const Mlp& mlp, const Tensor& dh) {
  kernel.stages.push_back(stages.product("dh", {.a = mlp.dy, .b = mlp.w_down, .out = dh}));
}

void append_dx(PreparedKernel& kernel, StageLibrary& stages, const Mlp& mlp, const Pair& d) {
  kernel.stages.push_back(stages.product("dx_gate", {.a = d.gate, .b = mlp.w_gate, .out = mlp.dx}));
  kernel.stages.push_back(
      stages.product("dx_up", {.a = d.up, .b = mlp.w_up, .out = mlp.dx, .adds = true}));
}

void append_forward_products(PreparedKernel& kernel, StageLibrary& stages, const Mlp& mlp,
                             const Pair& gu, const std::string& suffix = "") {
  kernel.stages.push_back(stages.matmul("gate_proj" + suffix, mlp.x, mlp.w_gate, nullptr, gu.gate));
  kernel.stages.push_back(stages.matmul("up_proj" + suffix, mlp.x, mlp.w_up, nullptr, gu.up));
}

// The stages of a unit's backward pass that come after activated, which holds activation(g).
void append_unit_backward(PreparedKernel& kernel, const Activation& activation,
                          StageLibrary& stages, Device& device, const UnitBackward& unit,
                          const Tensor& activated) {
  const Tensor d_activated = kernel.intermediate(device, unit.dh.shape, unit.dh.dtype);
  kernel.stages.push_back(named("du", stages.mul(activated, unit.dh, unit.du)));
  kernel.stages.push_back(named("d_activated", stages.mul(unit.u, unit.dh, d_activated)));
  kernel.stages.push_back(stages.activate_backward(activation, unit.g, d_activated, unit.dg));
}

// All of it after g, u, activated and h.
void append_unfused(PreparedKernel& kernel, const Activation& activation, StageLibrary& stages,
                    Device& device, const Mlp& mlp, const Pair& gu, const Tensor& activated,
                    const Tensor& h) {
  const auto take = [&] { return kernel.intermediate(device, h.shape, h.dtype); };
  const Tensor dh = take();
  const Pair d{take(), take()};
  append_dh(kernel, stages, mlp, dh);
  kernel.stages.push_back(weight_gradient(stages, "dw_down", mlp.dy, h, mlp.dw_down));
  append_unit_backward(kernel, activation, stages, device,
                       {.g = gu.gate, .u = gu.up, .dh = dh, .dg = d.gate, .du = d.up}, activated);
  kernel.stages.push_back(weight_gradient(stages, "dw_gate", d.gate, mlp.x, mlp.dw_gate));
  kernel.stages.push_back(weight_gradient(stages, "dw_up", d.up, mlp.x, mlp.dw_up));
  append_dx(kernel, stages, mlp, d);
}

// The same after g and u, in 4 stages more than dh's; h takes dh's place.
void append_fused(PreparedKernel& kernel, const Activation& activation, StageLibrary& stages,
                  const Mlp& mlp, const Pair& gu, const Pair& d, const Tensor& dh) {
  append_dh(kernel, stages, mlp, dh);
  kernel.stages.push_back(stages.gate_backward(
      activation, {.g = gu.gate, .u = gu.up, .dh = dh, .dg = d.gate, .du = d.up, .h = dh}));
  kernel.stages.push_back(weight_gradient(stages, "dw_down", mlp.dy, dh, mlp.dw_down));
  kernel.stages.push_back(stages.products(
      "dw_gate_up", {.a = d.gate, .b = mlp.x, .out = mlp.dw_gate, .a_transposed = true},
      {.a = d.up, .b = mlp.x, .out = mlp.dw_up, .a_transposed = true}));
  append_dx(kernel, stages, mlp, d);
}

// keep and recompute.
PreparedKernel training(const Activation& activation, StageLibrary& stages, Device& device,
                        const LadderProblem& p, Inputs in, const Outputs& out,
                        bool computes_again) {
  PreparedKernel kernel;
  const Mlp mlp(in, out.subspan(1));
  const Pair gu = gate_and_up(kernel, device, p, mlp);
  const Tensor h = kernel.intermediate(device, {p.rows(), p.hidden}, p.dtype);
  append_forward_products(kernel, stages, mlp, gu);
  kernel.stages.push_back(stages.gate(activation, gu.gate, gu.up, h));
  kernel.stages.push_back(stages.matmul("down_proj", h, mlp.w_down, nullptr, out[0]));
  if (computes_again) append_forward_products(kernel, stages, mlp, gu, "_again");
  append_fused(kernel, activation, stages, mlp, gu, gu, h);
  return kernel;
}

}  // namespace

PreparedKernel gated_backward_unfused(const Activation& activation, StageLibrary& stages,
                                      Device& device, const Problem&, Inputs in,
                                      const Outputs& out) {
  PreparedKernel kernel;
  const Tensor activated = kernel.intermediate(device, in[0].shape, in[0].dtype);
  kernel.stages.push_back(stages.activate(activation, in[0], activated));
  append_unit_backward(kernel, activation, stages, device,
                       {.g = in[0], .u = in[1], .dh = in[2], .dg = out[0], .du = out[1]},
                       activated);
  return kernel;
}

PreparedKernel gated_backward_fused(const Activation& activation, StageLibrary& stages, Device&,
                                    const Problem&, Inputs in, const Outputs& out) {
  return {.stages = {stages.gate_backward(
              activation, {.g = in[0], .u = in[1], .dh = in[2], .dg = out[0], .du = out[1]})}};
}

PreparedKernel gated_mlp_backward_unfused(const Activation& activation, StageLibrary& stages,
                                          Device& device, const Problem&, Inputs in,
                                          const Outputs& out) {
  PreparedKernel kernel;
  const Pair gu{in[5], in[6]};
  const auto take = [&] { return kernel.intermediate(device, gu.gate.shape, gu.gate.dtype); };
  const Tensor activated = take(), h = take();
  kernel.stages.push_back(stages.activate(activation, gu.gate, activated));
  kernel.stages.push_back(stages.mul(activated, gu.up, h));
  append_unfused(kernel, activation, stages, device, Mlp(in, out), gu, activated, h);
  return kernel;
}

PreparedKernel gated_mlp_backward_fused_pointwise(const Activation& activation,
                                                  StageLibrary& stages, Device& device,
                                                  const Problem& problem, Inputs in,
                                                  const Outputs& out) {
  PreparedKernel kernel;
  const Mlp mlp(in, out);
  const Pair d = gate_and_up(kernel, device, problem, mlp);
  const Tensor dh = kernel.intermediate(device, in[5].shape, in[5].dtype);
  append_fused(kernel, activation, stages, mlp, {in[5], in[6]}, d, dh);
  return kernel;
}

PreparedKernel gated_mlp_training_unfused(const Activation& activation, StageLibrary& stages,
                                          Device& device, const Problem& problem, Inputs in,
                                          const Outputs& out) {
  PreparedKernel kernel;
  const LadderProblem p = problem;
  const Mlp mlp(in, out.subspan(1));
  const auto take = [&] { return kernel.intermediate(device, {p.rows(), p.hidden}, p.dtype); };
  const Pair gu{take(), take()};
  const Tensor activated = take(), h = take();
  append_forward_products(kernel, stages, mlp, gu);
  kernel.stages.push_back(stages.activate(activation, gu.gate, activated));
  kernel.stages.push_back(stages.mul(activated, gu.up, h));
  kernel.stages.push_back(stages.matmul("down_proj", h, mlp.w_down, nullptr, out[0]));
  append_unfused(kernel, activation, stages, device, mlp, gu, activated, h);
  return kernel;
}

PreparedKernel gated_mlp_training_keep(const Activation& activation, StageLibrary& stages,
                                       Device& device, const Problem& problem, Inputs in,
                                       const Outputs& out) {
  return training(activation, stages, device, problem, in, out, false);
}

PreparedKernel gated_mlp_training_recompute(const Activation& activation, StageLibrary& stages,
                                            Device& device, const Problem& problem, Inputs in,
                                            const Outputs& out) {
  return training(activation, stages, device, problem, in, out, true);
}

}  // namespace fusegate::kernels
