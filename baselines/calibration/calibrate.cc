#include "baselines/calibration/calibrate.h"

#include <utility>

#include "baselines/calibration/cards.h"
#include "baselines/calibration/draws.h"
#include "baselines/calibration/judge.h"
#include "baselines/calibration/spread.h"
#include "baselines/io/error.h"

namespace fusegate::baselines {
namespace {

// By what is assumed of cards: what the calibration itself says of them would excuse them.
std::vector<Rule> rules_of(const CalibrationOptions& options) {
  std::vector<Rule> rules{options.rule};
  if (options.sharp_min_effect != options.rule.min_effect) {
    rules.push_back(options.rule);
    rules.back().min_effect = options.sharp_min_effect;
  }
  return rules;
}

void add_draws(const CalibrationPool& pool, const CalibrationOptions& options,
               const std::vector<DurationClass>& classes, Calibration& calibration) {
  JudgedDraws judged = judge_draws(pool, classes, rules_of(options), options);
  calibration.rules = std::move(judged.rules);
  for (std::size_t i = 0; i < judged.detectable.size(); ++i) {
    calibration.benchmarks[i].smallest_detectable = judged.detectable[i];
  }
}

}  // namespace

Calibration calibrate(const CalibrationPool& pool, const CalibrationOptions& options) {
  const Run& first = pool.cards.front().run;
  Calibration calibration;
  calibration.suite = first.provenance.suite;
  calibration.environment = first.environment;
  calibration.protocol = first.provenance.protocol;
  calibration.runs = pool.runs;
  calibration.left_out = pool.left_out;
  calibration.comparisons = options.comparisons;
  calibration.side = options.side;
  calibration.seed = options.seed;
  calibration.possible_draws = possible_draws(pool, options.side);
  calibration.possible_side_by_side = possible_side_by_side(pool, options.side);
  for (const PooledCard& card : pool.cards) add_doubts(calibration.doubts, card.run.doubts);

  calibration.benchmarks = benchmark_spreads(pool.cards);
  if (calibration.benchmarks.front().degrees_of_freedom == 0) {
    throw InputError(first.source, "", "a calibration needs two invocations on one card at least");
  }
  std::vector<DurationClass> classes;
  for (const BenchmarkCalibration& benchmark : calibration.benchmarks) {
    classes.push_back(duration_class(benchmark.time_ns));
  }
  calibration.spread = class_spreads(calibration.benchmarks, classes);
  calibration.between_card = between_card(pool, classes);
  add_draws(pool, options, classes, calibration);
  return calibration;
}

}  // namespace fusegate::baselines
