#include "ci/gate/verdict_sections.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "ci/console/format.h"
#include "ci/gate/gate_headline.h"
#include "ci/gate/kernel_diff_text.h"
#include "ci/gate/verdict_text.h"
#include "ci/sweep/roofline_time.h"

namespace fusegate::ci {
namespace {

using baselines::Family;
using baselines::KernelDiff;
using baselines::Verdict;
using baselines::VerdictKind;

// A terminal names those that are undecided, the most suspicious first, but a noisy machine has
// hundreds.
constexpr std::size_t kMostInconclusiveRows = 10;
// Of a family with more rows than that the worst stand for the others on a terminal.
constexpr std::size_t kMostRowsOfFamily = 6;
constexpr std::size_t kShownRowsOfFamily = 3;
// Of the other sections.
constexpr std::size_t kMostRows = 12;
// A page shows the worst, so that what follows is near.
constexpr std::size_t kMostPageRows = 6;

Tone tone_of(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kRegression:
    case VerdictKind::kInvalid:
      return Tone::kBad;
    case VerdictKind::kImprovement:
      return Tone::kGood;
    case VerdictKind::kMissing:
    case VerdictKind::kInconclusive:
      return Tone::kUnsure;
    case VerdictKind::kNew:
    case VerdictKind::kUnchanged:
    case VerdictKind::kIdentical:
      break;
  }
  return Tone::kPlain;
}

bool changed_its_time(VerdictKind kind) {
  return kind == VerdictKind::kRegression || kind == VerdictKind::kImprovement;
}

// rooflines: without any, their column is left out.
Table verdict_table(const RooflineTimes& rooflines) {
  std::vector<Column> columns{{"verdict"},
                              {"benchmark", Align::kLeft, true},
                              {"effect", Align::kRight},
                              {"interval", Align::kRight},
                              {"ruled out", Align::kRight},
                              {"in time", Align::kRight},
                              {"in cycles", Align::kRight},
                              {"baseline", Align::kRight},
                              {"candidate", Align::kRight}};
  if (!rooflines.empty()) columns.push_back({"of roofline", Align::kRight});
  columns.push_back({"why", Align::kLeft, false, true});
  return Table(std::move(columns));
}

std::string roofline_text(const RooflineTimes& rooflines, const std::string& benchmark) {
  const auto found = rooflines.find(benchmark);
  return found == rooflines.end() ? "-" : format_share(found->second.share());
}

// "> 1.24 %": slowdowns that large are.
std::string ruled_out_text(const Verdict& verdict) {
  if (!std::isfinite(verdict.estimates.ruled_out)) return "-";
  return fmt::format("> {:.2f} %", 100 * verdict.estimates.ruled_out);
}

// The worst first.
void add_verdicts(const VerdictGroup& group, const baselines::Rule& rule,
                  const RooflineTimes& rooflines, Table* table) {
  std::map<std::string_view, std::size_t> rows;
  std::map<std::string_view, std::size_t> seen;
  for (const Verdict* verdict : group.verdicts) {
    ++rows[baselines::family_of(verdict->benchmark)];
  }
  for (const Verdict* verdict : group.verdicts) {
    const std::string_view family = baselines::family_of(verdict->benchmark);
    const std::string name(baselines::verdict_name(group.kind));
    Cell kind(name, tone_of(group.kind));
    if (changed_its_time(group.kind) && rows[family] > kMostRowsOfFamily &&
        ++seen[family] > kShownRowsOfFamily) {
      kind.aside_of = fmt::format("{}s of {}", name, family);
    }
    if (group.kind == VerdictKind::kInconclusive && table->rows().size() >= kMostInconclusiveRows) {
      kind.aside_of = name;
    }
    Cell why(reason_text(*verdict, rule));
    why.is_aside = changed_its_time(group.kind);
    std::vector<Cell> row{kind,
                          verdict->benchmark,
                          format_effect(verdict->estimates.effect),
                          format_interval(verdict->estimates.interval),
                          ruled_out_text(*verdict),
                          format_effect(verdict->estimates.in_time),
                          format_effect(verdict->estimates.in_cycles),
                          format_time_ns(verdict->baseline.time_ns),
                          format_time_ns(verdict->candidate.time_ns)};
    if (!rooflines.empty()) row.emplace_back(roofline_text(rooflines, verdict->benchmark));
    row.push_back(std::move(why));
    table->add_row(std::move(row));
  }
}

// Where too little was ruled out, what is undecided and moved by more than matters stays to be
// seen.
bool is_open(const Verdict& verdict, const GateFacts& facts) {
  const auto& causes = facts.result.causes;
  const bool shows_undecided =
      std::ranges::find(causes, baselines::GateCause::kNotRuledOut) != causes.end();
  return baselines::looks_slower(verdict) || changed_its_time(verdict.kind) ||
         verdict.kind == VerdictKind::kInvalid || verdict.kind == VerdictKind::kMissing ||
         (shows_undecided && !baselines::is_decided(verdict) &&
          std::abs(verdict.estimates.effect) >
              limits_of(facts.options.rule, verdict.settings).min_effect);
}

Section verdicts_section(const GateFacts& facts) {
  const RooflineTimes rooflines = roofline_times(facts.candidate, earlier_runs(facts));
  Section section{.title = "Verdicts",
                  .table = verdict_table(rooflines),
                  .page_rows = kMostPageRows,
                  .page_order = PageOrder::kFirst};
  for (const auto& [kind, verdicts] : group_verdicts(facts.result.verdicts)) {
    VerdictGroup open{kind, {}};
    VerdictGroup folded{kind, {}};
    for (const Verdict* verdict : verdicts) {
      (is_open(*verdict, facts) ? open : folded).verdicts.push_back(verdict);
    }
    add_verdicts(open, facts.options.rule, rooflines, &section.table);
    if (folded.verdicts.empty()) continue;
    const bool is_undecided = kind == VerdictKind::kInconclusive;
    Section part{.title = count_text(folded.verdicts.size(), kind),
                 .table = verdict_table(rooflines),
                 .fold = Fold::kAlways,
                 .terminal_rows = is_undecided ? kNoLimit : 0};
    add_verdicts(folded, facts.options.rule, rooflines, &part.table);
    section.parts.push_back(std::move(part));
  }
  return section;
}

Section accepted_section(const std::vector<Verdict>& verdicts) {
  Section section{.title = "Accepted slowdowns",
                  .table = Table({{"benchmark", Align::kLeft, true},
                                  {"effect", Align::kRight},
                                  {"interval", Align::kRight},
                                  {"accepted", Align::kLeft, false, true}}),
                  .page_rows = kMostPageRows};
  for (const Verdict& verdict : verdicts) {
    if (verdict.kind != VerdictKind::kRegression || !verdict.is_accepted()) continue;
    section.table.add_row({{verdict.benchmark, Tone::kUnsure},
                           format_effect(verdict.estimates.effect),
                           format_interval(verdict.estimates.interval),
                           accepted_text(verdict)});
  }
  return section;
}

Section family_section(const std::vector<Family>& families) {
  const Table table({{"family", Align::kLeft, true},
                     {"benchmarks", Align::kRight},
                     {"mean", Align::kRight},
                     {"from", Align::kRight},
                     {"to", Align::kRight},
                     {"regressions", Align::kRight},
                     {"improvements", Align::kRight}});
  Section section{.title = "Families", .table = table, .terminal_rows = kMostRows};
  Section still{.title = "Families in which nothing changed",
                .table = table,
                .fold = Fold::kAlways,
                .is_page_only = true};
  for (const Family& family : families) {
    (family.changed() ? section : still)
        .table.add_row({family.name, std::to_string(family.rows), format_effect(family.mean_effect),
                        format_effect(family.lowest_effect), format_effect(family.highest_effect),
                        std::to_string(family.regressions), std::to_string(family.improvements)});
  }
  if (!section.table.empty()) {
    section.sentences = {
        "The verdicts of one implementation over all problems. They inform: the exit code comes "
        "from single benchmarks."};
  }
  section.parts.push_back(std::move(still));
  return section;
}

std::vector<Cell> kernel_cells(const std::optional<baselines::ProfiledKernel>& kernel) {
  if (!kernel) return {"none", "", "-"};
  return {kernel->name, kernel->stage, format_time_ns(kernel->duration_ns)};
}

// Kernels of both sides, side by side.
Section kernels_part(const KernelDiff& diff) {
  Table table({{"baseline", Align::kLeft, true},
               {"stage"},
               {"time", Align::kRight},
               {"candidate", Align::kLeft, true},
               {"stage"},
               {"time", Align::kRight},
               {"what differs", Align::kLeft, false, true}});
  for (const baselines::KernelPair& pair : diff.pairs) {
    std::vector<Cell> row = kernel_cells(pair.before);
    for (Cell& cell : kernel_cells(pair.after)) row.push_back(std::move(cell));
    row.emplace_back(fmt::format("{}", fmt::join(pair.differences, ", ")));
    table.add_row(std::move(row));
  }
  const auto add_sides = [&](const char* what, const baselines::BeforeAfter& ns) {
    table.add_row({what, "", format_time_ns(ns.before), "", "", format_time_ns(ns.after), ""});
  };
  if (!table.empty()) {
    add_sides("gaps between kernels", diff.gaps_ns);
    add_sides("before the first", diff.leads_ns);
    add_sides("host, a call", diff.host_ns);
  }
  return {.title = "Kernels of " + diff.benchmark,
          .table = std::move(table),
          .fold = Fold::kAlways,
          .is_page_only = true};
}

// What the host does shows in every benchmark at once: apart, lest it crowd out the others.
Section kernels_section(const std::vector<KernelDiff>& diffs) {
  const Table table(
      {{"benchmark", Align::kLeft, true}, {"what changed", Align::kLeft, false, true}});
  Section section{
      .title = "Kernel changes", .table = table, .terminal_rows = kMostRows, .is_lines = true};
  Section gaps{.table = table, .fold = Fold::kAlways, .terminal_rows = 1, .is_lines = true};
  for (const KernelDiff& diff : diffs) {
    Section& own = diff.kind == baselines::KernelCause::kGaps ? gaps : section;
    own.table.add_row({diff.benchmark, kernel_diff_text(diff)});
    own.parts.push_back(kernels_part(diff));
  }
  gaps.title =
      format_count(gaps.table.rows().size(), "benchmark") + " with other gaps between kernels";
  section.parts.push_back(std::move(gaps));
  return section;
}

Tone tone_of(baselines::HostVerdict verdict) {
  switch (verdict) {
    case baselines::HostVerdict::kSlower:
      return Tone::kBad;
    case baselines::HostVerdict::kFaster:
      return Tone::kGood;
    case baselines::HostVerdict::kLooksSlower:
      break;
  }
  return Tone::kUnsure;
}

Section host_section(const baselines::HostTimes& host, const baselines::HostRule& rule) {
  Section section{.title = "Host time",
                  .table = Table({{"verdict"},
                                  {"benchmark", Align::kLeft, true},
                                  {"launched"},
                                  {"effect", Align::kRight},
                                  {"interval", Align::kRight},
                                  {"baseline", Align::kRight},
                                  {"candidate", Align::kRight},
                                  {"why", Align::kLeft, false, true}}),
                  .terminal_rows = kMostRows};
  for (const baselines::HostChange& change : host.changes) {
    section.table.add_row(
        {Cell(host_verdict_text(change.verdict), tone_of(change.verdict)), change.benchmark,
         change.launch == baselines::HostLaunch::kGraph ? "as a graph" : "on a stream",
         format_effect(change.effect), format_interval(change.interval),
         format_time_ns(change.baseline_ns), format_time_ns(change.candidate_ns),
         host_obstacle_text(change.obstacle)});
  }
  if (section.table.empty()) return section;
  section.sentences = {
      fmt::format("The time in which the host launches a call; the time on the device does not "
                  "include it. Reported is what changed by more than {} and {}.",
                  format_fraction(rule.min_effect), format_time_ns(rule.min_ns))};
  return section;
}

Section creep_section(const baselines::Creep& creep, const std::optional<double>& max_creep) {
  Table table({{"since the anchor", Align::kLeft, true},
               {"effect", Align::kRight},
               {"interval", Align::kRight}});
  for (const Verdict& verdict : creep.slower) {
    const bool is_beyond = max_creep && baselines::is_beyond(verdict, *max_creep);
    table.add_row({{verdict.benchmark, is_beyond ? Tone::kBad : Tone::kPlain},
                   format_effect(verdict.estimates.effect),
                   format_interval(verdict.estimates.interval)});
  }
  if (table.empty()) return {};
  return {
      .title = "Slower than the anchor",
      .sentences = {fmt::format("Not slower than the baseline, but than the run accepted {} ({}).",
                                creep.since, creep.anchor)},
      .table = std::move(table),
      .is_page_only = true};
}

}  // namespace

std::string verdict_counts(const std::vector<Verdict>& verdicts) {
  std::vector<std::string> titles;
  for (const VerdictGroup& group : group_verdicts(verdicts)) {
    titles.push_back(count_text(group.verdicts.size(), group.kind));
  }
  if (const std::size_t n = accepted_count(verdicts); n > 0) {
    titles.push_back(fmt::format("{} accepted", n));
  }
  return fmt::format("{}", fmt::join(titles, ", "));
}

Section memory_section(const std::vector<baselines::MemoryGrowth>& growth) {
  Section section{.title = "More memory",
                  .table = Table({{"benchmark", Align::kLeft, true},
                                  {"what"},
                                  {"baseline", Align::kRight},
                                  {"candidate", Align::kRight}})};
  for (const baselines::MemoryGrowth& one : growth) {
    const bool is_kept = one.counter == "kept_bytes";
    section.table.add_row({one.benchmark,
                           is_kept ? "kept for the backward pass" : "of a call",
                           format_bytes(one.baseline),
                           {format_bytes(one.candidate), Tone::kBad}});
  }
  return section;
}

Section unmet_section(const std::vector<baselines::UnmetExpectation>& unmet) {
  Section section{
      .title = "Not launched as declared",
      .table = Table({{"benchmark", Align::kLeft, true}, {"part"}, {"expected"}, {"seen"}})};
  for (const baselines::UnmetExpectation& one : unmet) {
    for (const baselines::ExpectationPart& part : one.expectation.parts) {
      if (part.met) continue;
      section.table.add_row({one.benchmark, part.part, part.expected, {part.seen, Tone::kBad}});
    }
  }
  return section;
}

std::vector<Section> verdict_sections(const GateFacts& facts) {
  const baselines::GateResult& result = facts.result;
  std::vector<Section> sections{
      family_section(result.families),      verdicts_section(facts),
      accepted_section(result.verdicts),    host_section(result.host, facts.options.rule.host),
      memory_section(result.memory_growth), kernels_section(result.kernel_diffs)};
  if (result.creep) sections.push_back(creep_section(*result.creep, facts.options.max_creep));
  return sections;
}

}  // namespace fusegate::ci
