// Batches on the CPU: a plain loop, taken by the wall's clock and by the calling thread's cycles.
#pragma once

#include <memory>

#include "bench/machine/host_clock.h"
#include "bench/meters/meter.h"

namespace fusegate::bench {

std::unique_ptr<Meter> make_cpu_meter(kernels::Device& device, std::unique_ptr<HostClock> clock);

}  // namespace fusegate::bench
