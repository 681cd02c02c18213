#include "baselines/changes/night_noise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "baselines/changes/cusum.h"
#include "baselines/statistics/student_t.h"
#include "baselines/statistics/variance_prior.h"

namespace fusegate::baselines {
namespace {

// Of |t| times the scale.
double share_beyond(double limit, const ScaledT& t) {
  return 2 * t_upper_tail(limit / t.scale, t.degrees_of_freedom);
}

// That has this share beyond one.
ScaledT with_share_beyond_one(double share, double degrees_of_freedom) {
  return {1 / t_upper_quantile(share / 2, degrees_of_freedom), degrees_of_freedom};
}

}  // namespace

void NightNoise::add(std::size_t benchmark, double innovation, double relative_variance) {
  if (benchmark >= sums_.size()) sums_.resize(benchmark + 1);
  const VarianceEstimate own = of(benchmark);
  double square = innovation * innovation / relative_variance;
  if (own.degrees_of_freedom > 0) {
    square = std::min(square, std::pow(CusumRule{}.clip, 2) * own.variance);
    const double t = innovation / std::sqrt(relative_variance * own.variance);
    const double score = std::abs(normal_score(t, own.degrees_of_freedom));
    ++innovations_;
    if (score > 1) ++beyond_one_;
    if (score > 3) ++beyond_three_;
  }
  sums_[benchmark].squares += square;
  ++sums_[benchmark].count;
}

void NightNoise::add_processes(std::size_t benchmark, double variance, int processes) {
  if (!(variance >= 0 && variance < 1) || processes < 1) return;
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
  if (longest < kFewest && variances_.empty()) return;
  constexpr double kLeastVariance = 1e-12;  // a clock that is no finer
  variances_ = moderate_together(own, covariates);
  for (VarianceEstimate& variance : variances_) {
    variance.degrees_of_freedom = std::min(variance.degrees_of_freedom, most);
    variance.variance = std::max(variance.variance, kLeastVariance);
  }
  fit_tails();
  forget();
}

VarianceEstimate NightNoise::of(std::size_t benchmark) const {
  return benchmark < variances_.size() && variances_[benchmark].degrees_of_freedom > 0
             ? variances_[benchmark]
             : VarianceEstimate{1, 0};
}

// A machine's noise changes over the year: a night counts for half after nine weeks.
void NightNoise::forget() {
  constexpr double kKept = 0.92;
  for (Sum& sum : sums_) {
    for (double* part : {&sum.squares, &sum.count, &sum.process_variances, &sum.process_shares,
                         &sum.process_nights}) {
      *part *= kKept;
    }
  }
  for (double* count : {&innovations_, &beyond_one_, &beyond_three_}) *count *= kKept;
}

void NightNoise::fit_tails() {
  // Of moderate tails and unit variance, as many as a quiet week of a suite has, before more are
  // known.
  constexpr double kGuessed = 1000;
  const ScaledT guess{std::sqrt(0.8), 10};
  const double count = innovations_ + kGuessed;
  const double one = (beyond_one_ + kGuessed * share_beyond(1, guess)) / count;
  const double three = (beyond_three_ + kGuessed * share_beyond(3, guess)) / count;
  double low = 1.5, high = 1000;
  for (int i = 0; i < 30; ++i) {
    const double middle = std::sqrt(low * high);
    (share_beyond(3, with_share_beyond_one(one, middle)) > three ? low : high) = middle;
  }
  shape_ = with_share_beyond_one(one, low);
}

double NightNoise::score(std::size_t benchmark, double innovation, double variance) const {
  const double t = innovation / (shape_.scale * std::sqrt(variance));
  return normal_score(t,
                      1 / (1 / of(benchmark).degrees_of_freedom + 1 / shape_.degrees_of_freedom));
}

}  // namespace fusegate::baselines
