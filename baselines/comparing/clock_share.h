// Time at equal clock: what a kernel's time would have been had the SM clock been the same in every
// process.
//
// An unlocked clock moves from sample to sample and from process to process, and a kernel's time
// goes with it by a share of its own: not at all where memory binds it, wholly where arithmetic
// does, by 0.6 to 0.9 for the GEMMs of `pr` on an H200. The samples within each process show the
// share; between processes the same share then takes the clock out. Over 56 processes on six H200s
// the standard deviation between processes, median over kernels of 20 us and more, was 0.063 % in
// time, 0.045 % in cycles and 0.037 % in time at equal clock (docs/evidence/found-on-one-card.md).
//
// Analysis of covariance: R. A. Fisher, "Statistical methods for research workers", 4th ed. (1932),
// section 49.1; W. G. Cochran, "Analysis of covariance: its nature and uses", Biometrics 13 (1957),
// 261-281.
#pragma once

#include <vector>

#include "baselines/record/run.h"

namespace fusegate::baselines {

// From 0 (time does not depend on the clock) to 1 (cycles do not), from the samples of all
// processes of one benchmark's series. Where these show little it is drawn towards a half, by
// what a normal prior of standard deviation 0.3 says: A. E. Hoerl, R. W. Kennard, "Ridge
// regression", Technometrics 12 (1970), 55-67. 0 where there are no fits: time is then what it is.
double clock_share(const std::vector<const BenchmarkSeries*>& series);

// The logarithm of time (share 0), of cycles (share 1), or of time at equal clock, each in a unit
// of its own.
double log_at_share(const ProcessSummary& summary, double share);

// Whether every process has cycles.
bool has_cycles(const BenchmarkSeries& series);

}  // namespace fusegate::baselines
