// Writes a trace as Chrome's trace-event JSON, which the Perfetto UI (ui.perfetto.dev) and
// chrome://tracing open, in the dialect of PyTorch's profiler: `ts` and `dur` in microseconds, here
// with three decimals, so that no ns is lost. Source: "Trace Event Format", Google, 2016.
//
// Beside the events it writes names of processes and threads, counter tracks, and an arrow from
// each call to what it launched: the one with the correlation of the GPU's event.
#pragma once

#include <string>

#include "baselines/traces/trace.h"

namespace fusegate::baselines {

// Kernels that overlap on one stream, as programmatic dependent launch lets them, get lanes of
// their own: viewers drop an event that begins before its lane's last has ended.
// Throws std::out_of_range where an event's track is none of the trace's.
std::string trace_text(const Trace& trace);

}  // namespace fusegate::baselines
