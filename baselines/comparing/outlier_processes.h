// Outliers: processes in which a whole suite took longer or less than in the card's others, as
// where another program ran beside one, or a clock stayed low. One of four that is 10 % slower in
// everything hides all that the others show.
#pragma once

#include <string>
#include <vector>

#include "baselines/record/run.h"

namespace fusegate::baselines {

inline constexpr std::size_t kFewestToSetAside = 4;  // processes of a card

struct Outlier {
  int process = 0;                // index into Run::process_names
  std::string name{};             // "3.json"
  double relative_deviation = 0;  // its time over the inliers' in the median, minus one
  std::size_t benchmarks = 0;     // over so many
  bool is_set_aside = false;      // what judges the run leaves it out
};

// A process's deviation is the median, over the benchmarks that three or more processes of its card
// measured, of the logarithm of its time less the benchmark's median; over 8 benchmarks at least.
// The inliers are the three quarters of the card's processes that lie closest together. An outlier
// lies outside of them by more than twice min_effect and by more than five times their range (W. J.
// Dixon, "Processing data for outliers", Biometrics 9 (1953), 74-89: of four processes that differ
// by chance alone, 5 % of the time the outermost lies as far out; of five, 0.7 %). So it is at most
// a quarter of them, or one of three.
//
// Of four processes and more it is set aside. Of three it is named only: the other two may be the
// outliers.
std::vector<Outlier> outlier_processes(const Run& run, double min_effect);

// "process 3.json is an outlier: 10.1 % slower than the others (median of 104 benchmarks)"
std::string outlier_text(const Outlier& outlier);

// Without those that are set aside.
Run without_outliers(Run run, const std::vector<Outlier>& outliers);

}  // namespace fusegate::baselines
