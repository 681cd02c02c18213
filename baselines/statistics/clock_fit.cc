#include "baselines/statistics/clock_fit.h"

#include <cmath>

#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {
namespace {

// Which samples some share explains, give or take five standard deviations by the median absolute
// deviation.
std::vector<std::size_t> explained(const std::vector<double>& log_times,
                                   const std::vector<double>& log_clocks) {
  constexpr double kFarthest = 5, kMadToDeviation = 1.4826;
  std::vector<double> residuals;
  for (std::size_t i = 0; i < log_times.size(); ++i) {
    residuals.push_back(log_times[i] + 0.5 * log_clocks[i]);
  }
  const double middle = median(residuals), middle_clock = median(log_clocks);
  const double reach = kFarthest * kMadToDeviation * median_absolute_deviation(residuals);
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    // From share 0 to share 1 the residual changes by the clock's deviation.
    const double shares = 0.5 * std::abs(log_clocks[i] - middle_clock);
    if (reach == 0 || std::abs(residuals[i] - middle) <= reach + shares) result.push_back(i);
  }
  return result;
}

}  // namespace

ClockFit fit_clock(const std::vector<double>& times_ns, const std::vector<double>& cycles) {
  std::vector<double> log_times, log_clocks;
  for (std::size_t i = 0; i < times_ns.size(); ++i) {
    log_times.push_back(std::log(times_ns[i]));
    log_clocks.push_back(std::log(cycles[i] / times_ns[i]));
  }
  ClockFit fit{.degrees_of_freedom = -1};
  double mean_time = 0, mean_clock = 0;
  // The sums grow by each sample's deviation from the mean so far: B. P. Welford, "Note on a method
  // for calculating corrected sums of squares and products", Technometrics 4 (1962), 419-420.
  for (const std::size_t i : explained(log_times, log_clocks)) {
    fit.degrees_of_freedom += 1;
    const double count = fit.degrees_of_freedom + 1;
    const double time_step = log_times[i] - mean_time, clock_step = log_clocks[i] - mean_clock;
    mean_time += time_step / count;
    mean_clock += clock_step / count;
    fit.time_squares += time_step * (log_times[i] - mean_time);
    fit.clock_squares += clock_step * (log_clocks[i] - mean_clock);
    fit.products += clock_step * (log_times[i] - mean_time);
  }
  return fit;
}

}  // namespace fusegate::baselines
