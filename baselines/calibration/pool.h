// The processes that a calibration draws from: runs of the same code, joined card by card.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "baselines/record/run.h"

namespace fusegate::baselines {

// Where a part of the pool comes from.
struct CalibratedRun {
  std::string source;
  std::string device_uuid;  // empty where the run file names none
  std::string commit;
  bool dirty = false;
  std::string date;
  std::string host;
  int processes = 0;
};

struct CalibrationPool {
  // By device_uuid. All have the same benchmarks, sorted by name, with every process in the same
  // order: the i-th summaries of all benchmarks come from one process, and are drawn together.
  std::vector<Run> cards;
  std::vector<CalibratedRun> runs;
  std::vector<std::string> left_out;  // benchmarks that failed or that a run lacks
};

// The most that a benchmark of the run has.
std::size_t processes_of(const Run& run);

// Extensions are passed over: they hold a few benchmarks each, chosen by how these came out. Throws
// InputError: no run, runs that differ in environment, suite or protocol, no benchmark that
// succeeded in every process. Runs without a device_uuid count as one card.
CalibrationPool pool_runs(std::vector<Run> runs);

// Logarithms of one benchmark's times, cycles or times at equal clock (log_at_share()), a list a
// card.
std::vector<std::vector<double>> logarithms(const std::vector<Run>& cards, std::size_t benchmark,
                                            double share);
// The benchmark's clock_share(); NaN where any process has no cycles.
double pooled_clock_share(const std::vector<Run>& cards, std::size_t benchmark);

// The card's run reduced to the given processes, of no session; counters and choices stay those
// of all.
Run drawn_run(const Run& card, const std::vector<std::size_t>& processes);

}  // namespace fusegate::baselines
