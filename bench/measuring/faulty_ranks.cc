// An implementation across ranks that goes wrong on rank 1 alone, to see what becomes of the
// others: built into fusegate_bench_faulty. FUSEGATE_PLANTED_RANK_FAULT says how; without it, it is
// right.
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "bench/measuring/planted_fault.h"

namespace fusegate::bench {
namespace {

using kernels::Device, kernels::PreparedKernel;

void go_wrong(std::string_view fault, int prepared, PreparedKernel& kernel,
              const kernels::Tensor& out) {
  const bool is_later = prepared > kCheckAndFirstLayout;
  auto& launch = kernel.stages.back().launch;
  if (fault == "throw") throw std::runtime_error("no algorithm for this shape");
  if (fault == "wrong") {
    launch = [honest = launch, out] {
      honest();
      static_cast<float*>(out.data)[0] = 1e9;
    };
  } else if (fault == "death" && is_later) {
    std::_Exit(7);
  } else if (fault == "endless" && is_later) {
    launch = [] {
      for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    };
  }
}

PreparedKernel prepare(Device& device, const kernels::Problem& problem, kernels::Inputs in,
                       const kernels::Outputs& out) {
  static int prepared = 0;
  PreparedKernel kernel = kernels::find_implementation("geglu_mlp_tp", "gathered", "cpu")
                              .prepare(device, problem, in, out);
  const char* const fault = std::getenv("FUSEGATE_PLANTED_RANK_FAULT");
  if (device.ranks().is_first() || fault == nullptr) return kernel;
  go_wrong(fault, ++prepared, kernel, out[0]);
  return kernel;
}

const kernels::ImplementationRegistration registered({.operation = "geglu_mlp_tp",
                                                      .name = "faulty_rank",
                                                      .device = "cpu",
                                                      .dtypes = {kernels::Dtype::kFp32},
                                                      .prepare = &prepare});

}  // namespace
}  // namespace fusegate::bench
