#include "baselines/statistics/statistics.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <limits>
#include <numeric>

namespace fusegate::baselines {
namespace {

namespace bm = boost::math;

// Not in long double, which takes three times as long and of which no more is kept.
using InDouble = bm::policies::policy<bm::policies::promote_double<false>>;
using StudentsT = bm::students_t_distribution<double, InDouble>;
using NonCentralT = bm::non_central_t_distribution<double, InDouble>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Beyond this, Boost's noncentral t runs out of range, while the unit normal in T' = (Z + d) / s is
// so small beside d that P(T' > t) = P(s < d / t) to four digits.
constexpr double kHugeQuantile = 50;

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// P(T > t). Student's t with infinite degrees of freedom is the normal distribution, but Boost
// wants to be told so by type.
double upper_tail(double t, double degrees_of_freedom) {
  if (std::isinf(t)) return t > 0 ? 0 : 1;
  if (std::isinf(degrees_of_freedom)) return bm::cdf(bm::complement(bm::normal(), t));
  return bm::cdf(bm::complement(StudentsT(degrees_of_freedom), t));
}

// The t with P(T > t) = p.
double upper_quantile(double p, double degrees_of_freedom) {
  if (std::isinf(degrees_of_freedom)) return bm::quantile(bm::complement(bm::normal(), p));
  return bm::quantile(bm::complement(StudentsT(degrees_of_freedom), p));
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return kNan;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return std::midpoint(*std::max_element(values.begin(), middle), *middle);
}

double fast_half(const std::vector<double>& values) {
  constexpr double kFrom = 0.05, kTo = 0.5;
  if (values.empty()) return kNan;
  std::vector<double> sorted = values;
  std::ranges::sort(sorted);
  const double size = static_cast<double>(sorted.size());
  double sum = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    // Each value stands for its share of the distribution.
    const double from = std::max(kFrom, static_cast<double>(i) / size);
    const double to = std::min(kTo, static_cast<double>(i + 1) / size);
    if (to > from) sum += (to - from) * sorted[i];
  }
  return sum / (kTo - kFrom);
}

double median_absolute_deviation(const std::vector<double>& values) {
  const double center = median(values);
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::abs(value - center));
  return median(std::move(deviations));
}

VarianceEstimate pooled_variance(const std::vector<std::span<const double>>& groups) {
  double squares = 0;
  double degrees_of_freedom = 0;
  for (const auto& group : groups) {
    if (group.size() < 2) continue;
    const double center = mean(group);
    for (const double value : group) squares += (value - center) * (value - center);
    degrees_of_freedom += static_cast<double>(group.size() - 1);
  }
  if (degrees_of_freedom == 0) return {};
  return {squares / degrees_of_freedom, degrees_of_freedom};
}

void add_variance(const VarianceEstimate& more, Contrast& contrast) {
  if (!(contrast.degrees_of_freedom > 0) || !(more.variance > 0)) return;
  const double noise = contrast.standard_error * contrast.standard_error;
  const double total = noise + more.variance;
  contrast.standard_error = std::sqrt(total);
  contrast.degrees_of_freedom = total * total /
                                (noise * noise / contrast.degrees_of_freedom +
                                 more.variance * more.variance / more.degrees_of_freedom);
}

double p_above(const Contrast& contrast, double threshold) {
  if (!(contrast.degrees_of_freedom > 0)) return 1;
  const double distance = contrast.effect - threshold;
  if (contrast.standard_error == 0) return distance > 0 ? 0 : 1;
  return upper_tail(distance / contrast.standard_error, contrast.degrees_of_freedom);
}

Interval confidence_interval(const Contrast& contrast, double confidence) {
  if (!(contrast.degrees_of_freedom > 0)) return {-kInfinity, kInfinity};
  const double half =
      upper_quantile((1 - confidence) / 2, contrast.degrees_of_freedom) * contrast.standard_error;
  return {contrast.effect - half, contrast.effect + half};
}

double upper_bound(const Contrast& contrast, double level) {
  if (!(contrast.degrees_of_freedom > 0)) return kInfinity;
  return contrast.effect +
         upper_quantile(level, contrast.degrees_of_freedom) * contrast.standard_error;
}

Interval binomial_interval(int successes, int trials, double tail) {
  using boost::math::binomial_distribution;
  if (trials == 0) return {0, 1};
  return {binomial_distribution<>::find_lower_bound_on_p(trials, successes, tail),
          binomial_distribution<>::find_upper_bound_on_p(trials, successes, tail)};
}

double detectable_noncentrality(double degrees_of_freedom, double level, double power) {
  if (!(degrees_of_freedom > 0)) return kInfinity;
  const double critical = upper_quantile(level, degrees_of_freedom);
  if (std::isinf(degrees_of_freedom)) return critical + upper_quantile(1 - power, kInfinity);
  if (critical > kHugeQuantile) {
    const bm::chi_squared variance(degrees_of_freedom);
    return critical * std::sqrt(bm::quantile(variance, power) / degrees_of_freedom);
  }
  const auto missing_power = [&](double noncentrality) {
    const NonCentralT alternative(degrees_of_freedom, noncentrality);
    return bm::cdf(bm::complement(alternative, critical)) - power;
  };
  std::uintmax_t iterations = 100;
  const auto bracket = bm::tools::bracket_and_solve_root(
      missing_power, critical + 1, 2.0, true, bm::tools::eps_tolerance<double>(20), iterations);
  return std::midpoint(bracket.first, bracket.second);
}

std::vector<double> benjamini_hochberg(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, std::greater<>{}, [&](std::size_t i) { return p[i]; });
  std::vector<double> adjusted(p.size());
  double smallest = 1;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double rank = static_cast<double>(p.size() - i);
    smallest = std::min(smallest, p[order[i]] * static_cast<double>(p.size()) / rank);
    adjusted[order[i]] = smallest;
  }
  return adjusted;
}

}  // namespace fusegate::baselines
