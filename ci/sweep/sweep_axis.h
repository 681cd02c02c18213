// Along what an operation is swept: the axis that plots and tables go over, and what is fixed
// beside it.
//
// Where problems have batch and seq, that is M = batch x seq, the rows of every matrix product.
// Otherwise it is the axis with the most sizes in the run, of equals the last one in the names.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "baselines/record/benchmark_name.h"
#include "baselines/record/run.h"

namespace fusegate::ci {

// Axes and their sizes, in the order of the names.
using Shape = std::vector<std::pair<std::string, std::int64_t>>;

std::string shape_text(const Shape& shape);  // "dim 768, hidden 3072"; "" of none

// Where a problem lies. Problems that share axis, along and shape are one point of a sweep.
struct SweepPosition {
  std::string axis;        // "M", "kv"
  std::int64_t along = 0;  // the size of that
  Shape shape;             // the other axes
  Shape split;             // batch and seq, where they are M
};

class SweepAxes {
 public:
  explicit SweepAxes(const std::vector<baselines::BenchmarkName>& names);
  // name: one of those.
  SweepPosition position(const baselines::BenchmarkName& name) const;

 private:
  std::map<std::string, std::string> axes_;  // by operation
};

// Those of the run that are names of fusegate's programs.
std::vector<baselines::BenchmarkName> benchmark_names(const baselines::Run& run);

}  // namespace fusegate::ci
