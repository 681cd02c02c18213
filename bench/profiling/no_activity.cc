// attach_cupti() of a build that found no CUPTI.
#include "bench/profiling/profiler.h"

namespace fusegate {

std::unique_ptr<Profiler> attach_cupti() { throw ProfilerError(Doubt::kProfilerMissing); }

}  // namespace fusegate
