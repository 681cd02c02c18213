// Reads traces in Chrome's trace-event JSON: fusegate's own (writer.h) and PyTorch's
// (torch.profiler's export_chrome_trace, by Kineto). Read are complete events (ph X) of the
// categories of trace.h, counters and names; flow arrows, instants and events of other categories
// are passed over. So is all that no event needs, and it is held to quotes and brackets alone.
// Begin and end events (ph B, E), which neither writes, are an error. An event with a wrong value
// is left out and counted (TraceLosses), as are bytes that are no UTF-8, which become escapes: one
// unfinished event or a name of random bytes does not cost the trace.
//
// Source: Kineto's files as PyTorch 1.13 to 2.5 wrote them: `ts` and `dur` in microseconds, whole
// in older ones and with fractions in newer; `args` with "correlation", "External id", "grid",
// "block", "registers per thread", "shared memory", "stream", "bytes".
#pragma once

#include <string>

#include "baselines/traces/trace.h"

namespace fusegate::baselines {

// The times keep every ns of the text, also of those that count from 1970, which a double would
// round to 250 ns. GPU work belongs to the track of its "stream", wherever it was drawn.
// Throws InputError naming source and event, as in "traceEvents[7].args.grid", or line and column
// where the text is no JSON; also where it has no event that could be read, or more than five
// million values of counters.
Trace parse_trace(std::string text, const std::string& source);

}  // namespace fusegate::baselines
