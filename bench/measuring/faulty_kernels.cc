// Implementations that go wrong, for the test of what becomes of the others: built into
// fusegate_bench_faulty alone.
#include <cstdlib>
#include <stdexcept>

#include "bench/measuring/planted_fault.h"

namespace fusegate::bench {
namespace {

using kernels::Device, kernels::Inputs, kernels::PreparedKernel, kernels::Problem, kernels::Tensor;

kernels::Implementation faulty(const char* name,
                               PreparedKernel (*prepare)(Device&, const Problem&, Inputs,
                                                         const Tensor& out)) {
  return {.operation = "geglu",
          .name = name,
          .device = "cpu",
          .dtypes = {kernels::Dtype::kFp32},
          .prepare = prepare};
}

const kernels::ImplementationRegistration wrong_result(
    faulty("faulty_result", [](Device&, const Problem&, Inputs, const Tensor&) {
      return PreparedKernel{};  // writes nothing
    }));

PreparedKernel throws(Device&, const Problem&, Inputs, const Tensor&) {
  throw std::runtime_error("no algorithm for this shape");
}
const kernels::ImplementationRegistration throwing(faulty("faulty_throw", &throws));

// FUSEGATE_PLANTED_TWICE: it is there twice.
const bool is_there_twice = [] {
  if (std::getenv("FUSEGATE_PLANTED_TWICE") == nullptr) return false;
  kernels::ImplementationRegistration(faulty("faulty_throw", &throws));
  return true;
}();

// Right when it is checked and in the first layout; in the second, no memory is left.
const kernels::ImplementationRegistration throwing_later(faulty(
    "faulty_later", [](Device& device, const Problem& problem, Inputs in, const Tensor& out) {
      static int prepared = 0;
      if (++prepared > kCheckAndFirstLayout) throw kernels::DeviceError("no memory left");
      return prepare_fused("cpu", device, problem, in, out);
    }));

// Right, and one number too many.
const kernels::ImplementationRegistration past_end(faulty(
    "faulty_past_end", [](Device& device, const Problem& problem, Inputs in, const Tensor& out) {
      PreparedKernel kernel = prepare_fused("cpu", device, problem, in, out);
      kernel.stages.push_back(
          {"overrun", 0, 0, [out] { static_cast<float*>(out.data)[out.count()] = 1; }, ""});
      return kernel;
    }));

}  // namespace
}  // namespace fusegate::bench
