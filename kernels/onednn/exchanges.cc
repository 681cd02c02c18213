#include "kernels/onednn/exchanges.h"

#include <cstring>

#include "kernels/contract/number_format.h"
#include "kernels/operations/exchanges.h"

namespace fusegate::kernels {
namespace {

std::string bytes_of(const Tensor& tensor) {
  return {static_cast<const char*>(tensor.data), tensor.bytes()};
}

// out: the sum of its elements in every rank's tensor, from that element on.
void add_up(const std::vector<std::string>& of_ranks, std::int64_t first, const Tensor& out) {
  for (std::int64_t i = 0; i < out.count(); ++i) {
    float sum = 0;
    for (const std::string& bytes : of_ranks) {
      sum += static_cast<float>(load_element(bytes.data(), out.dtype, first + i));
    }
    store_element(out.data, out.dtype, i, sum);
  }
}

PreparedKernel only(Stage stage) {
  PreparedKernel kernel;
  kernel.stages.push_back(std::move(stage));
  return kernel;
}

Implementation gathered(std::string operation,
                        Stage (*stage)(Ranks&, const Tensor&, const Tensor&)) {
  return {.operation = std::move(operation),
          .name = "gathered",
          .device = "cpu",
          .dtypes = {Dtype::kFp32, Dtype::kBf16},
          .prepare = [stage](Device& device, const Problem&, Inputs in, const Tensor& out) {
            return only(stage(device.ranks(), in[0], out));
          }};
}

const ImplementationRegistration all_reduce(gathered("all_reduce", &gathered_all_reduce));
const ImplementationRegistration all_gather(gathered("all_gather", &gathered_all_gather));
const ImplementationRegistration reduce_scatter(gathered("reduce_scatter",
                                                         &gathered_reduce_scatter));

}  // namespace

Stage gathered_all_reduce(Ranks& ranks, const Tensor& summand, const Tensor& out) {
  Stage stage = all_reduce_work(out, ranks.count());
  stage.launch = [&ranks, summand, out] {
    add_up(ranks.gather("all_reduce", bytes_of(summand)), 0, out);
  };
  return stage;
}

Stage gathered_all_gather(Ranks& ranks, const Tensor& part, const Tensor& whole) {
  Stage stage = all_gather_work(whole);
  stage.launch = [&ranks, part, whole] {
    auto* to = static_cast<std::byte*>(whole.data);
    for (const std::string& bytes : ranks.gather("all_gather", bytes_of(part))) {
      std::memcpy(to, bytes.data(), bytes.size());
      to += bytes.size();
    }
  };
  return stage;
}

Stage gathered_reduce_scatter(Ranks& ranks, const Tensor& summand, const Tensor& part) {
  Stage stage = reduce_scatter_work(summand, ranks.count());
  stage.launch = [&ranks, summand, part] {
    add_up(ranks.gather("reduce_scatter", bytes_of(summand)), ranks.rank() * part.count(), part);
  };
  return stage;
}

}  // namespace fusegate::kernels
