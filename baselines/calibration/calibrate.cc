#include "baselines/calibration/calibrate.h"

#include <algorithm>

#include "baselines/calibration/cards.h"
#include "baselines/calibration/draws.h"
#include "baselines/calibration/spread.h"
#include "baselines/io/error.h"

namespace fusegate::baselines {
namespace {

PerClass<Quantiles> by_class(const std::vector<double>& values,
                             const std::vector<DurationClass>& classes) {
  PerClass<std::vector<double>> members;
  for (std::size_t i = 0; i < values.size(); ++i) {
    members[class_index(classes[i])].push_back(values[i]);
  }
  PerClass<Quantiles> result;
  std::ranges::transform(members, result.begin(), quantiles_of);
  return result;
}

}  // namespace

Calibration calibrate(const CalibrationPool& pool, const CalibrationOptions& options) {
  const Run& first = pool.cards.front();
  Calibration calibration;
  calibration.suite = first.provenance.suite;
  calibration.environment = first.environment;
  calibration.protocol = first.provenance.protocol;
  calibration.runs = pool.runs;
  calibration.left_out = pool.left_out;
  calibration.options = options;
  for (const Run& card : pool.cards) add_warnings(calibration.warnings, card.warnings);

  calibration.benchmarks = benchmark_spreads(pool.cards);
  if (calibration.benchmarks.front().degrees_of_freedom == 0) {
    throw InputError(first.source, "", "a calibration needs at least two processes on one card");
  }
  std::vector<DurationClass> classes;
  for (const BenchmarkCalibration& benchmark : calibration.benchmarks) {
    classes.push_back(duration_class(benchmark.time_ns));
  }
  calibration.spread = class_spreads(calibration.benchmarks, classes);
  calibration.between_card = between_card(pool, classes);
  const JudgedDraws judged = judge_draws(pool, options);
  calibration.alarms = judged.alarms;
  calibration.smallest_detectable = by_class(judged.smallest_detectable, classes);
  for (std::size_t i = 0; i < judged.smallest_detectable.size(); ++i) {
    calibration.benchmarks[i].smallest_detectable = judged.smallest_detectable[i];
  }
  return calibration;
}

}  // namespace fusegate::baselines
