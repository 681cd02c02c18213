#include "kernels/onednn/onednn_device.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace fusegate::kernels {
namespace {

const DeviceRegistration registered{{
    .name = "cpu",
    .preference = 1,
    .open = [](int) { return std::make_unique<OnednnDevice>(); },
}};

}  // namespace

OnednnDevice::OnednnDevice() : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
  // Leaves one core free. With a thread on every core, any other program makes all threads wait at
  // the next barrier: 8 ms instead of 0.1 ms (seen on two busy cores).
  if (std::getenv("OMP_NUM_THREADS") == nullptr) {
    omp_set_num_threads(std::max(1, omp_get_num_procs() - 1));
  }
  // Every primitive has code of its own (store()).
  dnnl::set_primitive_cache_capacity(0);
}

std::map<std::string, std::string> OnednnDevice::versions() const {
  const dnnl::version_t& version = *dnnl_version();
  return {{"onednn", fmt::format("{}.{}.{}", version.major, version.minor, version.patch)},
          {"threads", std::to_string(omp_get_max_threads())},
          // A dnnl_cpu_isa_t.
          {"isa", fmt::format("{:#x}", static_cast<unsigned>(dnnl::get_effective_cpu_isa()))}};
}

void OnednnDevice::synchronize() { stream_.wait(); }

}  // namespace fusegate::kernels
