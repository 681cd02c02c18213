// Implementations that go wrong, for the test of what becomes of the others: built into
// fusegate_bench_faulty alone.
#include <stdexcept>

#include "kernels/kernel.h"

namespace fusegate {
namespace {

PreparedKernel writes_nothing(Device&, const Problem&, std::span<const Tensor>, const Tensor&) {
  return {};
}

PreparedKernel throws(Device&, const Problem&, std::span<const Tensor>, const Tensor&) {
  throw std::runtime_error("no algorithm for this shape");
}

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
