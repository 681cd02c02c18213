// The figures of a run's benchmarks by operation, implementation and shape, and which
// implementation the others are compared with.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "baselines/record/run.h"
#include "ci/sweep/benchmark_figures.h"
#include "ci/sweep/sweep_axis.h"

namespace fusegate::ci {

// By how M splits into batch and seq; of one M and shape.
using Splits = std::map<Shape, BenchmarkFigures>;
// By shape and size along the axis.
using ByShape = std::map<std::pair<Shape, std::int64_t>, Splits>;

struct OperationShapes {
  std::string operation;
  std::string dtype;  // with axes of names, fractions and switches: "fp16, causal true"
  std::string axis;   // "M", or another (sweep_axis.h)
  std::map<std::string, ByShape> implementations;
  // The one that the others are compared with: the first that the run's programs name and that was
  // measured. Older files name none: then the one that launches most kernels, of equals the last by
  // name. Empty where there are no others.
  std::string reference;
  // In place of it, where an implementation stops paying; those that were measured.
  std::map<std::string, std::vector<std::string>> compared_with;
};

// By operation, dtype and axis. Without names of other programs and benchmarks without a time.
std::vector<OperationShapes> measured_shapes(const baselines::Run& run);

// The geometric mean, over splits that both have, of the reference's time over this one's; NaN
// where there is none. Another split of M is another pattern of caches and launches.
double speed_up(const Splits& splits, const Splits& reference);

// Of what is finite and above 0; NaN where nothing was added.
class GeometricMean {
 public:
  void add(double value);
  double value() const;

 private:
  double log_sum_ = 0;
  int count_ = 0;
};

}  // namespace fusegate::ci
