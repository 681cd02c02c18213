#include "baselines/statistics/statistics.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/hypergeometric.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "baselines/statistics/student_t.h"

namespace fusegate::baselines {
namespace {

namespace bm = boost::math;

using InDouble = bm::policies::policy<bm::policies::promote_double<false>>;
using NonCentralT = bm::non_central_t_distribution<double, InDouble>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Beyond this, Boost's noncentral t runs out of range, while the unit normal in T' = (Z + d) / s is
// so small beside d that P(T' > t) = P(s < d / t) to four digits.
constexpr double kHugeQuantile = 50;

// A standard Student's t in 39 values, each with its probability: narrow cells at both ends, since
// what is asked for are small tail probabilities.
struct Nodes {
  std::vector<double> values;
  std::vector<double> weights;
};

Nodes nodes_of(double degrees_of_freedom) {
  constexpr double kEdges[] = {0,    1e-9, 1e-8, 1e-7, 1e-6,  3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3,
                               3e-3, 8e-3, 0.02, 0.045, 0.08, 0.14, 0.22, 0.32, 0.44};
  Nodes nodes{{0}, {1 - 2 * kEdges[std::size(kEdges) - 1]}};
  for (std::size_t i = 0; i + 1 < std::size(kEdges); ++i) {
    const double value =
        t_upper_quantile(std::midpoint(kEdges[i], kEdges[i + 1]), degrees_of_freedom);
    for (const double sign : {1.0, -1.0}) {
      nodes.values.push_back(sign * value);
      nodes.weights.push_back(kEdges[i + 1] - kEdges[i]);
    }
  }
  return nodes;
}

constexpr double kStepsAnE = 33;

// In steps of 3 %, which moves no quantile by as much as 1 %: a suite's benchmarks share what takes
// long to compute.
int log_steps(double value) {
  constexpr double kMost = 1e6;
  return static_cast<int>(std::lround(kStepsAnE * std::log(std::clamp(value, 1 / kMost, kMost))));
}

// What stands for all values of a step, so that nothing depends on which of them was asked for first.
double value_of(int log_steps) { return std::exp(log_steps / kStepsAnE); }

const Nodes& shared_nodes(double degrees_of_freedom) {
  thread_local std::map<int, Nodes> known;
  const int step = log_steps(degrees_of_freedom);
  const auto [found, inserted] = known.try_emplace(step);
  if (inserted) found->second = nodes_of(value_of(step));
  return found->second;
}

// P(narrow + wide > x): the wider one at each value of the narrower one.
double upper_tail_of_sum(double x, const ScaledT& narrow, const ScaledT& wide) {
  const Nodes& nodes = shared_nodes(narrow.degrees_of_freedom);
  double sum = 0;
  for (std::size_t i = 0; i < nodes.values.size(); ++i) {
    sum += nodes.weights[i] * t_upper_tail_by_table((x - narrow.scale * nodes.values[i]) / wide.scale,
                                                    wide.degrees_of_freedom);
  }
  return sum;
}

struct Sources {
  ScaledT narrow;
  ScaledT wide;
};

Sources sources_of(const Contrast& contrast) {
  const ScaledT means{contrast.standard_error, contrast.degrees_of_freedom};
  if (means.scale < contrast.scatter.scale) return {means, contrast.scatter};
  return {contrast.scatter, means};
}

// P(the contrast's error > x).
double upper_tail_of_error(const Contrast& contrast, double x) {
  const auto [narrow, wide] = sources_of(contrast);
  if (wide.scale == 0) return x > 0 ? 0 : 1;
  if (narrow.scale == 0) return t_upper_tail(x / wide.scale, wide.degrees_of_freedom);
  return upper_tail_of_sum(x, narrow, wide);
}

double quantile_of_sum(double p, const ScaledT& narrow, const ScaledT& wide) {
  constexpr double kFarthest = 1e8;  // of the table of t
  double low = 0;
  double high = wide.scale;
  while (high < kFarthest && upper_tail_of_sum(high, narrow, wide) > p) {
    low = high;
    high *= 2;
  }
  constexpr int kHalvings = 14;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = std::midpoint(low, high);
    (upper_tail_of_sum(middle, narrow, wide) > p ? low : high) = middle;
  }
  return high;
}

}  // namespace

double upper_quantile(const ScaledT& t, double p) {
  return t.scale == 0 ? 0 : t.scale * t_upper_quantile(p, t.degrees_of_freedom);
}

double error_quantile(const Contrast& contrast, double p) {
  if (!(contrast.degrees_of_freedom > 0)) return kInfinity;
  const auto [narrow, wide] = sources_of(contrast);
  if (narrow.scale == 0) return upper_quantile(wide, p);
  using Key = std::tuple<double, int, int, int>;
  thread_local std::map<Key, double> known;
  const Key key{p, log_steps(narrow.degrees_of_freedom), log_steps(wide.degrees_of_freedom),
                log_steps(narrow.scale / wide.scale)};
  const auto [found, inserted] = known.try_emplace(key);
  if (inserted) {
    const auto& [level, narrow_step, wide_step, ratio_step] = key;
    found->second = quantile_of_sum(level, {value_of(ratio_step), value_of(narrow_step)},
                                    {1, value_of(wide_step)});
  }
  return wide.scale * found->second;
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(std::vector<double> values) {
  if (values.empty()) return kNan;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return std::midpoint(*std::max_element(values.begin(), middle), *middle);
}

double quantile(std::vector<double> values, double p) {
  if (values.empty()) return kNan;
  std::ranges::sort(values);
  const double position = p * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], position - static_cast<double>(below));
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
  return upper_tail_of_error(contrast, contrast.effect - threshold);
}

Interval confidence_interval(const Contrast& contrast, double confidence) {
  if (!(contrast.degrees_of_freedom > 0)) return {-kInfinity, kInfinity};
  const double half = error_quantile(contrast, (1 - confidence) / 2);
  return {contrast.effect - half, contrast.effect + half};
}

double upper_bound(const Contrast& contrast, double level) {
  if (!(contrast.degrees_of_freedom > 0)) return kInfinity;
  return contrast.effect + error_quantile(contrast, level);
}

Interval binomial_interval(int successes, int trials, double tail) {
  using boost::math::binomial_distribution;
  if (trials == 0) return {0, 1};
  return {binomial_distribution<>::find_lower_bound_on_p(trials, successes, tail),
          binomial_distribution<>::find_upper_bound_on_p(trials, successes, tail)};
}

double hypergeometric_upper_tail(int seen, int own, int other, int marked) {
  double sum = 0;
  const bm::hypergeometric_distribution<> distribution(marked, own, own + other);
  for (int k = std::max(seen, marked - other); k <= std::min(own, marked); ++k) {
    sum += bm::pdf(distribution, k);
  }
  return std::min(1.0, sum);
}

double detectable_noncentrality(double degrees_of_freedom, double level, double power) {
  if (!(degrees_of_freedom > 0)) return kInfinity;
  const double critical = t_upper_quantile(level, degrees_of_freedom);
  if (std::isinf(degrees_of_freedom)) return critical + t_upper_quantile(1 - power, kInfinity);
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
