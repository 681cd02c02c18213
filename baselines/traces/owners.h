// Who did what in a trace: around which host events another ran, and which operator or range
// launched which kernel.
#pragma once

#include <cstddef>
#include <vector>

#include "baselines/traces/trace.h"

namespace fusegate::baselines {

inline constexpr std::size_t kNoEvent = static_cast<std::size_t>(-1);

// For each event of the trace the index of one that owns it, or kNoEvent. Of an operator, range or
// call: the innermost of these that had begun on its thread and not ended. Of GPU work: the
// innermost operator or range around the call that has its correlation; where there is none, the
// one with its External id, as for calls that were made on a thread without operators. Of anything
// else: none. Host events of one thread are expected to nest; one that outlasts what encloses it,
// as times rounded to microseconds do, stays within.
std::vector<std::size_t> owners(const Trace& trace);

}  // namespace fusegate::baselines
