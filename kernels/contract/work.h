// What a stage must do at least, the same for every device, so that rates and yardsticks mean one
// thing: each operand read once, the result written once. Who launches is left to the caller.
#pragma once

#include <initializer_list>
#include <span>
#include <string>

#include "kernels/contract/kernel.h"

namespace fusegate::kernels {

using Inputs = std::span<const Tensor>;

// out [m, n] = x [m, k] w [n, k]^T.
Stage matmul_work(std::string name, const Tensor& x, const Tensor& w, const Tensor& out);
// An element of out from the same element of each input.
Stage pointwise_work(std::string name, double flops_per_element,
                     std::initializer_list<const Tensor*> inputs, const Tensor& out);

}  // namespace fusegate::kernels
