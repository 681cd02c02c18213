// Bimodal benchmarks: from process to process one of two times, such as by one of two memory
// layouts. Which one a process takes is chance and no change of code.
#pragma once

#include "baselines/comparing/comparison.h"

namespace fusegate::baselines {

// Sets comparison.modes where its processes fall into two clusters (two_clusters.h), further apart
// than the smallest effect that matters, and one card of either side shows both of them: else the
// sides, or the cards, are what differs. Of runs measured side by side a block must show both too:
// where every block lies in one cluster, the machine changed between blocks, and blocks are
// compared alone.
void find_modes(const Circumstances& circumstances, Comparison& comparison);

bool is_in_upper_mode(const Comparison& comparison, const ProcessSummary& summary);

// What lies between the clusters, of logarithms: the mean of what either side shows. 0 where they
// cannot be compared like with like.
double gap_between_modes(const Comparison& comparison, const Circumstances& circumstances,
                         double share);

}  // namespace fusegate::baselines
