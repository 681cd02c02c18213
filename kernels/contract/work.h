// A stage's least work, the same for every device and implementation, for rates and the roofline:
// each operand is read once, each result is written once.
#pragma once

#include <initializer_list>
#include <string>

#include "kernels/contract/kernel.h"

namespace fusegate::kernels {

// out [m, n] = x [m, k] w [n, k]^T: 2 m n k operations, and m n where a bias is added.
Stage matmul_work(std::string name, const Tensor& x, const Tensor& w, const Tensor& out,
                  const Tensor* bias = nullptr);
// flops_per_element: of out.
Stage pointwise_work(std::string name, double flops_per_element,
                     std::initializer_list<const Tensor*> inputs, const Tensor& out);

}  // namespace fusegate::kernels
