#include "kernels/contract/work.h"

#include <utility>

namespace fusegate::kernels {

Stage matmul_work(std::string name, const Tensor& x, const Tensor& w, const Tensor& out,
                  const Tensor* bias) {
  const double products = 2 * static_cast<double>(x.cols()), sums = bias != nullptr ? 1 : 0;
  const std::size_t bias_bytes = bias != nullptr ? bias->bytes() : 0;
  return {.name = std::move(name),
          .flops = static_cast<double>(out.count()) * (products + sums),
          .min_bytes = static_cast<double>(x.bytes() + w.bytes() + bias_bytes + out.bytes())};
}

Stage pointwise_work(std::string name, double flops_per_element,
                     std::initializer_list<const Tensor*> inputs, const Tensor& out) {
  Stage stage{.name = std::move(name),
              .flops = flops_per_element * static_cast<double>(out.count()),
              .min_bytes = static_cast<double>(out.bytes())};
  for (const Tensor* input : inputs) stage.min_bytes += static_cast<double>(input->bytes());
  return stage;
}

}  // namespace fusegate::kernels
