// Implementations that go wrong, for the test of what becomes of the others: built into
// fusegate_bench_faulty alone.
#include <stdexcept>

#include "kernels/contract/kernel.h"

namespace fusegate::bench {
namespace {

kernels::PreparedKernel writes_nothing(kernels::Device&, const kernels::Problem&,
                                       std::span<const kernels::Tensor>, const kernels::Tensor&) {
  return {};
}

kernels::PreparedKernel throws(kernels::Device&, const kernels::Problem&,
                               std::span<const kernels::Tensor>, const kernels::Tensor&) {
  throw std::runtime_error("no algorithm for this shape");
}

// Right where it is checked and at the first place in memory; at the second there is no memory
// left.
kernels::PreparedKernel throws_later(kernels::Device& device, const kernels::Problem& problem,
                                     std::span<const kernels::Tensor> inputs,
                                     const kernels::Tensor& out) {
  static int prepared = 0;
  constexpr int kCheckAndFirstPlace = 2;
  if (++prepared > kCheckAndFirstPlace) throw kernels::DeviceError("no memory left");
  for (const kernels::Implementation& i : kernels::implementations()) {
    if (i.operation == "geglu" && i.name == "fused" && i.device == "cpu") {
      return i.prepare(device, problem, inputs, out);
    }
  }
  throw std::logic_error("geglu/fused is not registered");
}

const kernels::ImplementationRegistration throwing_later{{.operation = "geglu",
                                                          .name = "faulty_later",
                                                          .device = "cpu",
                                                          .dtypes = {kernels::Dtype::kFp32},
                                                          .prepare = &throws_later}};

const kernels::ImplementationRegistration wrong_result{{.operation = "geglu",
                                                        .name = "faulty_result",
                                                        .device = "cpu",
                                                        .dtypes = {kernels::Dtype::kFp32},
                                                        .prepare = &writes_nothing}};

const kernels::ImplementationRegistration throwing{{.operation = "geglu",
                                                    .name = "faulty_throw",
                                                    .device = "cpu",
                                                    .dtypes = {kernels::Dtype::kFp32},
                                                    .prepare = &throws}};

}  // namespace
}  // namespace fusegate::bench
