#include "baselines/changes/find_missing.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>

#include "baselines/io/message_names.h"
#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {
namespace {

constexpr double kDay = 86'400;
constexpr double kRetiredAfter_s = 28 * kDay;

// In seconds. Clocks that others set may lie too far apart for whole numbers.
double time_between(std::int64_t before_unix_s, std::int64_t after_unix_s) {
  return static_cast<double>(after_unix_s) - static_cast<double>(before_unix_s);
}

std::string days(double seconds) { return fmt::format("{:.1f} days", seconds / kDay); }

// Nights are due at the median gap so far; where weekends are free, at the longer gap that recurs.
class Calendar {
 public:
  void add(double gap) { gaps_.push_back(gap); }
  bool is_late(double gap) const {
    constexpr std::size_t kFewest = 3;
    constexpr double kLate = 1.5, kRecurs = 0.9;
    return gaps_.size() >= kFewest && gap > kLate * std::max(usual(), quantile(gaps_, kRecurs));
  }
  double usual() const { return median(gaps_); }

 private:
  std::vector<double> gaps_;
};

std::string late_text(double gap, double usual, const std::string& after) {
  return fmt::format("no night for {} after {}, where one is usual every {}", days(gap), after,
                     days(usual));
}

void add_missing_nights(std::span<const Night> nights, std::int64_t now_unix_s,
                        std::vector<MissingData>& missing) {
  Calendar calendar;
  for (std::size_t i = 1; i <= nights.size(); ++i) {
    const Night& before = nights[i - 1];
    const std::int64_t end = i < nights.size() ? nights[i].unix_s : now_unix_s;
    const double gap = time_between(before.unix_s, end);
    if (calendar.is_late(gap)) {
      missing.push_back({"nights", before.session, late_text(gap, calendar.usual(), before.session),
                         i < nights.size() ? nights[i].session : ""});
    }
    if (gap > 0) calendar.add(gap);
  }
}

// In nights of the history, so that a pause of all is none of each.
struct Sightings {
  std::size_t last = 0;
  std::size_t longest = 0;  // gap so far
  int count = 0;

  void add(std::size_t night) {
    if (count > 0) longest = std::max(longest, night - last);
    last = night;
    ++count;
  }
  // Twice as long as ever.
  bool is_missing(std::size_t nights) const {
    constexpr int kFewest = 4;
    return count >= kFewest && nights - 1 - last >= 2 * longest;
  }
};

using Names = std::function<std::string(const Night&)>;

void add_missing_machines(std::span<const Night> nights, const std::string& kind,
                          const Names& name_of, std::vector<MissingData>& missing) {
  std::map<std::string, Sightings> seen;
  for (std::size_t i = 0; i < nights.size(); ++i) {
    if (const std::string name = name_of(nights[i]); !name.empty()) seen[name].add(i);
  }
  for (const auto& [name, own] : seen) {
    const Night& last = nights[own.last];
    if (!own.is_missing(nights.size())) continue;
    if (time_between(last.unix_s, nights.back().unix_s) > kRetiredAfter_s) continue;
    missing.push_back({kind + " " + name, last.session,
                       fmt::format("{} {} measured no night since {}; {} nights came since then",
                                   kind, name, last.session, nights.size() - 1 - own.last)});
  }
}

// Those that were last seen in the same night are one finding.
void add_missing_benchmarks(std::span<const Night> nights, std::vector<MissingData>& missing) {
  std::unordered_map<std::string, Sightings> seen;
  for (std::size_t i = 0; i < nights.size(); ++i) {
    for (const NightBenchmark& own : nights[i].benchmarks) {
      if (own.processes > 0) seen[own.name].add(i);
    }
  }
  std::map<std::size_t, std::vector<std::string>> by_last;
  for (const auto& [name, own] : seen) {
    if (own.is_missing(nights.size())) by_last[own.last].push_back(name);
  }
  for (auto& [last, names] : by_last) {
    const Night &before = nights[last], &after = nights[last + 1];
    if (time_between(before.unix_s, nights.back().unix_s) > kRetiredAfter_s) continue;
    std::ranges::sort(names);
    const bool is_suite = before.suite != after.suite;
    missing.push_back(
        {is_suite ? "suite" : "benchmarks", before.session,
         fmt::format("{} benchmark{} {} since {}: {}", names.size(), names.size() == 1 ? "" : "s",
                     is_suite ? "left the suite" : "stopped reporting", before.session,
                     first_of(names)),
         "", names});
  }
}

}  // namespace

std::vector<MissingData> missing_data(std::span<const Night> nights, std::int64_t now_unix_s) {
  std::vector<MissingData> missing;
  if (nights.empty()) return missing;
  add_missing_nights(nights, now_unix_s, missing);
  add_missing_machines(
      nights, "card", [](const Night& night) { return night.card; }, missing);
  add_missing_machines(
      nights, "machine", [](const Night& night) { return night.machine; }, missing);
  add_missing_benchmarks(nights, missing);
  return missing;
}

}  // namespace fusegate::baselines
