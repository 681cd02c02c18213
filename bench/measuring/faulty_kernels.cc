// Implementations that go wrong, for the test of what becomes of the others: built into
// fusegate_bench_faulty alone.
#include <stdexcept>

#include "kernels/contract/kernel.h"

namespace fusegate {
namespace {

PreparedKernel writes_nothing(Device&, const Problem&, std::span<const Tensor>, const Tensor&) {
  return {};
}

PreparedKernel throws(Device&, const Problem&, std::span<const Tensor>, const Tensor&) {
  throw std::runtime_error("no algorithm for this shape");
}

// Right where it is checked and at the first place in memory; at the second there is no memory
// left.
PreparedKernel throws_later(Device& device, const Problem& problem, std::span<const Tensor> inputs,
                            const Tensor& out) {
  static int prepared = 0;
  constexpr int kCheckAndFirstPlace = 2;
  if (++prepared > kCheckAndFirstPlace) throw DeviceError("no memory left");
  for (const Implementation& i : implementations()) {
    if (i.operation == "geglu" && i.name == "fused" && i.device == "cpu") {
      return i.prepare(device, problem, inputs, out);
    }
  }
  throw std::logic_error("geglu/fused is not registered");
}

const ImplementationRegistration throwing_later{{.operation = "geglu",
                                                 .name = "faulty_later",
                                                 .device = "cpu",
                                                 .dtypes = {Dtype::kFp32},
                                                 .prepare = &throws_later}};

const ImplementationRegistration wrong_result{{.operation = "geglu",
                                               .name = "faulty_result",
                                               .device = "cpu",
                                               .dtypes = {Dtype::kFp32},
                                               .prepare = &writes_nothing}};

const ImplementationRegistration throwing{{.operation = "geglu",
                                           .name = "faulty_throw",
                                           .device = "cpu",
                                           .dtypes = {Dtype::kFp32},
                                           .prepare = &throws}};

}  // namespace
}  // namespace fusegate
