#include "baselines/statistics/clock_fit.h"

#include <cmath>

#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {
namespace {

// Parts samples that some share explains, give or take five standard deviations by the median
// absolute deviation, from those that none does.
class Explained {
 public:
  Explained(const std::vector<double>& log_times, const std::vector<double>& log_clocks)
      : log_times_(log_times), log_clocks_(log_clocks), middle_clock_(median(log_clocks)) {
    std::vector<double> residuals;
    for (std::size_t i = 0; i < log_times.size(); ++i) residuals.push_back(residual(i));
    constexpr double kFarthest = 5, kMadToDeviation = 1.4826;
    middle_ = median(residuals);
    reach_ = kFarthest * kMadToDeviation * median_absolute_deviation(residuals);
  }

  bool has(std::size_t i) const {
    // From share 0 to share 1 the residual changes by the clock's deviation.
    const double shares = 0.5 * std::abs(log_clocks_[i] - middle_clock_);
    return reach_ == 0 || std::abs(residual(i) - middle_) <= reach_ + shares;
  }

 private:
  double residual(std::size_t i) const { return log_times_[i] + 0.5 * log_clocks_[i]; }

  const std::vector<double>& log_times_;
  const std::vector<double>& log_clocks_;
  double middle_clock_;
  double middle_ = 0;
  double reach_ = 0;
};

}  // namespace

ClockFit fit_clock(const std::vector<double>& times_ns, const std::vector<double>& cycles) {
  std::vector<double> log_times, log_clocks;
  for (std::size_t i = 0; i < times_ns.size(); ++i) {
    log_times.push_back(std::log(times_ns[i]));
    log_clocks.push_back(std::log(cycles[i] / times_ns[i]));
  }
  const Explained explained(log_times, log_clocks);
  ClockFit fit{.degrees_of_freedom = -1};
  double mean_time = 0, mean_clock = 0;
  // The sums grow by each sample's deviation from the mean so far: B. P. Welford, "Note on a method
  // for calculating corrected sums of squares and products", Technometrics 4 (1962), 419-420.
  for (std::size_t i = 0; i < log_times.size(); ++i) {
    if (!explained.has(i)) continue;
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
