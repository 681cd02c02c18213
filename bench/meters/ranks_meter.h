// A meter of several ranks, on top of one a rank: a batch begins together, and the last rank's time
// counts. So all ranks know the same times, and decide by them alike.
#pragma once

#include <memory>

#include "bench/meters/meter.h"

namespace fusegate::bench {

// meter: of this rank's device. Both must outlive what it records.
std::unique_ptr<Meter> make_ranks_meter(kernels::Device& device, std::unique_ptr<Meter> meter);

}  // namespace fusegate::bench
