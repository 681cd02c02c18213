// Implementations that go wrong, for the test of what becomes of the others: built into
// fusegate_bench_faulty alone.
#include <cstdlib>
#include <stdexcept>

#include "bench/measuring/planted_fault.h"

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

// Right when it is checked and in the first layout; in the second, no memory is left.
kernels::PreparedKernel throws_later(kernels::Device& device, const kernels::Problem& problem,
                                     std::span<const kernels::Tensor> inputs,
                                     const kernels::Tensor& out) {
  static int prepared = 0;
  constexpr int kCheckAndFirstLayout = 2;
  if (++prepared > kCheckAndFirstLayout) throw kernels::DeviceError("no memory left");
  return prepare_fused("cpu", device, problem, inputs, out);
}

// Right, and one number too many.
kernels::PreparedKernel writes_past_its_end(kernels::Device& device,
                                            const kernels::Problem& problem,
                                            std::span<const kernels::Tensor> inputs,
                                            const kernels::Tensor& out) {
  kernels::PreparedKernel kernel = prepare_fused("cpu", device, problem, inputs, out);
  kernel.stages.push_back(
      {"overrun", 0, 0, [out] { static_cast<float*>(out.data)[out.count()] = 1; }, ""});
  return kernel;
}

const kernels::ImplementationRegistration past_end{{.operation = "geglu",
                                                    .name = "faulty_past_end",
                                                    .device = "cpu",
                                                    .dtypes = {kernels::Dtype::kFp32},
                                                    .prepare = &writes_past_its_end}};

// FUSEGATE_PLANTED_TWICE: one of them is there twice.
const bool is_there_twice = [] {
  if (std::getenv("FUSEGATE_PLANTED_TWICE") == nullptr) return false;
  kernels::ImplementationRegistration{{.operation = "geglu",
                                       .name = "faulty_throw",
                                       .device = "cpu",
                                       .dtypes = {kernels::Dtype::kFp32},
                                       .prepare = &throws}};
  return true;
}();

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
