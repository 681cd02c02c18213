// Whether values are bimodal, as those of a kernel are that takes one of two times: by where memory
// was laid out, or which of two clocks a chip took.
#pragma once

#include <optional>
#include <vector>

namespace fusegate::baselines {

// The boundary between the clusters: values above it are the upper one's. Cuts at the widest gap
// between neighbours. The gap must be wider than least_gap and than six times the standard
// deviation within the clusters, times n / (n - 2), as few values show that badly: of ten values of
// one normal distribution fewer than 1 in 1,000 seem to be two clusters, of four 1 in 100. The
// smaller cluster must have two values: a single one is an outlier, which shows no second cluster.
std::optional<double> cluster_boundary(std::vector<double> values, double least_gap);

}  // namespace fusegate::baselines
