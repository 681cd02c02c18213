#include "baselines/clock_share.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "baselines/statistics.h"

namespace fusegate {
namespace {

constexpr double squared(double value) { return value * value; }

// What a normal distribution's median absolute deviation is to its standard deviation.
constexpr double kMadToDeviation = 1.4826;

void add(const BenchmarkSeries& series, ClockFit& sum) {
  for (const InvocationSummary& summary : series.invocations) {
    sum.clock_squares += summary.clock_fit.clock_squares;
    sum.time_squares += summary.clock_fit.time_squares;
    sum.products += summary.clock_fit.products;
    sum.degrees_of_freedom += summary.clock_fit.degrees_of_freedom;
  }
}

// Of time about the line through its clock.
double residual_variance(const ClockFit& fit) {
  const double explained =
      fit.clock_squares > 0 ? squared(fit.products) / fit.clock_squares : 0;
  return std::max(0.0, fit.time_squares - explained) / (fit.degrees_of_freedom - 1);
}

}  // namespace

ClockFit fit_clock(const std::vector<double>& times_ns, const std::vector<double>& cycles) {
  constexpr double kFarthest = 5;
  const double middle = median(times_ns);
  const double reach = kFarthest * kMadToDeviation * median_absolute_deviation(times_ns);
  std::vector<double> log_times, log_clocks;
  for (std::size_t i = 0; i < times_ns.size(); ++i) {
    if (reach > 0 && std::abs(times_ns[i] - middle) > reach) continue;
    log_times.push_back(std::log(times_ns[i]));
    log_clocks.push_back(std::log(cycles[i] / times_ns[i]));
  }
  const auto count = static_cast<double>(log_times.size());
  const double mean_time = std::accumulate(log_times.begin(), log_times.end(), 0.0) / count;
  const double mean_clock = std::accumulate(log_clocks.begin(), log_clocks.end(), 0.0) / count;
  ClockFit fit{.degrees_of_freedom = count - 1};
  for (std::size_t i = 0; i < log_times.size(); ++i) {
    fit.time_squares += squared(log_times[i] - mean_time);
    fit.clock_squares += squared(log_clocks[i] - mean_clock);
    fit.products += (log_times[i] - mean_time) * (log_clocks[i] - mean_clock);
  }
  return fit;
}

double clock_share(const std::vector<const BenchmarkSeries*>& series) {
  constexpr double kPriorMean = 0.5, kPriorDeviation = 0.3;
  ClockFit fit;
  for (const BenchmarkSeries* one : series) add(*one, fit);
  if (fit.degrees_of_freedom < 2) return 0;
  const double ridge = residual_variance(fit) / squared(kPriorDeviation);
  const double certainty = fit.clock_squares + ridge;
  if (!(certainty > 0)) return kPriorMean;  // neither ever changed, so it does not matter
  return std::clamp((ridge * kPriorMean - fit.products) / certainty, 0.0, 1.0);
}

double log_at_share(const InvocationSummary& summary, double share) {
  if (share == 0) return std::log(summary.time_ns);  // whose cycles may be NaN
  return (1 - share) * std::log(summary.time_ns) + share * std::log(summary.cycles);
}

bool has_cycles(const BenchmarkSeries& series) {
  return std::ranges::all_of(series.invocations, [](const InvocationSummary& summary) {
    return std::isfinite(summary.cycles) && summary.cycles > 0;
  });
}

}  // namespace fusegate
