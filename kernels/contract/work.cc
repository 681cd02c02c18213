#include "kernels/contract/work.h"

#include <utility>

namespace fusegate::kernels {

Stage matmul_work(std::string name, const Tensor& x, const Tensor& w, const Tensor& out) {
  return {.name = std::move(name),
          .flops = 2 * static_cast<double>(out.count()) * static_cast<double>(x.cols()),
          .min_bytes = static_cast<double>(x.bytes() + w.bytes() + out.bytes()),
          .launch = {},
          .choice = {}};
}

Stage pointwise_work(std::string name, double flops_per_element,
                     std::initializer_list<const Tensor*> inputs, const Tensor& out) {
  Stage stage{.name = std::move(name),
              .flops = flops_per_element * static_cast<double>(out.count()),
              .min_bytes = static_cast<double>(out.bytes()),
              .launch = {},
              .choice = {}};
  for (const Tensor* input : inputs) stage.min_bytes += static_cast<double>(input->bytes());
  return stage;
}

}  // namespace fusegate::kernels
