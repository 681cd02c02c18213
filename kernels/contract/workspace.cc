#include "kernels/contract/workspace.h"

namespace fusegate::kernels {

Workspace::Workspace(Device& device, const Operation& operation, const Problem& problem,
                     std::uint64_t seed) {
  for (const TensorShape& shape : operation.inputs(problem)) {
    inputs_.push_back(allocate_tensor(device, shape.rows, shape.cols, problem.dtype, memory_));
    device.fill_random(inputs_.back(), shape.scale, seed + inputs_.size());
  }
  const TensorShape shape = operation.output(problem);
  output_ = allocate_tensor(device, shape.rows, shape.cols, problem.dtype, memory_);
  device.poison(output_);
}

}  // namespace fusegate::kernels
