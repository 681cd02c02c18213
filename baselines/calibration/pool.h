// The invocations that a calibration draws from: runs of the same code, joined card by card.
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
  int invocations = 0;
};

struct PooledCard {
  // Every benchmark with every invocation of that card, in the same order: the i-th summaries of
  // all benchmarks come from one process, and are drawn together.
  Run run;
  std::vector<std::size_t> run_of_invocation;  // index into CalibrationPool::runs

  std::size_t invocations() const { return run_of_invocation.size(); }
};

struct CalibrationPool {
  std::vector<PooledCard> cards;  // by device_uuid; all have the same benchmarks, sorted by name
  std::vector<CalibratedRun> runs;
  std::vector<std::string> sessions;  // of each run (Run::session)
  std::vector<std::string> left_out;  // benchmarks that failed or that a run lacks
};

// Extensions are passed over: they hold a few benchmarks each, chosen by how these came out. Throws
// InputError: no run, runs that differ in environment, suite or protocol, no benchmark that
// succeeded in every invocation. Runs without a device_uuid count as one card.
CalibrationPool pool_runs(std::vector<Run> runs);

// Logarithms of one benchmark's times, cycles or times at equal clock (log_at_share()), a list a
// card.
std::vector<std::vector<double>> logarithms(const std::vector<PooledCard>& cards,
                                            std::size_t benchmark, double share);
// The benchmark's clock_share(); NaN where any invocation has no cycles.
double pooled_clock_share(const std::vector<PooledCard>& cards, std::size_t benchmark);

// The card's run reduced to the given invocations, of no session; counters and choices stay those
// of all.
Run drawn_run(const PooledCard& card, const std::vector<std::size_t>& invocations);

}  // namespace fusegate::baselines
