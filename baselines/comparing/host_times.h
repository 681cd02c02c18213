// What a call costs the host: the time in which it launches, on a stream (host_ns) and as one graph
// (host_graph_ns). Samples are graphs that wait in a queue, so that no sample shows it; and
// identical code is the device's, and does not show what the host does.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "baselines/comparing/rule.h"
#include "baselines/record/run.h"
#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {

enum class HostLaunch { kStream, kGraph };

std::string_view host_launch_name(HostLaunch launch);  // "stream", "graph"

enum class HostVerdict {
  kSlower,       // by more than both smallest effects, with false discoveries held
  kLooksSlower,  // likewise, and something stands in the way of calling it
  kFaster,       // by more than both
};

std::string_view host_verdict_name(HostVerdict verdict);  // "slower", "looks_slower", "faster"

// What stands in the way, in the order in which they weigh.
enum class HostObstacle {
  kNone,
  kOtherHost,     // the sides were measured on two machines
  kOneValue,      // a side has one value: of one process, or the median of an older baseline
  kFewProcesses,  // fewer than four on a side, and not measured afresh
  kSuiteMoved,    // of two sessions, most benchmarks moved as much: it may be the machine
};

// A benchmark that takes the host longer or less, or looks as if it took longer.
struct HostChange {
  std::string benchmark;
  HostLaunch launch = HostLaunch::kStream;
  HostVerdict verdict = HostVerdict::kLooksSlower;
  HostObstacle obstacle = HostObstacle::kNone;
  double effect = 0;       // candidate over baseline, minus one
  Interval interval{};     // infinite where the noise is unknown
  double p = 1;            // of slower, or of faster, adjusted
  double baseline_ns = 0;  // of one call, medians over processes
  double candidate_ns = 0;
};

struct HostTimes {
  std::vector<HostChange> changes;  // in the order of HostVerdict; the largest first
  std::size_t compared = 0;         // benchmarks that have a host time on both sides
  bool other_host = false;          // the two name different machines or models of CPU
};

// Of all benchmarks that have it on both sides, those of identical code too. The logarithm of a
// host time is benchmark + side + process + rest. What a process does to all benchmarks, on a slow
// core or beside another program, is one value a process, however many benchmarks show it: it is
// estimated apart, as their median, and adds to the noise with its own few degrees of freedom. The
// rest is moderated over the suite (moderated_contrasts.h). An effect is tested against log(1 +
// max(min_effect, min_ns / host time)), by Benjamini-Hochberg over the benchmarks. Of two sessions
// it must exceed what most benchmarks moved by too, and their scatter is noise
// (common_movement.h).
HostTimes compare_host_times(const Run& baseline, const Run& candidate, const Rule& rule);

}  // namespace fusegate::baselines
