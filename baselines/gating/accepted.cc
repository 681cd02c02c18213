#include "baselines/gating/accepted.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <stdexcept>

#include "baselines/io/file_io.h"
#include "baselines/io/instant.h"
#include "baselines/io/json_field.h"
#include "baselines/io/pattern.h"

namespace fusegate::baselines {
namespace {

// Each is compared with each benchmark.
constexpr std::size_t kMostEntries = 1000;
constexpr std::array kKeys{"pattern", "effect", "reason", "who", "until", "link"};

Interval read_range(const JsonField& field) {
  const std::vector<JsonField> ends = field.elements();
  const bool are_two = ends.size() == 2;
  const Interval range = are_two ? Interval{ends[0].number(), ends[1].number()} : Interval{};
  if (!are_two || !(range.low >= 0 && range.high > 0 && range.low <= range.high)) {
    field.fail("must be two fractions, the smaller first, such as [0.01, 0.04] for 1 to 4 %");
  }
  return range;
}

std::string read_said(const JsonField& field) {
  std::string text = field.text();
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) field.fail("must not be empty");
  return text;
}

std::string read_pattern(const JsonField& field) {
  const std::string text = read_said(field);
  try {
    const Pattern compiled(text);
  } catch (const std::invalid_argument& error) {
    field.fail(error.what());
  }
  return text;
}

std::string read_link(const JsonField& field) {
  const std::string link = field.text();
  if (!link.starts_with("https://")) field.fail("must be an address that begins with https://");
  return link;
}

AcceptedSlowdown read_entry(const JsonField& field) {
  for (const auto& [key, value] : field.members()) {
    if (std::ranges::find(kKeys, key) != kKeys.end()) continue;
    value.fail(fmt::format("unknown key; known: {}", fmt::join(kKeys, ", ")));
  }
  AcceptedSlowdown entry{.pattern = read_pattern(field.at("pattern")),
                         .effect = read_range(field.at("effect")),
                         .reason = read_said(field.at("reason")),
                         .who = read_said(field.at("who")),
                         .until = field.at("until").text()};
  if (!parse_day(entry.until)) field.at("until").fail("must be a day such as \"2026-12-31\"");
  if (const auto link = field.find("link")) entry.link = read_link(*link);
  return entry;
}

// What an accepted slowdown may be said of.
bool may_be_accepted(const Verdict& verdict) {
  return !verdict.is_control && std::isfinite(verdict.estimates.effect) &&
         (verdict.kind == VerdictKind::kRegression || verdict.kind == VerdictKind::kInconclusive);
}

AcceptedState state_of(const AcceptedSlowdown& entry, std::chrono::sys_seconds now,
                       const Verdict& verdict) {
  if (is_expired(entry, now)) return AcceptedState::kExpired;
  return verdict.estimates.effect <= entry.effect.high ? AcceptedState::kCovers
                                                       : AcceptedState::kOutgrown;
}

void apply(const AcceptedSlowdown& entry, AcceptedState state, Verdict& verdict) {
  if (verdict.is_accepted()) return;
  const bool is_better = !verdict.accepted || state == AcceptedState::kCovers ||
                         entry.pattern.size() > verdict.accepted->pattern.size();
  if (!is_better) return;
  verdict.accepted = entry;
  verdict.accepted_state = state;
}

// Whether a benchmark that was decided by its times is not as slow as the entry says.
bool is_better(const Verdict& verdict, const AcceptedSlowdown& entry) {
  return verdict.kind == VerdictKind::kUnchanged || verdict.kind == VerdictKind::kImprovement ||
         (verdict.kind == VerdictKind::kRegression && verdict.estimates.effect < entry.effect.low);
}

}  // namespace

std::optional<std::chrono::sys_days> parse_day(const std::string& text) {
  const auto instant = text.size() == 10 ? parse_instant(text + "T00:00:00Z") : std::nullopt;
  if (!instant) return std::nullopt;
  return std::chrono::time_point_cast<std::chrono::days>(*instant);
}

bool is_expired(const AcceptedSlowdown& entry, std::chrono::sys_seconds now) {
  return now >= parse_day(entry.until).value() + std::chrono::days(1);
}

std::vector<AcceptedSlowdown> read_accepted(const std::filesystem::path& path) {
  return parse_accepted(read_file(path), path.string());
}

std::vector<AcceptedSlowdown> parse_accepted(std::string_view text, const std::string& source) {
  const nlohmann::json json = parse_json(text, source);
  const JsonField field(json, source, "");
  const std::vector<JsonField> elements = field.elements();
  if (elements.size() > kMostEntries) {
    field.fail(
        fmt::format("has {} entries; at most {} are possible", elements.size(), kMostEntries));
  }
  std::vector<AcceptedSlowdown> entries;
  std::set<std::string> patterns;
  for (const JsonField& element : elements) {
    entries.push_back(read_entry(element));
    if (!patterns.insert(entries.back().pattern).second) {
      element.at("pattern").fail("is there twice; keep one of the entries");
    }
  }
  return entries;
}

std::string accepted_text(const std::vector<AcceptedSlowdown>& entries) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const AcceptedSlowdown& entry : entries) {
    nlohmann::ordered_json json{{"pattern", entry.pattern},
                                {"effect", {entry.effect.low, entry.effect.high}},
                                {"reason", entry.reason},
                                {"who", entry.who},
                                {"until", entry.until}};
    if (!entry.link.empty()) json["link"] = entry.link;
    list.push_back(std::move(json));
  }
  return list.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

AcceptedReview apply_accepted(const std::vector<AcceptedSlowdown>& entries,
                              std::chrono::sys_seconds now, std::vector<Verdict>& verdicts) {
  AcceptedReview review;
  for (const AcceptedSlowdown& entry : entries) {
    const Pattern pattern(entry.pattern);
    int fitting = 0, better = 0;
    for (Verdict& verdict : verdicts) {
      if (!pattern.fits(verdict.benchmark)) continue;
      if (may_be_accepted(verdict)) apply(entry, state_of(entry, now, verdict), verdict);
      ++fitting;
      better += is_better(verdict, entry);
    }
    if (is_expired(entry, now)) {
      review.expired.push_back(entry);
    } else if (fitting > 0 && better == fitting) {
      review.outlived.push_back(entry);
    }
  }
  return review;
}

}  // namespace fusegate::baselines
