#include "ci/claims/ratio.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fusegate::ci {
namespace {

std::vector<double> logarithms(const std::vector<double>& values) {
  std::vector<double> logs;
  for (const double value : values) logs.push_back(std::log(value));
  return logs;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

std::optional<Ratio> ratio_of(const std::vector<double>& numerators,
                              const std::vector<double>& denominators) {
  if (numerators.empty() || denominators.empty()) return std::nullopt;
  const std::vector<double> above = logarithms(numerators);
  const std::vector<double> below = logarithms(denominators);
  const baselines::VarianceEstimate variance = baselines::pooled_variance({above, below});
  const auto n = static_cast<double>(above.size());
  const auto m = static_cast<double>(below.size());
  const baselines::Contrast contrast{mean(above) - mean(below),
                                     std::sqrt(variance.variance * (1 / n + 1 / m)),
                                     variance.degrees_of_freedom};
  const baselines::Interval logs = baselines::confidence_interval(contrast, kClaimConfidence);
  return Ratio{std::exp(contrast.effect),
               {std::exp(logs.low), std::exp(logs.high)},
               static_cast<int>(std::min(above.size(), below.size()))};
}

Answer is_below(const Ratio& ratio, double bound) {
  if (!ratio.is_known()) return Answer::kUnknown;
  if (ratio.interval.high < bound) return Answer::kYes;
  return ratio.interval.low >= bound ? Answer::kNo : Answer::kUnknown;
}

Answer is_above(const Ratio& ratio, double bound) {
  if (!ratio.is_known()) return Answer::kUnknown;
  if (ratio.interval.low > bound) return Answer::kYes;
  return ratio.interval.high <= bound ? Answer::kNo : Answer::kUnknown;
}

Answer is_within(const Ratio& ratio, double low, double high) {
  return all_of({is_above(ratio, low), is_below(ratio, high)});
}

std::string ratio_text(const Ratio& ratio) {
  if (!ratio.is_known()) return fmt::format("{:.3f} (one process, no interval)", ratio.value);
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", ratio.value, ratio.interval.low,
                     ratio.interval.high);
}

Answer is_faster(const TimeRatio& ratio) {
  std::vector<Answer> answers{is_below(ratio.time, 1 - kClaimEffect)};
  if (ratio.cycles) answers.push_back(is_below(*ratio.cycles, 1 - kClaimEffect));
  return all_of(answers);
}

Answer is_slower(const TimeRatio& ratio) {
  std::vector<Answer> answers{is_above(ratio.time, 1 + kClaimEffect)};
  if (ratio.cycles) answers.push_back(is_above(*ratio.cycles, 1 + kClaimEffect));
  return all_of(answers);
}

}  // namespace fusegate::ci
