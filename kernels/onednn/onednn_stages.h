// The CPU's stages as oneDNN primitives. onednn_stages.cc hides how versions 2 (Debian 12) and 3
// describe them.
#pragma once

#include <string>
#include <vector>

#include "kernels/onednn/onednn_device.h"
#include "kernels/operations/stages.h"

namespace fusegate::kernels {

// Those that oneDNN computes.
std::vector<Activation> onednn_activations();

// Refuses bf16 without instructions for it: oneDNN would convert to fp32 and back.
std::string refuses_on_cpu(const Device& device, const Problem& problem);

class OnednnStages : public StageLibrary {
 public:
  explicit OnednnStages(Device& device) : device_(static_cast<OnednnDevice&>(device)) {}

  Stage matmul(std::string name, const Tensor& x, const Tensor& w, const Tensor* bias,
               const Tensor& out) override;
  // out = activation(x w^T) * multiplier, both as post-ops of the matmul.
  Stage matmul_gated(const Activation& activation, const Tensor& x, const Tensor& w,
                     const Tensor& multiplier, const Tensor& out);
  Stage bias_add(const Tensor& x, const Tensor& bias, const Tensor& out) override;
  Stage activate(const Activation& activation, const Tensor& x, const Tensor& out) override;
  Stage mul(const Tensor& a, const Tensor& b, const Tensor& out) override;
  Stage gate(const Activation& activation, const Tensor& g, const Tensor& u,
             const Tensor& out) override;
  Stage product(std::string name, const Product& product) override;
  // In plain loops.
  Stage packed_gate(const Activation& activation, const Tensor& gu, const Tensor& out) override;
  Stage activate_backward(const Activation& activation, const Tensor& g, const Tensor& d,
                          const Tensor& out) override;
  Stage gate_backward(const Activation& activation, const UnitBackward& unit) override;

 private:
  OnednnDevice& device_;
};

}  // namespace fusegate::kernels
