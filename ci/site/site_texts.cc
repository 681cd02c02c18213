#include "ci/site/site_texts.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <utility>

#include "baselines/history/change_id.h"
#include "baselines/history/text_hash.h"
#include "ci/console/format.h"

namespace fusegate::ci {
namespace {

using baselines::ChangePoint;
using baselines::Confirmation;

// What is left of a name in an address, so that people know it.
constexpr std::size_t kLongestStem = 48;
constexpr std::size_t kMostNamed = 3;

std::string moved_text(const ChangePoint& change) {
  const std::vector<std::string>& all = change.benchmarks;
  if (all.empty() || (all.size() == 1 && all.front() == change.subject)) return "";
  std::string text = all.size() == 1 ? "moved: " : fmt::format("{} moved: ", all.size());
  for (std::size_t i = 0; i < std::min(all.size(), kMostNamed); ++i) {
    text += (i == 0 ? "" : ", ") + all[i];
  }
  if (all.size() > kMostNamed) text += fmt::format(" and {} more", all.size() - kMostNamed);
  return text;
}

// The cause, the name by which people triage it, and what moved.
std::string why_text(const ChangePoint& change) {
  std::string text = change.reason;
  for (const std::string& more : {"alarm " + baselines::change_id(change), moved_text(change)}) {
    if (!more.empty()) text += (text.empty() ? "" : "; ") + more;
  }
  return text;
}

}  // namespace

std::string night_date(const baselines::Night& night) {
  const std::chrono::sys_seconds date{std::chrono::seconds(night.unix_s)};
  return fmt::format("{:%Y-%m-%d}", date);
}

std::optional<std::size_t> night_of_session(const std::vector<baselines::Night>& nights,
                                            const std::string& session) {
  const auto found = std::ranges::find(nights, session, &baselines::Night::session);
  if (found == nights.end()) return std::nullopt;
  return static_cast<std::size_t>(found - nights.begin());
}

std::string page_of_benchmark(std::string_view name) {
  std::string stem;
  for (const char c : name.substr(0, kLongestStem)) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    if (is_plain) {
      stem += c;
    } else if (!stem.empty() && stem.back() != '-') {
      stem += '-';
    }
  }
  return fmt::format("b/{}-{}.html", stem, baselines::text_hash(name));
}

bool concerns(const ChangePoint& change, std::string_view benchmark) {
  return change.subject == benchmark ||
         std::ranges::find(change.benchmarks, benchmark) != change.benchmarks.end();
}

bool is_of_all(const ChangePoint& change) { return change.subject == "everything"; }

std::string confirmation_text(const ChangePoint& change) {
  if (!change.confirmation) return "not asked";
  switch (*change.confirmation) {
    case Confirmation::kAsked:
      return "asked";
    case Confirmation::kConfirmed:
      return "confirmed";
    case Confirmation::kRefuted:
      return "refuted";
  }
  return "";
}

Cell triage_cell(const ChangePoint& change) {
  if (!change.is_true) return {"-"};
  return *change.is_true ? Cell("true") : Cell("false", Tone::kUnsure);
}

Cell change_cell(double effect) {
  return {format_effect(effect), effect > 0 ? Tone::kBad : Tone::kGood};
}

std::string alarms_text(const std::vector<ChangePoint>& changes) {
  const auto triaged = std::ranges::count_if(
      changes, [](const ChangePoint& change) { return change.is_true.has_value(); });
  const auto wrong = std::ranges::count_if(
      changes, [](const ChangePoint& change) { return change.is_true == false; });
  std::string text = format_count(changes.size(), "alarm");
  if (triaged == 0) return text + (changes.empty() ? "" : ", none triaged");
  return text +
         fmt::format("; {} triaged, {} of them false ({})", triaged, wrong,
                     format_share(static_cast<double>(wrong) / static_cast<double>(triaged)));
}

Table changes_table(const std::vector<ChangePoint>& changes,
                    const std::vector<baselines::Night>& nights, const std::string& prefix) {
  Table table({{"since"},
               {"what", Align::kLeft, true},
               {"class"},
               {"effect", Align::kRight},
               {"interval", Align::kRight},
               {"duet"},
               {"alarm"},
               {"cause", Align::kLeft, false, true}});
  std::vector<std::pair<std::optional<std::size_t>, const ChangePoint*>> newest_first;
  for (const ChangePoint& change : changes) {
    newest_first.emplace_back(night_of_session(nights, change.first_session), &change);
  }
  std::ranges::stable_sort(newest_first, std::greater<>(),
                           [](const auto& one) { return one.first; });
  for (const auto& [since, change] : newest_first) {
    Cell subject(change->subject);
    // A family has none.
    const bool has_page = std::ranges::any_of(nights, [&](const baselines::Night& one) {
      return std::ranges::binary_search(one.benchmarks, change->subject, {},
                                        &baselines::NightBenchmark::name);
    });
    if (has_page) subject.href = prefix + page_of_benchmark(change->subject);
    table.add_row({since ? night_date(nights[*since]) : change->first_session, subject,
                   baselines::change_class_name(change->of_class), change_cell(change->effect),
                   format_interval({change->low, change->high}), confirmation_text(*change),
                   triage_cell(*change), why_text(*change)});
  }
  return table;
}

}  // namespace fusegate::ci
