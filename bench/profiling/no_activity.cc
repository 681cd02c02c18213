// attach_cupti() of a build that found no CUPTI.
#include "bench/profiling/profiler.h"

namespace fusegate::bench {

std::unique_ptr<Profiler> attach_cupti() {
  throw ProfilerError(baselines::Warning::kProfilerMissing);
}

}  // namespace fusegate::bench
