// The gated MLPs' backward passes, and steps of training: forward and backward.
//
// A backward pass gets what its forward pass kept, g = x w_gate^T and u = x w_up^T [M, hidden], and
// dy [M, dim], the loss's derivative by the output. It gives those by x and the weights. With
// h = activation(g) * u:
//
//   dh = dy w_down, and dg and du of it as gated_unit_backward.cc has them
//   dw_down = dy^T h,   dw_gate = dg^T x,   dw_up = du^T x,   dx = dg w_gate + du w_up
//
// One that accumulates adds the weights' gradients to sums in fp32, in their memory, as training by
// several batches a step does.
#include "kernels/activations/activations.h"
#include "kernels/contract/kernel.h"
#include "kernels/operations/gated_mlp.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::kernels {
namespace {

std::vector<TensorSpec> training_inputs(const LadderProblem& p) {
  std::vector<TensorSpec> specs = gated_mlp_inputs(p);
  specs.push_back({"dy", {p.rows(), p.dim}});
  return specs;
}

std::vector<TensorSpec> backward_inputs(const LadderProblem& p) {
  std::vector<TensorSpec> specs = training_inputs(p);
  specs.push_back({"g", {p.rows(), p.hidden}, Fill::uniform(3)});
  specs.push_back({"u", {p.rows(), p.hidden}});
  return specs;
}

std::vector<TensorSpec> backward_outputs(const LadderProblem& p) {
  return {{"dx", {p.rows(), p.dim}},
          {"dw_gate", {p.hidden, p.dim}},
          {"dw_up", {p.hidden, p.dim}},
          {"dw_down", {p.dim, p.hidden}}};
}

std::vector<TensorSpec> accumulate_inputs(const LadderProblem& p) {
  std::vector<TensorSpec> specs = backward_inputs(p);
  for (const auto& [sum, weight] : {std::pair("sum_gate", 1), {"sum_up", 2}, {"sum_down", 3}}) {
    specs.push_back({.name = sum, .shape = specs[weight].shape, .dtype = Dtype::kFp32});
  }
  return specs;
}

std::vector<TensorSpec> accumulate_outputs(const LadderProblem& p) {
  std::vector<TensorSpec> specs = backward_outputs(p);
  for (const auto& [sum, output] : {std::pair("sum_gate", 1), {"sum_up", 2}, {"sum_down", 3}}) {
    specs[output].dtype = Dtype::kFp32;
    specs[output].in_place_of = sum;
  }
  return specs;
}

std::vector<TensorSpec> training_outputs(const LadderProblem& p) {
  std::vector<TensorSpec> specs = backward_outputs(p);
  specs.insert(specs.begin(), {"out", {p.rows(), p.dim}});
  return specs;
}

// References in memory that lives as long as this.
class MlpReference {
 public:
  MlpReference(const Activation& activation, Device& device, const LadderProblem& p)
      : activation_(activation), device_(device), math_(device.reference_math()), p_(p) {}

  double* new_hidden() { return take(p_.rows() * p_.hidden); }

  // in: x, w_gate, w_up, w_down. Leaves g and u.
  void forward(std::span<double* const> in, double* g, double* u, double* out) {
    const std::int64_t m = p_.rows();
    double* const h = new_hidden();
    math_.matmul(in[0], in[1], g, m, p_.hidden, p_.dim);
    math_.matmul(in[0], in[2], u, m, p_.hidden, p_.dim);
    math_.gate(activation_, g, u, h, m * p_.hidden);
    math_.matmul(h, in[3], out, m, p_.dim, p_.hidden);
  }

  // in: x, w_gate, w_up, w_down, dy; out: dx, dw_gate, dw_up, dw_down.
  void backward(std::span<double* const> in, const double* g, const double* u,
                std::span<double* const> out) {
    const std::int64_t m = p_.rows(), dim = p_.dim, hidden = p_.hidden;
    double *const h = new_hidden(), *const dh = new_hidden();
    double *const dg = new_hidden(), *const du = new_hidden(), *const dx_up = take(m * dim);
    math_.gate(activation_, g, u, h, m * hidden);
    math_.matmul(transposed(in[4], m, dim), transposed(h, m, hidden), out[3], dim, hidden, m);
    math_.matmul(in[4], transposed(in[3], dim, hidden), dh, m, hidden, dim);
    math_.gate_backward(activation_, {.g = g, .u = u, .dh = dh, .dg = dg, .du = du}, m * hidden);
    const double* const x = transposed(in[0], m, dim);
    math_.matmul(transposed(dg, m, hidden), x, out[1], hidden, dim, m);
    math_.matmul(transposed(du, m, hidden), x, out[2], hidden, dim, m);
    math_.matmul(dg, transposed(in[1], hidden, dim), out[0], m, dim, hidden);
    math_.matmul(du, transposed(in[2], hidden, dim), dx_up, m, dim, hidden);
    math_.add_bias(out[0], dx_up, 1, m * dim);
  }

  void finish() { device_.synchronize(); }  // before memory is freed

 private:
  double* take(std::int64_t count) {
    memory_.push_back(device_.allocate(static_cast<std::size_t>(count) * sizeof(double)));
    return static_cast<double*>(memory_.back().data());
  }
  const double* transposed(const double* in, std::int64_t rows, std::int64_t cols) {
    double* const out = take(rows * cols);
    math_.transpose(in, out, rows, cols);
    return out;
  }

  const Activation& activation_;
  Device& device_;
  ReferenceMath& math_;
  LadderProblem p_;
  std::vector<Memory> memory_;
};

const OperationRegistration backward(kActivations, [](const Activation& activation) -> Operation {
  return {
      .name = activation.mlp_backward(),
      .axes = ladder_axes(),
      .compared_with = "unfused",
      .inputs = &backward_inputs,
      .outputs = &backward_outputs,
      .reference =
          [activation](Device& device, const LadderProblem& p, std::span<double* const> in,
                       const OneOrMore<double*>& out) {
            MlpReference reference(activation, device, p);
            reference.backward(in, in[5], in[6], out);
            reference.finish();
          },
  };
});

// The sums are inputs 7 to 9.
void accumulate_reference(const Activation& activation, Device& device, const LadderProblem& p,
                          std::span<double* const> in, const OneOrMore<double*>& out) {
  MlpReference reference(activation, device, p);
  reference.backward(in, in[5], in[6], out);
  for (const std::size_t weight : {1, 2, 3}) {
    device.reference_math().add_bias(out[weight], in[6 + weight], 1, p.hidden * p.dim);
  }
  reference.finish();
}

const OperationRegistration accumulate(kActivations, [](const Activation& activation) -> Operation {
  return {.name = activation.mlp_accumulate(),
          .axes = ladder_axes(),
          .compared_with = "unfused",
          .inputs = &accumulate_inputs,
          .outputs = &accumulate_outputs,
          .reference = std::bind_front(&accumulate_reference, activation)};
});

const OperationRegistration training(kActivations, [](const Activation& activation) -> Operation {
  return {
      .name = activation.mlp_training(),
      .axes = ladder_axes(),
      .is_discontinuous = activation.slope_jumps,
      .compared_with = "unfused",
      .inputs = &training_inputs,
      .outputs = &training_outputs,
      .reference =
          [activation](Device& device, const LadderProblem& p, std::span<double* const> in,
                       const OneOrMore<double*>& out) {
            MlpReference reference(activation, device, p);
            double *const g = reference.new_hidden(), *const u = reference.new_hidden();
            reference.forward(in, g, u, out[0]);
            reference.backward(in, g, u, out.subspan(1));
            reference.finish();
          },
  };
});

}  // namespace
}  // namespace fusegate::kernels
