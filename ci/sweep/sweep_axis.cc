#include "ci/sweep/sweep_axis.h"

#include <fmt/format.h>

#include <set>

namespace fusegate::ci {
namespace {

constexpr const char* kRows = "M";

}  // namespace

std::string shape_text(const Shape& shape) {
  std::string text;
  for (const auto& [axis, size] : shape) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis, size);
  }
  return text;
}

SweepAxes::SweepAxes(const std::vector<baselines::BenchmarkName>& names) {
  std::map<std::string, std::map<std::string, std::set<std::int64_t>>> sizes;
  for (const baselines::BenchmarkName& name : names) {
    for (const auto& [axis, size] : name.axes) sizes[name.operation][axis].insert(size);
  }
  for (const baselines::BenchmarkName& name : names) {
    std::string& swept = axes_[name.operation];
    const auto& of_operation = sizes[name.operation];
    for (const auto& [axis, size] : name.axes) {
      if (swept.empty() || of_operation.at(axis).size() >= of_operation.at(swept).size()) {
        swept = axis;
      }
    }
  }
}

SweepPosition SweepAxes::position(const baselines::BenchmarkName& name) const {
  const bool has_rows = name.rows() > 0;
  const auto known = axes_.find(name.operation);
  SweepPosition position;
  // A name without the operation's axis, as another program's may be, goes along its own last one.
  position.axis = has_rows                                               ? kRows
                  : known != axes_.end() && name.axis(known->second) > 0 ? known->second
                                                                         : name.axes.back().first;
  position.along = has_rows ? name.rows() : name.axis(position.axis);
  for (const auto& one : name.axes) {
    const bool is_split = has_rows && (one.first == "batch" || one.first == "seq");
    if (is_split) position.split.push_back(one);
    if (!is_split && one.first != position.axis) position.shape.push_back(one);
  }
  return position;
}

std::vector<baselines::BenchmarkName> benchmark_names(const baselines::Run& run) {
  std::vector<baselines::BenchmarkName> names;
  for (const baselines::BenchmarkSeries& series : run.benchmarks) {
    if (auto name = baselines::parse_benchmark_name(series.name)) names.push_back(std::move(*name));
  }
  return names;
}

}  // namespace fusegate::ci
