#include "baselines/comparing/clock_share.h"

#include <algorithm>
#include <cmath>

namespace fusegate::baselines {
namespace {

constexpr double squared(double value) { return value * value; }

// Of the share, where the samples show little.
constexpr double kPriorMean = 0.5, kPriorDeviation = 0.3;

// Of time about the line through its clock.
double residual_variance(const ClockFit& fit) {
  const double explained = fit.clock_squares > 0 ? squared(fit.products) / fit.clock_squares : 0;
  return std::max(0.0, fit.time_squares - explained) / (fit.degrees_of_freedom - 1);
}

}  // namespace

double clock_share(const std::vector<const BenchmarkSeries*>& series) {
  ClockFit fit;
  for (const BenchmarkSeries* one : series) {
    for (const ProcessSummary& summary : one->processes) {
      fit.clock_squares += summary.clock_fit.clock_squares;
      fit.time_squares += summary.clock_fit.time_squares;
      fit.products += summary.clock_fit.products;
      fit.degrees_of_freedom += summary.clock_fit.degrees_of_freedom;
    }
  }
  if (fit.degrees_of_freedom < 2) return 0;
  const double ridge = residual_variance(fit) / squared(kPriorDeviation);
  const double certainty = fit.clock_squares + ridge;
  if (!(certainty > 0)) return kPriorMean;  // neither ever changed, so it does not matter
  return std::clamp((ridge * kPriorMean - fit.products) / certainty, 0.0, 1.0);
}

double log_at_share(const ProcessSummary& summary, double share) {
  if (share == 0) return std::log(summary.time_ns);  // whose cycles may be NaN
  return (1 - share) * std::log(summary.time_ns) + share * std::log(summary.cycles);
}

bool has_cycles(const BenchmarkSeries& series) {
  return std::ranges::all_of(series.processes, [](const ProcessSummary& summary) {
    return std::isfinite(summary.cycles) && summary.cycles > 0;
  });
}

}  // namespace fusegate::baselines
