// A night of a history, of a run: with the run that its replay measured beside it, where there is
// one.
//
// Times at equal clock of two nights are comparable where both are taken at the same clock. So each
// benchmark has one for all nights of a device, and one share of the clock in its time
// (baselines/comparing/clock_share.h): its own of the first night that was added. A clock of its
// own, because benchmarks of one device run at clocks that lie a tenth apart, and what is wrong
// with the share counts by how far a night's clock is from the common one. A fixed share, because a
// night's own is uncertain, and would move the time of the same code from night to night.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "baselines/history/history.h"
#include "baselines/record/run.h"

namespace fusegate::baselines {

// Benchmarks that were measured, and those that were not because their code is the baseline's
// (BenchmarkSeries::is_unmeasured()): these have an identity, no process and no figure. Outliers
// among the processes are set aside as the gate does. Energy, choices and counters are the run's.
// Of several cards all UUIDs are in Night::card, "a, b".
//
// The effect over the replay is in time (in cycles where these decide alone: in the sustained
// regime and on a CPU), with what the machine did taken out as in a verdict
// (baselines/comparing/judge.h). Parent and program are for the caller to set.
//
// clocks: History::clocks() of the run's device; who is not in it gets one.
// replay: may be null.
Night night_of_run(const Run& run, const Run* replay,
                   const std::map<std::string, CommonClock>& clocks);

// What names the run's night, whether it is read from run files or from the baseline that was
// accepted of these: "20261123T201554Z-nightly-4cf2cd58-3bea9ed7bcfe", of the first process's date,
// the suite, the card and the commit, those that are known. Throws InputError for a run without a
// date.
std::string session_of(const Run& run);

// Of its first process. Throws likewise.
std::chrono::sys_seconds date_of(const Run& run);

// "" where its environment has none.
std::string device_of(const Run& run);

}  // namespace fusegate::baselines
