#include "ci/claims/ratio.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fusegate::ci {
namespace {

std::vector<double> logarithms(const std::vector<double>& values) {
  std::vector<double> logs;
  for (const double value : values) logs.push_back(std::log(value));
  return logs;
}

// NaN of none.
double mean(const std::vector<double>& values) {
  return std::reduce(values.begin(), values.end()) / static_cast<double>(values.size());
}

}  // namespace

std::optional<Ratio> ratio_of(const std::vector<double>& numerators,
                              const std::vector<double>& denominators, double confidence) {
  if (numerators.empty() || denominators.empty()) return std::nullopt;
  const std::vector<double> above = logarithms(numerators);
  const std::vector<double> below = logarithms(denominators);
  const baselines::VarianceEstimate variance = baselines::pooled_variance({above, below});
  const auto n = static_cast<double>(above.size());
  const auto m = static_cast<double>(below.size());
  const baselines::Contrast contrast{mean(above) - mean(below),
                                     std::sqrt(variance.variance * (1 / n + 1 / m)),
                                     variance.degrees_of_freedom};
  const baselines::Interval logs = baselines::confidence_interval(contrast, confidence);
  return Ratio{std::exp(contrast.effect),
               {std::exp(logs.low), std::exp(logs.high)},
               static_cast<int>(std::min(above.size(), below.size()))};
}

Answer is_within(const Ratio& ratio, double low, double high) {
  if (!ratio.is_known()) return Answer::kUnknown;
  const auto& [from, to] = ratio.interval;
  if (from > low && to < high) return Answer::kYes;
  return to <= low || from >= high ? Answer::kNo : Answer::kUnknown;
}

std::string ratio_text(const Ratio& ratio) {
  if (!ratio.is_known()) return fmt::format("{:.3f} (one process, no interval)", ratio.value);
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", ratio.value, ratio.interval.low,
                     ratio.interval.high);
}

double typical(const std::vector<double>& values) { return std::exp(mean(logarithms(values))); }

}  // namespace fusegate::ci
