#include "ci/report/history_table.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <utility>

#include "ci/console/format.h"

namespace fusegate::ci {
namespace {

using baselines::HistoryPoint;
using baselines::Night;

constexpr int kPlotColumns = 15;

struct Range {
  double low = 0, high = 0;
};

// Of logarithms, by device.
std::map<std::string, Range> ranges_of(const std::vector<HistoryPoint>& points) {
  std::map<std::string, Range> ranges;
  for (const HistoryPoint& point : points) {
    const double value = point.benchmark.log_equal_clock;
    if (!std::isfinite(value)) continue;
    Range& range = ranges.try_emplace(point.night.device, Range{value, value}).first->second;
    range = {std::min(range.low, value), std::max(range.high, value)};
  }
  return ranges;
}

// "|    o    |", faster to the left.
std::string plot_of(double value, const Range& range) {
  if (!std::isfinite(value)) return "";
  const double share =
      range.high > range.low ? (value - range.low) / (range.high - range.low) : 0.5;
  std::string plot(kPlotColumns, ' ');
  plot[static_cast<std::size_t>(std::lround(share * (kPlotColumns - 1)))] = 'o';
  return '|' + plot + '|';
}

std::string date_text(std::int64_t unix_s) {
  const std::chrono::sys_seconds date{std::chrono::seconds(unix_s)};
  return fmt::format("{:%Y-%m-%d}", date);
}

// "driver 570.1 -> 580.2, code"
std::string changes_text(const HistoryPoint& before, const HistoryPoint& now) {
  std::vector<std::string> changes;
  for (const auto& [name, field] :
       {std::pair{"driver", &Night::driver}, std::pair{"CUDA", &Night::cuda},
        std::pair{"cuBLAS", &Night::cublas}}) {
    const std::string &from = before.night.*field, &to = now.night.*field;
    if (from != to) changes.push_back(fmt::format("{} {} -> {}", name, from, to));
  }
  if (before.night.card != now.night.card) changes.push_back("card");
  if (before.night.method != now.night.method) changes.push_back("protocol");
  const std::string &from = before.benchmark.identity, &to = now.benchmark.identity;
  if (!from.empty() && !to.empty() && from != to) changes.push_back("code");
  return fmt::format("{}", fmt::join(changes, ", "));
}

std::string short_card(const std::string& card) {
  return card.starts_with("GPU-") ? card.substr(4, 8) : card;
}

// The last nights of a device before this one.
struct Before {
  const HistoryPoint* any = nullptr;
  const HistoryPoint* measured = nullptr;  // in which it was
};

}  // namespace

Table history_table(const std::vector<HistoryPoint>& points) {
  Table table({{"date"},
               {"commit", Align::kLeft, true},
               {"card"},
               {"at equal clock", Align::kRight},
               {"change", Align::kRight},
               {"faster     slower"},
               {"what changed"}});
  const auto ranges = ranges_of(points);
  std::map<std::string, Before> before_on;
  for (const HistoryPoint& point : points) {
    const double value = point.benchmark.log_equal_clock;
    Before& before = before_on[point.night.device];
    const double change = before.measured != nullptr
                              ? std::expm1(value - before.measured->benchmark.log_equal_clock)
                              : baselines::kUnknown;
    const auto range = ranges.find(point.night.device);
    table.add_row({date_text(point.night.unix_s), point.night.commit.substr(0, 12),
                   short_card(point.night.card), format_time_ns(std::exp(value)),
                   format_effect(change),
                   range == ranges.end() ? "" : plot_of(value, range->second),
                   before.any != nullptr ? changes_text(*before.any, point) : ""});
    before.any = &point;
    if (std::isfinite(value)) before.measured = &point;
  }
  return table;
}

}  // namespace fusegate::ci
