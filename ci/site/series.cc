#include "ci/site/series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

namespace fusegate::ci {
namespace {

using baselines::Night;
using baselines::NightBenchmark;

constexpr std::size_t kNightsBefore = 14;
constexpr std::size_t kWeek = 7;
// Of a normal distribution.
constexpr double kQuantile975 = 1.959964, kQuantile95 = 1.644854;

double median(std::vector<double> values) {
  if (values.empty()) return baselines::kUnknown;
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

bool has_replay(const NightBenchmark* one) {
  return one != nullptr && one->over_replay && std::isfinite(one->over_replay->value);
}

Movement over_replay(const NightBenchmark& last, const Night& night) {
  const auto& [value, variance] = *last.over_replay;
  const double deviation = std::sqrt(variance);
  const double reach = kQuantile975 * deviation;
  return {.effect = std::expm1(value),
          .low = std::expm1(value - reach),
          .high = std::expm1(value + reach),
          .ruled_out = std::max(0.0, std::expm1(value + kQuantile95 * deviation)),
          .against = "the replay of " + night.replayed.substr(0, 12)};
}

}  // namespace

double Series::latest(double NightBenchmark::*figure) const {
  const auto found = std::ranges::find_if(
      nights.rbegin(), nights.rend(),
      [&](const NightBenchmark* one) { return one != nullptr && std::isfinite(one->*figure); });
  return found == nights.rend() ? baselines::kUnknown : **found.*figure;
}

std::vector<Series> all_series(const std::vector<Night>& nights) {
  std::map<std::string, std::vector<const NightBenchmark*>> by_name;
  for (std::size_t i = 0; i < nights.size(); ++i) {
    for (const NightBenchmark& benchmark : nights[i].benchmarks) {
      auto& own = by_name[benchmark.name];
      own.resize(nights.size());
      own[i] = &benchmark;
    }
  }
  std::vector<Series> all;
  for (auto& [name, own] : by_name) all.push_back({name, std::move(own)});
  return all;
}

Curve curve_of(const Series& series, const std::vector<Night>& nights) {
  std::size_t known = 0, replayed = 0;
  for (const NightBenchmark* one : series.nights) {
    known += one != nullptr;
    replayed += has_replay(one);
  }
  Curve curve{.is_break = std::vector<bool>(nights.size()), .is_over_replay = 2 * replayed > known};
  const std::string* last_replayed = nullptr;
  for (std::size_t i = 0; i < nights.size(); ++i) {
    const NightBenchmark* one = series.nights[i];
    double value = baselines::kUnknown;
    if (!curve.is_over_replay && one != nullptr) value = one->log_equal_clock;
    if (curve.is_over_replay && has_replay(one)) {
      value = one->over_replay->value;
      curve.is_break[i] = last_replayed != nullptr && *last_replayed != nights[i].replayed;
      last_replayed = &nights[i].replayed;
    }
    curve.values.push_back(value);
  }
  return curve;
}

Movement last_movement(const Series& series, const std::vector<Night>& nights) {
  const NightBenchmark* last = series.last();
  if (last == nullptr) return {};
  if (has_replay(last)) return over_replay(*last, nights.back());
  std::vector<double> before;
  for (std::size_t i = nights.size() - 1; i-- > 0 && before.size() < kNightsBefore;) {
    const NightBenchmark* one = series.nights[i];
    if (one != nullptr && std::isfinite(one->log_equal_clock))
      before.push_back(one->log_equal_clock);
  }
  const std::size_t count = before.size();
  return {.effect = std::expm1(last->log_equal_clock - median(std::move(before))),
          .against = count == 1 ? "the night before"
                                : fmt::format("the median of the {} nights before", count)};
}

double whole_movement(const Curve& curve) {
  std::vector<double> known;
  std::ranges::copy_if(curve.values, std::back_inserter(known),
                       [](double value) { return std::isfinite(value); });
  const bool has_break = std::ranges::find(curve.is_break, true) != curve.is_break.end();
  if (known.size() < 2 * kWeek || has_break) return baselines::kUnknown;
  return std::expm1(median({known.end() - kWeek, known.end()}) -
                    median({known.begin(), known.begin() + kWeek}));
}

}  // namespace fusegate::ci
