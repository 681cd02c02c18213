// The stages of the ladder's implementations, which each device's StageLibrary makes, and the
// compositions that devices share.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>

#include "kernels/activations/kept_unit.h"
#include "kernels/activations/unit_backward.h"
#include "kernels/contract/work.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::kernels {

// out = activation(g) * u; inputs: g and u, or one tensor that holds both.
Stage gated_work(const Activation& activation, std::initializer_list<const Tensor*> inputs,
                 const Tensor& out);
// h = activation(x w_gate^T) * (x w_up^T) in one kernel.
Stage gate_up_work(const Activation& activation, const Tensor& x, const Tensor& w_gate,
                   const Tensor& w_up, const Tensor& h);
// The same, which stores g and u too.
Stage gate_up_work(const Activation& activation, const KeptUnit& unit);

// out = activation'(g) * d; and a unit's whole backward pass in one kernel.
Stage activate_backward_work(const Activation& activation, const Tensor& g, const Tensor& d,
                             const Tensor& out);
Stage gated_backward_work(const Activation& activation, const UnitBackward& unit);
// Of dh = dy w_down [m, hidden], which is no tensor then, with dh's product in that kernel.
Stage dh_work(const Activation& activation, const Tensor& dy, const Tensor& w_down,
              const UnitBackward& unit);

// out [m, n] = a b, plus what out holds where it adds; out may be of fp32. A matrix that is
// transposed lies so: a as [k, m], b as [n, k].
struct Product {
  Tensor a, b, out;
  bool a_transposed = false, b_transposed = false;
  bool adds = false;
  std::int64_t a_stride = 0;  // elements from a row of a to the next, where more than a row has

  std::int64_t k() const { return a_transposed ? a.rows() : a.cols(); }
};
Stage product_work(std::string name, const Product& product);

class StageLibrary {
 public:
  virtual ~StageLibrary() = default;
  // out [m, n] = x [m, k] w [n, k]^T, plus bias [1, n] where there is one.
  virtual Stage matmul(std::string name, const Tensor& x, const Tensor& w, const Tensor* bias,
                       const Tensor& out) = 0;
  // out [m, n] = x [m, n] + bias [1, n]; out may be x.
  virtual Stage bias_add(const Tensor& x, const Tensor& bias, const Tensor& out) = 0;
  // out = activation(x); out may be x.
  virtual Stage activate(const Activation& activation, const Tensor& x, const Tensor& out) = 0;
  // out = a * b; out may be a.
  virtual Stage mul(const Tensor& a, const Tensor& b, const Tensor& out) = 0;
  // out = activation(g) * u; out may be g.
  virtual Stage gate(const Activation& activation, const Tensor& g, const Tensor& u,
                     const Tensor& out) = 0;
  // out [m, n] = activation(g) * u, where gu [m, 2 n] has g in its left half and u in its right.
  virtual Stage packed_gate(const Activation& activation, const Tensor& gu, const Tensor& out) = 0;
  virtual Stage product(std::string name, const Product& product) = 0;
  // Two that differ in their tensors alone, by one choice. In one launch, of a batch, the distance
  // between both outputs is an argument, so that it would depend on where the memory lies.
  Stage products(const std::string& name, const Product& first, const Product& second);
  // out = activation'(g) * d; out may be g or d.
  virtual Stage activate_backward(const Activation& activation, const Tensor& g, const Tensor& d,
                                  const Tensor& out) = 0;
  virtual Stage gate_backward(const Activation& activation, const UnitBackward& unit) = 0;
};

// linear: one matmul that adds the bias; or a matmul, then the bias in a kernel of its own.
PreparedKernel linear_addmm(StageLibrary& stages, Device&, const Problem&, Inputs in,
                            const Tensor& out);
PreparedKernel linear_matmul_add(StageLibrary& stages, Device& device, const Problem&, Inputs in,
                                 const Tensor& out);

// A gated unit, such as geglu: the activation, then mul; or both in one.
PreparedKernel gated_unfused(const Activation& activation, StageLibrary& stages, Device& device,
                             const Problem&, Inputs in, const Tensor& out);
PreparedKernel gated_fused(const Activation& activation, StageLibrary& stages, Device&,
                           const Problem&, Inputs in, const Tensor& out);

// Its MLP, such as geglu_mlp: five stages (gate_proj, up_proj, the activation, mul, down_proj), as
// PyTorch runs it eagerly; or four, the activation and mul in one.
PreparedKernel gated_mlp_unfused(const Activation& activation, StageLibrary& stages, Device& device,
                                 const Problem& problem, Inputs in, const Tensor& out);
PreparedKernel gated_mlp_fused_pointwise(const Activation& activation, StageLibrary& stages,
                                         Device& device, const Problem& problem, Inputs in,
                                         const Tensor& out);

// Any of them.
using Composition = std::function<PreparedKernel(StageLibrary&, Device&, const Problem&, Inputs,
                                                 const Outputs& out)>;

}  // namespace fusegate::kernels
