#include "baselines/statistics/scatter.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "baselines/statistics/student_t.h"

namespace fusegate::baselines {
namespace {

constexpr std::size_t kScales = 28;
constexpr double kSmallest = 1e-5, kLargest = 0.03;
// Of what is typical of groups.
constexpr double kLargestCenter = 0.02;
constexpr std::array kTails{1.5, 2.0, 3.0, 4.0, 6.0, 10.0, 30.0, 1000.0};
// How far groups' scales differ: standard deviations of their logarithms.
constexpr std::array kDispersions{0.1, 0.5, 1.0};

// A value for each scale, and for each tail of each scale.
using PerScale = std::array<double, kScales>;
using Table = std::array<PerScale, kTails.size()>;

const PerScale& log_scales() {
  static const PerScale scales = [] {
    PerScale result{};
    const double step = std::log(kLargest / kSmallest) / (kScales - 1);
    for (std::size_t i = 0; i < kScales; ++i) {
      result[i] = std::log(kSmallest) + step * static_cast<double>(i);
    }
    return result;
  }();
  return scales;
}

// Of t without its scale: lgamma and pi.
double log_constant(double degrees_of_freedom) {
  return std::lgamma((degrees_of_freedom + 1) / 2) - std::lgamma(degrees_of_freedom / 2) -
         std::log(degrees_of_freedom) / 2;
}

void add_likelihood(const Residual& residual, Table& table) {
  static const auto constants = [] {
    std::array<double, kTails.size()> result{};
    std::ranges::transform(kTails, result.begin(), log_constant);
    return result;
  }();
  for (std::size_t scale = 0; scale < kScales; ++scale) {
    const double variance = std::exp(2 * log_scales()[scale]) +
                            residual.standard_error * residual.standard_error;
    const double square = residual.value * residual.value / variance;
    for (std::size_t tail = 0; tail < kTails.size(); ++tail) {
      table[tail][scale] += constants[tail] - std::log(variance) / 2 -
                            (kTails[tail] + 1) / 2 * std::log1p(square / kTails[tail]);
    }
  }
}

// A log-normal prior of a group's scale, on the grid.
PerScale prior_about(double center, double dispersion) {
  PerScale prior{};
  double sum = 0;
  for (std::size_t i = 0; i < kScales; ++i) {
    const double distance = (log_scales()[i] - center) / dispersion;
    sum += prior[i] = std::exp(-distance * distance / 2);
  }
  for (double& value : prior) value /= sum;
  return prior;
}

// Of the logarithms of likelihoods: their own, but for a factor that keeps them in range.
struct Likelihood {
  PerScale values{};
  double log_factor = 0;
};

Likelihood likelihood_of(const PerScale& logarithms) {
  Likelihood result;
  result.log_factor = *std::ranges::max_element(logarithms);
  for (std::size_t i = 0; i < kScales; ++i) {
    result.values[i] = std::exp(logarithms[i] - result.log_factor);
  }
  return result;
}

// The posterior's weights of every scale and tail of every group, and of one without residuals.
struct Posterior {
  std::vector<Table> groups;
  Table other{};
};

Posterior posterior_of(const std::vector<Table>& logarithms) {
  struct Hypothesis {
    std::size_t tail;
    PerScale prior;
    std::vector<double> evidence;  // of each group
    double log_evidence;
  };
  std::vector<std::vector<Likelihood>> likelihoods(kTails.size());
  std::vector<Hypothesis> hypotheses;
  for (std::size_t tail = 0; tail < kTails.size(); ++tail) {
    for (const Table& own : logarithms) likelihoods[tail].push_back(likelihood_of(own[tail]));
    for (const double dispersion : kDispersions) {
      for (const double center : log_scales()) {
        if (center > std::log(kLargestCenter)) break;
        Hypothesis own{tail, prior_about(center, dispersion), {}, 0};
        for (const Likelihood& group : likelihoods[tail]) {
          double evidence = 1e-300;
          for (std::size_t i = 0; i < kScales; ++i) evidence += own.prior[i] * group.values[i];
          own.evidence.push_back(evidence);
          own.log_evidence += std::log(evidence) + group.log_factor;
        }
        hypotheses.push_back(std::move(own));
      }
    }
  }
  const double most =
      std::ranges::max_element(hypotheses, {}, &Hypothesis::log_evidence)->log_evidence;
  Posterior posterior{std::vector<Table>(logarithms.size()), {}};
  double sum = 0;
  for (const Hypothesis& own : hypotheses) sum += std::exp(own.log_evidence - most);
  for (const Hypothesis& own : hypotheses) {
    const double weight = std::exp(own.log_evidence - most) / sum;
    if (weight < 1e-12) continue;
    for (std::size_t i = 0; i < kScales; ++i) {
      posterior.other[own.tail][i] += weight * own.prior[i];
      for (std::size_t group = 0; group < logarithms.size(); ++group) {
        posterior.groups[group][own.tail][i] += weight * own.prior[i] *
                                                likelihoods[own.tail][group].values[i] /
                                                own.evidence[group];
      }
    }
  }
  return posterior;
}

double upper_tail(const Table& weights, double x) {
  constexpr double kNegligible = 1e-9;
  double sum = 0;
  for (std::size_t tail = 0; tail < kTails.size(); ++tail) {
    for (std::size_t i = 0; i < kScales; ++i) {
      if (weights[tail][i] < kNegligible) continue;
      sum += weights[tail][i] *
             t_upper_tail_by_table(x / std::exp(log_scales()[i]), kTails[tail]);
    }
  }
  return sum;
}

double quantile(const Table& weights, double p) {
  double low = std::log(kSmallest) - 3;
  double high = std::log(kLargest) + 12;
  constexpr int kHalvings = 20;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (upper_tail(weights, std::exp(middle)) > p ? low : high) = middle;
  }
  return std::exp(high);
}

ScaledT scaled_t(const Table& weights, double tail) {
  constexpr double kNear = 0.025;
  const double near = quantile(weights, kNear);
  const double ratio = quantile(weights, tail) / near;
  double low = std::log(0.5);
  double high = std::log(1000.0);
  constexpr int kHalvings = 20;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    const double own = std::exp(middle);
    (t_upper_quantile(tail, own) / t_upper_quantile(kNear, own) > ratio ? low : high) = middle;
  }
  return {near / t_upper_quantile(kNear, std::exp(low)), std::exp(low)};
}

}  // namespace

double smallest_relevant(std::size_t tests) {
  return std::min(1e-5, 0.01 / static_cast<double>(std::max<std::size_t>(1, tests)));
}

Scatter::Scatter(const std::vector<Residual>& residuals, double tail) {
  std::map<int, Table> by_group;
  for (const Residual& residual : residuals) add_likelihood(residual, by_group[residual.group]);
  std::vector<Table> tables;
  for (const auto& [group, table] : by_group) tables.push_back(table);
  const Posterior posterior = posterior_of(tables);
  std::size_t i = 0;
  for (const auto& [group, table] : by_group) {
    groups_[group] = scaled_t(posterior.groups[i++], tail);
  }
  other_ = scaled_t(posterior.other, tail);
}

ScaledT Scatter::of(int group) const {
  const auto found = groups_.find(group);
  return found == groups_.end() ? other_ : found->second;
}

}  // namespace fusegate::baselines
