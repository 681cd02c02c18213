#include "kernels/operations/training_stages.h"

#include <functional>
#include <utility>

namespace fusegate::kernels {
namespace {

// gate and up, or their derivatives.
struct Pair {
  Tensor gate, up;
  std::int64_t stride = 0;  // of their rows, where they lie side by side
  Tensor both = {};         // [M, 2 hidden] then
};

std::byte* behind(const Tensor& tensor, std::int64_t elements) {
  return static_cast<std::byte*>(tensor.data) +
         elements * static_cast<std::int64_t>(dtype_bytes(tensor.dtype));
}

Stage named(std::string name, Stage stage) {
  stage.name = std::move(name);
  return stage;
}

// The stages of a unit's backward pass that come after activated, which holds activation(g).
void append_unit_backward(PreparedKernel& kernel, const Activation& activation,
                          StageLibrary& stages, const UnitBackward& unit, const Tensor& activated,
                          const Tensor& d_activated) {
  kernel.stages.push_back(named("du", stages.mul(activated, unit.dh, unit.du)));
  kernel.stages.push_back(named("d_activated", stages.mul(unit.u, unit.dh, d_activated)));
  kernel.stages.push_back(stages.activate_backward(activation, unit.g, d_activated, unit.dg));
}

// Composes a pass of the MLP's stages, each by a function that appends it.
class Composer {
 public:
  Composer(const Activation& activation, const MlpPass& pass, StageLibrary& stages, Device& device,
           const LadderProblem& p)
      : activation_(activation), pass_(pass), stages_(stages), device_(device), p_(p) {}

  PreparedKernel unfused(Inputs in, const Outputs& out);
  PreparedKernel fused(Inputs in, const Outputs& out);

 private:
  void name_tensors(Inputs in, const Outputs& out);
  Tensor take(std::int64_t tensors = 1);
  Pair take_pair();
  void pack_weights();
  void keep(int tensors) {
    kernel_.kept_bytes = tensors * Tensor{nullptr, {p_.rows(), p_.hidden}, p_.dtype}.bytes();
  }
  void append(Stage stage) { kernel_.stages.push_back(std::move(stage)); }

  void append_gate_and_up(const Pair& gu, const std::string& suffix = "");
  void append_gate(const Pair& gu, const Tensor& h);
  void append_kept_unit(const Pair& gu, const Tensor& h);
  void append_down(const Tensor& h) {
    append(stages_.matmul("down_proj", h, w_down_, nullptr, y_));
  }
  void append_dh(const Tensor& dh) {
    append(stages_.product("dh", {.a = dy_, .b = w_down_, .out = dh}));
  }
  // dh's product and what follows of it.
  void append_unit(const UnitBackward& unit, const Pair& d) {
    std::vector<Stage> apart{stages_.product("dh", {.a = dy_, .b = w_down_, .out = unit.dh}),
                             stages_.gate_backward(activation_, unit)};
    if (pass_.faster_dh) {
      apart = pass_.faster_dh(device_, activation_, dy_, w_down_, unit, std::move(apart));
      // Where d overwrites g and u, each run has computed from what the last one left.
      device_.fill(d.both, Fill::uniform(1), 1);
    }
    for (Stage& stage : apart) append(std::move(stage));
  }
  Product weight_gradient(const Tensor& d, const Tensor& of, const Tensor& dw,
                          std::int64_t stride = 0) const {
    return {
        .a = d, .b = of, .out = dw, .a_transposed = true, .adds = pass_.adds, .a_stride = stride};
  }
  void append_dw(std::string name, const Tensor& d, const Tensor& of, const Tensor& dw) {
    append(stages_.product(std::move(name), weight_gradient(d, of, dw)));
  }
  void append_dx(const Pair& d);

  const Activation& activation_;
  const MlpPass& pass_;
  StageLibrary& stages_;
  Device& device_;
  LadderProblem p_;
  PreparedKernel kernel_;
  Tensor x_, w_gate_, w_up_, w_down_, dy_, w_gate_up_;
  Tensor y_, dx_, dw_gate_, dw_up_, dw_down_;
};

void Composer::name_tensors(Inputs in, const Outputs& out) {
  x_ = in[0];
  w_gate_ = in[1];
  w_up_ = in[2];
  w_down_ = in[3];
  dy_ = in[4];
  if (pass_.trains) y_ = out[0];
  const auto of_backward = out.subspan(pass_.trains ? 1 : 0);
  dx_ = of_backward[0];
  dw_gate_ = of_backward[1];
  dw_up_ = of_backward[2];
  dw_down_ = of_backward[3];
}

// Packed products are autotuned where the device can, for which operands must hold numbers.
Tensor Composer::take(std::int64_t tensors) {
  const Tensor taken = kernel_.intermediate(device_, {p_.rows(), tensors * p_.hidden}, p_.dtype);
  if (pass_.is_packed) device_.fill(taken, Fill::uniform(1), 1);
  return taken;
}

// Side by side where the pass is packed; else one after the other in the order of dw_gate and dw_up
// in memory, so that both products with x are at the same distances (StageLibrary::products).
Pair Composer::take_pair() {
  const std::vector<std::int64_t> half{p_.rows(), p_.hidden};
  if (pass_.is_packed) {
    const Tensor both = take(2);
    return {{both.data, half, p_.dtype},
            {behind(both, p_.hidden), half, p_.dtype},
            2 * p_.hidden,
            both};
  }
  // The second begins where a tensor of its own could.
  constexpr std::int64_t kAligned = 256;
  const std::int64_t count = (p_.rows() * p_.hidden + kAligned - 1) / kAligned * kAligned;
  const Tensor both = kernel_.intermediate(device_, {2 * count}, p_.dtype);
  const Tensor first{both.data, half, p_.dtype}, second{behind(both, count), half, p_.dtype};
  if (std::less<>()(dw_gate_.data, dw_up_.data)) return {first, second};
  return {second, first};
}

void Composer::pack_weights() {
  if (!pass_.is_packed) return;
  w_gate_up_ = kernel_.intermediate(device_, {2 * p_.hidden, p_.dim}, p_.dtype);
  device_.copy(w_gate_.data, w_gate_up_.data, w_gate_.bytes());
  device_.copy(w_up_.data, behind(w_gate_up_, w_gate_.count()), w_up_.bytes());
}

void Composer::append_gate_and_up(const Pair& gu, const std::string& suffix) {
  if (pass_.is_packed) {
    append(stages_.matmul("gate_up_proj" + suffix, x_, w_gate_up_, nullptr, gu.both));
    return;
  }
  append(stages_.matmul("gate_proj" + suffix, x_, w_gate_, nullptr, gu.gate));
  append(stages_.matmul("up_proj" + suffix, x_, w_up_, nullptr, gu.up));
}

void Composer::append_gate(const Pair& gu, const Tensor& h) {
  append(pass_.is_packed ? stages_.packed_gate(activation_, gu.both, h)
                         : stages_.gate(activation_, gu.gate, gu.up, h));
}

// They are a step's first stages.
void Composer::append_kept_unit(const Pair& gu, const Tensor& h) {
  append_gate_and_up(gu);
  append_gate(gu, h);
  if (!pass_.faster_gate_up) return;
  std::vector<Stage> apart = std::exchange(kernel_.stages, {});
  kernel_.stages = pass_.faster_gate_up(device_, activation_,
                                        {.x = x_,
                                         .w_gate = w_gate_,
                                         .w_up = w_up_,
                                         .g = gu.gate,
                                         .u = gu.up,
                                         .h = h,
                                         .stride = gu.stride},
                                        std::move(apart));
}

void Composer::append_dx(const Pair& d) {
  if (pass_.is_packed) {
    append(stages_.product("dx", {.a = d.both, .b = w_gate_up_, .out = dx_}));
    return;
  }
  append(stages_.product("dx_gate", {.a = d.gate, .b = w_gate_, .out = dx_}));
  append(stages_.product("dx_up", {.a = d.up, .b = w_up_, .out = dx_, .adds = true}));
}

PreparedKernel Composer::unfused(Inputs in, const Outputs& out) {
  name_tensors(in, out);
  const Pair gu = pass_.trains ? Pair{take(), take()} : Pair{in[5], in[6]};
  const Tensor activated = take(), h = take(), dh = take(), d_activated = take();
  const Pair d{take(), take()};
  if (pass_.trains) append_gate_and_up(gu);
  append(stages_.activate(activation_, gu.gate, activated));
  append(stages_.mul(activated, gu.up, h));
  if (pass_.trains) {
    append_down(h);
    keep(4);  // g, u, activated and h
  }
  append_dh(dh);
  append_dw("dw_down", dy_, h, dw_down_);
  append_unit_backward(kernel_, activation_, stages_,
                       {.g = gu.gate, .u = gu.up, .dh = dh, .dg = d.gate, .du = d.up}, activated,
                       d_activated);
  append_dw("dw_gate", d.gate, x_, dw_gate_);
  append_dw("dw_up", d.up, x_, dw_up_);
  append_dx(d);
  return std::move(kernel_);
}

PreparedKernel Composer::fused(Inputs in, const Outputs& out) {
  name_tensors(in, out);
  pack_weights();
  const Pair d = take_pair(), gu = pass_.trains ? d : Pair{in[5], in[6]};
  const Tensor h = take();
  if (pass_.trains) {
    append_kept_unit(gu, h);
    append_down(h);
    keep(pass_.recomputes ? 0 : 2);
    if (pass_.recomputes) append_gate_and_up(gu, "_again");
  }
  append_unit({.g = gu.gate,
               .u = gu.up,
               .dh = h,
               .dg = d.gate,
               .du = d.up,
               .h = h,
               .in_stride = gu.stride,
               .out_stride = d.stride},
              d);
  append_dw("dw_down", dy_, h, dw_down_);
  append(stages_.products("dw_gate_up", weight_gradient(d.gate, x_, dw_gate_, d.stride),
                          weight_gradient(d.up, x_, dw_up_, d.stride)));
  append_dx(d);
  return std::move(kernel_);
}

}  // namespace

PreparedKernel gated_backward_unfused(const Activation& activation, StageLibrary& stages,
                                      Device& device, const Problem&, Inputs in,
                                      const Outputs& out) {
  PreparedKernel kernel;
  const auto take = [&] { return kernel.intermediate(device, in[0].shape, in[0].dtype); };
  const Tensor activated = take(), d_activated = take();
  kernel.stages.push_back(stages.activate(activation, in[0], activated));
  append_unit_backward(kernel, activation, stages,
                       {.g = in[0], .u = in[1], .dh = in[2], .dg = out[0], .du = out[1]}, activated,
                       d_activated);
  return kernel;
}

PreparedKernel gated_backward_fused(const Activation& activation, StageLibrary& stages, Device&,
                                    const Problem&, Inputs in, const Outputs& out) {
  return {.stages = {stages.gate_backward(
              activation, {.g = in[0], .u = in[1], .dh = in[2], .dg = out[0], .du = out[1]})}};
}

Composition mlp_pass(const Activation& activation, MlpPass pass) {
  return [=](StageLibrary& stages, Device& device, const Problem& problem, Inputs in,
             const Outputs& out) {
    Composer composer(activation, pass, stages, device, problem);
    return pass.is_fused ? composer.fused(in, out) : composer.unfused(in, out);
  };
}

std::vector<MlpRung> mlp_rungs() {
  using A = Activation;
  return {
      {.operation = &A::mlp_backward, .name = "unfused", .pass = {.is_fused = false}},
      {.operation = &A::mlp_backward, .name = "fused_pointwise", .pass = {}},
      {.operation = &A::mlp_backward, .name = "packed_pointwise", .pass = {.is_packed = true}},
      {.operation = &A::mlp_accumulate,
       .name = "unfused",
       .pass = {.adds = true, .is_fused = false}},
      {.operation = &A::mlp_accumulate, .name = "fused_pointwise", .pass = {.adds = true}},
      {.operation = &A::mlp_accumulate,
       .name = "packed_pointwise",
       .pass = {.adds = true, .is_packed = true}},
      {.operation = &A::mlp_training,
       .name = "unfused",
       .pass = {.trains = true, .is_fused = false}},
      {.operation = &A::mlp_training, .name = "keep", .pass = {.trains = true}},
      {.operation = &A::mlp_training,
       .name = "recompute",
       .pass = {.trains = true, .recomputes = true}},
      {.operation = &A::mlp_training,
       .name = "packed_keep",
       .pass = {.trains = true, .is_packed = true}},
      {.operation = &A::mlp_training,
       .name = "packed_recompute",
       .pass = {.trains = true, .is_packed = true, .recomputes = true}},
  };
}

}  // namespace fusegate::kernels
