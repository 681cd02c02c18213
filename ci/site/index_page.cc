#include "ci/site/index_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ci/console/format.h"
#include "ci/gate/gate_document.h"
#include "ci/site/benchmark_page.h"
#include "ci/site/site_texts.h"

namespace fusegate::ci {
namespace {

using baselines::ChangePoint;
using baselines::MissingData;
using baselines::Night;

constexpr std::size_t kMovers = 8;
constexpr std::size_t kOpenChanges = 10;
constexpr std::size_t kShownOfCommit = 12;
// Nights without a change of the machine are listed for two weeks.
constexpr std::size_t kListedNights = 14;

std::vector<const ChangePoint*> found_last(const Site& site) {
  std::vector<const ChangePoint*> found;
  for (const ChangePoint& change : site.changes) {
    if (change.alarm_session == site.nights.back().session) found.push_back(&change);
  }
  return found;
}

std::string changes_sentence(const Site& site) {
  std::vector<const ChangePoint*> found = found_last(site);
  if (found.empty()) return "No change point was found in the last night.";
  std::ranges::sort(found, [](const ChangePoint* a, const ChangePoint* b) {
    return std::abs(a->effect) > std::abs(b->effect);
  });
  const ChangePoint& most = *found.front();
  return fmt::format(
      "{} found in the last night, the largest {} in {} ({}{}{}).",
      found.size() == 1 ? "1 change point was" : fmt::format("{} change points were", found.size()),
      format_effect(most.effect), most.subject, baselines::change_class_name(most.of_class),
      most.reason.empty() ? "" : ", ", most.reason);
}

std::vector<const MissingData*> still_missing(const Site& site) {
  std::vector<const MissingData*> missing;
  for (const MissingData& one : site.missing) {
    if (one.until.empty()) missing.push_back(&one);
  }
  return missing;
}

std::string outcome_of(const Site& site) {
  for (const ChangePoint* change : found_last(site)) {
    if (change->effect > 0 && change->is_true != false) return "alarm";
  }
  return still_missing(site).empty() ? "quiet" : "missing data";
}

std::string missing_sentence(const Site& site) {
  const auto missing = still_missing(site);
  if (missing.empty()) return "";
  const std::size_t more = missing.size() - 1;
  return fmt::format(" Data are missing: {}{}.", missing.front()->what,
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

Section missing_section(const Site& site) {
  Section section{
      .title = "Missing data",
      .table = Table(
          {{"what", Align::kLeft, true}, {"since"}, {"until"}, {"", Align::kLeft, false, true}})};
  const auto date_of_session = [&](const std::string& session) {
    const auto night = night_of_session(site.nights, session);
    return night ? night_date(site.nights[*night]) : session;
  };
  for (const MissingData& one : site.missing) {
    section.table.add_row(
        {one.what, date_of_session(one.since), date_of_session(one.until), one.text});
  }
  return section;
}

// Of a benchmark, in every table.
struct Entry {
  const Series* series;
  Cell verdict;
  Movement movement;
};

std::vector<Entry> entries_of(const Site& site, const std::vector<Series>& all) {
  std::vector<Entry> entries;
  for (const Series& series : all) {
    const BenchmarkOfRun of_run = benchmark_of_run(site, series.name);
    entries.push_back(
        {&series, verdict_cell(site, series, of_run), movement_of(site, series, of_run)});
  }
  // The largest first; unknown ones last.
  std::ranges::stable_sort(entries, [](const Entry& a, const Entry& b) {
    const double x = std::abs(a.movement.effect), y = std::abs(b.movement.effect);
    return std::isfinite(x) && (!std::isfinite(y) || x > y);
  });
  return entries;
}

// Of those that have a bound: "slowdowns above 0.48 % in nine tenths of 344 benchmarks, above 0.91
// % in all".
std::string ruled_out_in_all(const std::vector<Entry>& entries) {
  std::vector<double> bounds;
  for (const Entry& entry : entries) {
    if (std::isfinite(entry.movement.ruled_out)) bounds.push_back(entry.movement.ruled_out);
  }
  if (bounds.empty()) return "";
  std::ranges::sort(bounds);
  return fmt::format("slowdowns above {} in nine tenths of {}, above {} in all",
                     format_magnitude(bounds[(9 * bounds.size() + 9) / 10 - 1]),
                     format_count(bounds.size(), "benchmark"), format_magnitude(bounds.back()));
}

std::vector<Fact> facts_of(const Site& site, const std::vector<Entry>& entries) {
  const Night& last = site.nights.back();
  std::string code =
      last.commit.empty() ? "commit unknown" : "commit " + last.commit.substr(0, kShownOfCommit);
  if (!last.replayed.empty()) code += ", beside " + last.replayed.substr(0, kShownOfCommit);
  std::vector<Fact> facts{
      {"last night", fmt::format("{}, {}", night_date(last), code)},
      {"machine", fmt::format("{}, card {}, driver {}, CUDA {}, cuBLAS {}", last.device, last.card,
                              last.driver, last.cuda, last.cublas)},
      {"history",
       fmt::format("{} since {}, {}", format_count(site.nights.size(), "night"),
                   night_date(site.nights.front()), format_count(entries.size(), "benchmark"))},
      {"alarms", alarms_text(site.changes)}};
  const std::string ruled_out = ruled_out_in_all(entries);
  if (!ruled_out.empty()) facts.push_back({"ruled out", ruled_out});
  return facts;
}

Cell linked(const std::string& benchmark) {
  Cell cell(benchmark);
  cell.href = page_of_benchmark(benchmark);
  return cell;
}

// Toned where its interval leaves no other sign.
Cell effect_cell(const Movement& movement) {
  const bool is_sure = movement.low > 0 || movement.high < 0;
  return is_sure ? change_cell(movement.effect) : Cell(format_effect(movement.effect));
}

// Empty where it is not known, so that a column without figures is left out.
std::string interval_text(const Movement& movement) {
  return std::isfinite(movement.low) ? format_interval({movement.low, movement.high}) : "";
}

// "> 1.24 %": slowdowns that large are.
std::string ruled_out_text(const Movement& movement) {
  return std::isfinite(movement.ruled_out) ? "> " + format_magnitude(movement.ruled_out) : "";
}

Section movers_section(const std::vector<Entry>& entries) {
  Section section{.title = "What moved most in the last night",
                  .table = Table({{"verdict"},
                                  {"benchmark", Align::kLeft, true},
                                  {"effect", Align::kRight},
                                  {"interval", Align::kRight},
                                  {"ruled out", Align::kRight},
                                  {"against", Align::kLeft, false, true}})};
  for (const Entry& entry : entries) {
    if (section.table.rows().size() == kMovers || !(std::abs(entry.movement.effect) > 0)) break;
    section.table.add_row({entry.verdict, linked(entry.series->name), effect_cell(entry.movement),
                           interval_text(entry.movement), ruled_out_text(entry.movement),
                           "against " + entry.movement.against});
  }
  return section;
}

std::string last_change(const Site& site, const std::string& benchmark) {
  std::string date;
  for (const ChangePoint& change : site.changes) {
    const auto night = night_of_session(site.nights, change.first_session);
    if (night && concerns(change, benchmark)) {
      date = std::max(date, night_date(site.nights[*night]));
    }
  }
  return date;
}

Section benchmarks_section(const Site& site, const std::vector<Entry>& entries) {
  const std::string since = "since " + night_date(site.nights.front());
  Section section{.title = format_count(entries.size(), "benchmark"),
                  .table = Table({{"verdict"},
                                  {"benchmark", Align::kLeft, true},
                                  {"last night", Align::kRight},
                                  {since, Align::kRight},
                                  {"time", Align::kRight},
                                  {"last change"},
                                  {"owner"}}),
                  .page_rows = kNoLimit - 1};
  for (const Entry& entry : entries) {
    const std::string& name = entry.series->name;
    const auto owner = site.owners.find(name);
    section.table.add_row({entry.verdict, linked(name), format_effect(entry.movement.effect),
                           format_effect(whole_movement(curve_of(*entry.series, site.nights))),
                           format_time_ns(entry.series->latest(&baselines::NightBenchmark::ns)),
                           last_change(site, name),
                           owner == site.owners.end() ? "" : owner->second});
  }
  return section;
}

// "driver 570.1 -> 580.2, CUDA 12.9 -> 13.0"
std::string machine_change(const Night& before, const Night& after) {
  std::string text;
  for (const auto& [what, field] : {std::pair{"device", &Night::device},
                                    {"driver", &Night::driver},
                                    {"CUDA", &Night::cuda},
                                    {"cuBLAS", &Night::cublas},
                                    {"suite", &Night::suite},
                                    {"protocol", &Night::method}}) {
    if (before.*field == after.*field) continue;
    text +=
        fmt::format("{}{} {} -> {}", text.empty() ? "" : ", ", what, before.*field, after.*field);
  }
  return text;
}

Section nights_section(const std::vector<Night>& nights) {
  Section section{.title = "Nights",
                  .sentences = {"The last two weeks, and before them those on which the machine or "
                                "the method changed."},
                  .table = Table({{"night"},
                                  {"commit", Align::kLeft, true},
                                  {"card", Align::kLeft, true},
                                  {"driver"},
                                  {"benchmarks", Align::kRight},
                                  {"what changed", Align::kLeft, false, true}}),
                  .fold = Fold::kAlways};
  for (std::size_t i = nights.size(); i-- > 0;) {
    const std::string changed = i == 0 ? "" : machine_change(nights[i - 1], nights[i]);
    if (i + kListedNights < nights.size() && changed.empty()) continue;
    const Night& night = nights[i];
    section.table.add_row({night_date(night), night.commit.substr(0, kShownOfCommit), night.card,
                           night.driver, std::to_string(night.benchmarks.size()), changed});
  }
  return section;
}

}  // namespace

Document index_document(const Site& site, const std::vector<Series>& all) {
  const Night& last = site.nights.back();
  const std::vector<Entry> entries = entries_of(site, all);
  Document document{.title = fmt::format("{} on {}", last.suite.empty() ? "Nights" : last.suite,
                                         last.device.empty() ? "an unnamed device" : last.device),
                    .outcome = outcome_of(site),
                    .headline = changes_sentence(site) + missing_sentence(site),
                    .facts = facts_of(site, entries)};
  if (site.report) {
    const Document gate = gate_document("", site.report->gate);
    document.summary = document.headline.substr(0, document.headline.size() - 1);
    document.outcome = gate.outcome;
    document.headline = gate.headline;
  }
  Section changes{.title = "Change points",
                  .table = changes_table(site.changes, site.nights, ""),
                  .page_rows = kOpenChanges};
  document.sections = {std::move(changes), missing_section(site), movers_section(entries),
                       benchmarks_section(site, entries), nights_section(site.nights)};
  return document;
}

}  // namespace fusegate::ci
