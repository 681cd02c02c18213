#include "baselines/changes/night_noise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "baselines/statistics/cusum.h"
#include "baselines/statistics/student_t.h"
#include "baselines/statistics/variance_prior.h"

namespace fusegate::baselines {
namespace {

constexpr double kFar = 3;  // standard errors

// Of a t that is scaled to a variance of one.
double share_beyond(double degrees_of_freedom) {
  const double scale = std::sqrt((degrees_of_freedom - 2) / degrees_of_freedom);
  return 2 * t_upper_tail(kFar / scale, degrees_of_freedom);
}

}  // namespace

void NightNoise::add(std::size_t benchmark, double innovation, double relative_variance) {
  if (benchmark >= sums_.size()) sums_.resize(benchmark + 1);
  const VarianceEstimate own = of(benchmark);
  double square = innovation * innovation / relative_variance;
  if (own.degrees_of_freedom > 0) {
    square = std::min(square, std::pow(CusumRule{}.clip, 2) * own.variance);
    const double t = innovation / std::sqrt(relative_variance * own.variance);
    ++scores_;
    if (std::abs(normal_score(t, own.degrees_of_freedom)) > kFar) ++far_scores_;
  }
  sums_[benchmark].squares += square;
  ++sums_[benchmark].count;
}

void NightNoise::add_processes(std::size_t benchmark, double variance, int processes) {
  if (!(variance >= 0) || processes < 1) return;
  if (benchmark >= sums_.size()) sums_.resize(benchmark + 1);
  Sum& sum = sums_[benchmark];
  sum.process_variances += variance;
  sum.process_shares += 1.0 / processes;
  ++sum.process_nights;
}

double NightNoise::share_of(std::size_t benchmark, int processes) const {
  const VarianceEstimate own = of(benchmark);
  if (processes < 1 || own.degrees_of_freedom == 0 || sums_[benchmark].process_nights == 0)
    return 1;
  const Sum& sum = sums_[benchmark];
  const double usual = sum.process_shares / sum.process_nights;
  const double by_processes =
      std::min(1.0, sum.process_variances / sum.process_nights * usual / own.variance);
  return 1 + by_processes * (1.0 / processes / usual - 1);
}

void NightNoise::estimate(const std::vector<double>& covariates, double most) {
  constexpr double kFewest = 3;  // nights, before anything is known
  sums_.resize(covariates.size());
  std::vector<VarianceEstimate> own;
  double longest = 0;
  for (const Sum& sum : sums_) {
    own.push_back({sum.count > 0 ? sum.squares / sum.count : 0, sum.count});
    longest = std::max(longest, sum.count);
  }
  if (longest < kFewest) return;
  constexpr double kLeastVariance = 1e-12;  // a clock that is no finer
  variances_ = moderate_together(own, covariates);
  for (VarianceEstimate& variance : variances_) {
    variance.degrees_of_freedom = std::min(variance.degrees_of_freedom, most);
    variance.variance = std::max(variance.variance, kLeastVariance);
  }
  tails_ = tails();
}

VarianceEstimate NightNoise::of(std::size_t benchmark) const {
  return benchmark < variances_.size() && variances_[benchmark].degrees_of_freedom > 0
             ? variances_[benchmark]
             : VarianceEstimate{1, 0};
}

double NightNoise::tails() const {
  // As many scores as a quiet week of a suite has, of moderate tails, before more are known.
  constexpr double kGuessed = 1000, kGuess = 10;
  const double share = (far_scores_ + kGuessed * share_beyond(kGuess)) / (scores_ + kGuessed);
  double low = 3, high = 1000;
  if (share <= share_beyond(high)) return std::numeric_limits<double>::infinity();
  for (int i = 0; i < 30; ++i) {
    const double middle = std::sqrt(low * high);
    (share_beyond(middle) > share ? low : high) = middle;
  }
  return low;
}

double NightNoise::score(std::size_t benchmark, double innovation, double variance) const {
  const double scale = std::isinf(tails_) ? 1 : std::sqrt((tails_ - 2) / tails_);
  const double own = of(benchmark).degrees_of_freedom;
  return normal_score(innovation / (scale * std::sqrt(variance)), 1 / (1 / own + 1 / tails_));
}

}  // namespace fusegate::baselines
