#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

#include "baselines/history/change_id.h"
#include "baselines/io/message_names.h"
#include "ci/console/format.h"
#include "ci/console/json_number.h"
#include "ci/notify/alert.h"

namespace fusegate::ci {
namespace {

using baselines::ChangeClass;
using baselines::ChangePoint;
using baselines::Confirmation;

constexpr std::size_t kMostNames = 20;
// The subject of what moved all benchmarks alike.
constexpr std::string_view kEverything = "everything";

bool is_refuted(const ChangePoint& point) {
  return point.is_true == false || (!point.is_true && point.confirmation == Confirmation::kRefuted);
}

// What is reported at once.
bool is_certain(const ChangePoint& point) {
  if (is_refuted(point)) return false;
  const bool has_no_commits = point.of_class == ChangeClass::kLibrary ||
                              point.of_class == ChangeClass::kCard ||
                              point.of_class == ChangeClass::kMethod;
  return has_no_commits || point.is_true || point.confirmation == Confirmation::kConfirmed;
}

struct LogChange {
  double value = 0;
  double half_width_squared = 0;

  void add(const ChangePoint& point) {
    value += std::log1p(point.effect);
    const double half = (std::log1p(point.high) - std::log1p(point.low)) / 2;
    half_width_squared += half * half;
  }
  double effect() const { return std::expm1(value); }
};

// What is left of a change after the later ones of its subject; nothing where there is none.
std::optional<LogChange> left_of(const ChangePoint& point, std::span<const ChangePoint> later) {
  LogChange left;
  left.add(point);
  bool has_later = false;
  for (const ChangePoint& other : later) {
    if (other.subject != point.subject || !is_certain(other)) continue;
    left.add(other);
    has_later = true;
  }
  return has_later ? std::optional(left) : std::nullopt;
}

bool is_taken_back(const ChangePoint& point, const std::optional<LogChange>& left) {
  if (!left) return false;
  const double beyond = left->value * (point.effect > 0 ? 1 : -1);
  return beyond <= std::sqrt(left->half_width_squared);
}

std::string gone_text(const ChangePoint& point, const std::optional<LogChange>& left) {
  if (point.is_true == false) return "it was a false alarm, as triage says";
  if (is_refuted(point)) return "a duet of the commits around it does not show it";
  if (!is_taken_back(point, left)) return "";
  return fmt::format("it was taken back: {} is left of it", format_effect(left->effect()));
}

std::string confirmation_text(const ChangePoint& point) {
  if (point.is_true == true) return "true, as triage says";
  if (!point.confirmation) return "not asked for: no two commits differ in it";
  switch (*point.confirmation) {
    case Confirmation::kAsked:
      return "not confirmed so far";
    case Confirmation::kConfirmed:
      return "a duet of the commits around it shows it";
    case Confirmation::kRefuted:
      break;
  }
  return "not confirmed";
}

// Of everything none but whom a pattern names for that: a driver is not for each team to look into.
std::set<std::string> owners_of(const ChangePoint& point, const baselines::Settings& settings) {
  std::vector<std::string> names = point.benchmarks;
  if (names.empty() || point.subject == kEverything) names = {point.subject};
  std::set<std::string> found;
  for (const std::string& name : names) found.insert(baselines::settings_of(settings, name).owner);
  found.erase("");
  return found;
}

nlohmann::json change_json(const ChangePoint& point) {
  const auto optional = [](const auto& value, auto to_json) {
    return value ? nlohmann::json(to_json(*value)) : nlohmann::json(nullptr);
  };
  std::vector<std::string> names = point.benchmarks;
  names.resize(std::min(names.size(), kMostNames));
  return {{"subject", point.subject},
          {"effect", json_number(point.effect)},
          {"interval", json_interval({point.low, point.high})},
          {"class", change_class_name(point.of_class)},
          {"reason", point.reason},
          {"benchmarks", names},
          {"benchmark_count", point.benchmarks.size()},
          {"first_session", point.first_session},
          {"last_session_before", point.last_session_before},
          {"alarm_session", point.alarm_session},
          {"confirmation", optional(point.confirmation, baselines::confirmation_name)},
          {"is_true", optional(point.is_true, [](bool is_true) { return is_true; })}};
}

std::vector<Fact> facts_of(const ChangePoint& point, const std::optional<LogChange>& left) {
  std::vector<Fact> facts{
      {"effect", fmt::format("{}, 95 % interval {}", format_effect(point.effect),
                             format_interval({point.low, point.high}))},
      {"since", fmt::format("{}; the night before it: {}; found: {}", point.first_session,
                            point.last_session_before, point.alarm_session)},
      {"class", fmt::format("{}{}{}", change_class_name(point.of_class),
                            point.reason.empty() ? "" : ": ", point.reason)},
      {"confirmed", confirmation_text(point)}};
  if (left) facts.push_back({"left by later changes", format_effect(left->effect())});
  if (!point.benchmarks.empty()) {
    facts.push_back({format_count(point.benchmarks.size(), "benchmark"),
                     baselines::first_of(point.benchmarks, ", ", kMostNames)});
  }
  const std::string id = change_id(point);
  facts.push_back({"true or false", fmt::format("fusegate triage {0} true, or fusegate triage {0} "
                                                "false",
                                                id)});
  return facts;
}

// The day of a session that is named by its time, "20261122T102030Z-pr"; else its name.
std::string day_of(const std::string& session) {
  const bool is_time = session.size() >= 16 && session[8] == 'T' && session[15] == 'Z' &&
                       std::all_of(session.begin(), session.begin() + 8,
                                   [](unsigned char c) { return std::isdigit(c) != 0; });
  if (!is_time) return session;
  return session.substr(0, 4) + '-' + session.substr(4, 2) + '-' + session.substr(6, 2);
}

Alert alert_of(const ChangePoint& point, const std::optional<LogChange>& left,
               const baselines::Settings& settings) {
  const std::string gone = gone_text(point, left);
  return {
      .kind = "change",
      .id = change_id(point),
      .title = fmt::format("{} is {} {} since {}", point.subject, format_magnitude(point.effect),
                           point.effect > 0 ? "slower" : "faster", day_of(point.first_session)),
      .facts = facts_of(point, left),
      .owners = owners_of(point, settings),
      .json = change_json(point),
      .needs_action = point.effect > 0,
      .gone = gone,
      .news = gone.empty() ? "stands" : "gone"};
}

// changes: each with its effect.
Alert alert_of_others(const std::vector<std::string>& changes,
                      const std::vector<std::string>& ids) {
  return {.kind = "not_confirmed",
          .id = "all",
          .title = fmt::format("{} {} not confirmed: {}", format_count(changes.size(), "change"),
                               changes.size() == 1 ? "is" : "are", baselines::first_of(changes)),
          .json = {{"changes", ids}},
          .needs_action = false,
          .news = fmt::format("{}", fmt::join(ids, " "))};
}

}  // namespace

std::vector<Alert> alerts_of(std::span<const ChangePoint> points,
                             const baselines::Settings& settings) {
  std::vector<Alert> alerts;
  std::vector<std::string> others, names;
  for (std::size_t i = points.size(); i-- > 0;) {
    const ChangePoint& point = points[i];
    const auto left = left_of(point, points.subspan(i + 1));
    if (is_certain(point) || is_refuted(point)) {
      alerts.push_back(alert_of(point, left, settings));
    }
    if (is_certain(point) || point.is_true || is_taken_back(point, left)) continue;
    others.push_back(fmt::format("{} ({})", point.subject, format_effect(point.effect)));
    names.push_back(change_id(point));
  }
  if (!others.empty()) alerts.push_back(alert_of_others(others, names));
  return alerts;
}

}  // namespace fusegate::ci
