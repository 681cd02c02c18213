// An operation's tensors in device memory, filled with fresh random inputs: where a kernel is
// checked and timed.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/contract/kernel.h"

namespace fusegate::kernels {

class Workspace {
 public:
  // Inputs are random by seed; the output is poisoned. Throws DeviceError where memory is short.
  Workspace(Device& device, const Operation& operation, const Problem& problem, std::uint64_t seed);

  const std::vector<Tensor>& inputs() const { return inputs_; }
  const Tensor& output() const { return output_; }

 private:
  std::vector<Memory> memory_;
  std::vector<Tensor> inputs_;
  Tensor output_;
};

}  // namespace fusegate::kernels
