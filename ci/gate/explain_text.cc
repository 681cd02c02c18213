#include "ci/gate/explain_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "baselines/comparing/comparison.h"
#include "baselines/io/message_names.h"
#include "baselines/io/printable.h"
#include "ci/console/format.h"
#include "ci/document/document.h"
#include "ci/gate/kernel_diff_text.h"
#include "ci/gate/verdict_text.h"

namespace fusegate::ci {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double clock_hz(const baselines::BenchmarkSeries* series) {
  const bool has_clock = series && series->counters.contains("sm_clock_hz");
  return has_clock ? series->counters.at("sm_clock_hz") : kNone;
}

std::vector<Fact> figures(const baselines::BenchmarkSeries* baseline,
                          const baselines::BenchmarkSeries* candidate,
                          const baselines::Verdict& verdict, const baselines::KernelDiff& diff) {
  std::vector<Fact> facts;
  // "clock      1.980 GHz -> 1.750 GHz, -11.62 %"; nothing where a side has none.
  const auto add = [&facts](const char* what, double before, double after, auto format) {
    if (!std::isfinite(before) || !std::isfinite(after)) return;
    facts.push_back({what, fmt::format("{} -> {}, {}", format(before), format(after),
                                       format_effect(after / before - 1))});
  };
  add("time", verdict.baseline.time_ns, verdict.candidate.time_ns, format_time_ns);
  if (std::isfinite(verdict.estimates.effect)) {
    facts.push_back({"effect", fmt::format("{}, {}", format_effect(verdict.estimates.effect),
                                           format_interval(verdict.estimates.interval))});
  }
  add("clock", clock_hz(baseline), clock_hz(candidate),
      [](double hz) { return fmt::format("{:.3f} GHz", hz / 1e9); });
  add("energy", verdict.baseline.energy_j, verdict.candidate.energy_j, format_energy_j);
  add("host", diff.host_ns.before, diff.host_ns.after, format_time_ns);
  return facts;
}

std::string what_of(const baselines::KernelPair& pair) {
  if (!pair.before) return "new";
  if (!pair.after) return "gone";
  return fmt::format("{}", fmt::join(pair.differences, ", "));
}

// A row a kernel; shares are of the sum of all rows' changes.
Table kernel_table(const baselines::KernelDiff& diff) {
  Table table({{"stage"},
               {"kernel"},
               {"baseline", Align::kRight},
               {"candidate", Align::kRight},
               {"change", Align::kRight},
               {"share", Align::kRight},
               {"what"}});
  double total_ns = diff.memory_ns.change() + diff.gaps_ns.change();
  for (const baselines::KernelPair& pair : diff.pairs) total_ns += pair.change_ns();
  const bool has_shares = diff.kind != baselines::KernelCause::kNothing && total_ns != 0;
  const auto add = [&](const std::string& stage, const std::string& name, double before,
                       double after, const std::string& what) {
    const double change = (std::isfinite(after) ? after : 0) - (std::isfinite(before) ? before : 0);
    table.add_row({stage, name, format_time_ns(before), format_time_ns(after),
                   format_time_change_ns(change),
                   has_shares ? format_share(change / total_ns) : "-", what});
  };
  for (const baselines::KernelPair& pair : diff.pairs) {
    const baselines::ProfiledKernel& kernel = pair.after ? *pair.after : *pair.before;
    add(kernel.stage, short_name(kernel), pair.before ? pair.before->duration_ns : kNone,
        pair.after ? pair.after->duration_ns : kNone, what_of(pair));
  }
  const auto [before, after] = diff.memory_operations;
  if (before > 0 || after > 0) {
    add("",
        fmt::format("memory operations, {} -> {}", format_launches(before), format_launches(after)),
        diff.memory_ns.before, diff.memory_ns.after, "");
  }
  add("", "between kernels", diff.gaps_ns.before, diff.gaps_ns.after, "");
  return table;
}

// Empty where all profiled processes launched the same kernels.
std::string agreement_text(const baselines::BenchmarkSeries& series, std::string_view side) {
  if (!series.profile) return "";
  const baselines::KernelProfile& profile = *series.profile;
  if (static_cast<int>(profile.gaps_ns.size()) == profile.processes) return "";
  return fmt::format(
      "{} of the {}'s {} profiled processes launched these kernels, the others did not",
      profile.gaps_ns.size(), side, profile.processes);
}

// Empty where it is known whether the code is identical.
std::string unknown_text(const baselines::BenchmarkSeries& series, std::string_view side) {
  if (!series.identity || series.identity->unknown.empty()) return "";
  return fmt::format("whether the {}'s code is identical is unknown: {}", side,
                     series.identity->unknown);
}

std::string conclusion(const baselines::Verdict& verdict, const baselines::KernelDiff& diff) {
  if (std::string text = kernel_diff_text(diff); !text.empty()) return text;
  if (diff.work_changed()) {
    const bool is_unchanged = verdict.kind == baselines::VerdictKind::kUnchanged;
    return work_text(diff) + (is_unchanged ? "; time is unchanged" : "; no certain change");
  }
  if (!diff.has_profiles) return "a side has no profile, so what it launches is unknown";
  if (verdict.kind == baselines::VerdictKind::kIdentical) return "identical code on both sides";
  if (verdict.kind != baselines::VerdictKind::kUnchanged)
    return "the same kernels, and no certain change";
  return "nothing changed: the same kernels in the same time";
}

}  // namespace

std::string explain_text(const baselines::BenchmarkSeries* baseline,
                         const baselines::BenchmarkSeries* candidate,
                         const baselines::Verdict& verdict, const baselines::Rule& rule,
                         const baselines::KernelDiff& diff, const TextStyle& style) {
  const std::string_view kind = baselines::verdict_name(verdict.kind);
  Section kernels;
  for (const auto text_of : {agreement_text, unknown_text}) {
    for (const auto& [series, side] :
         {std::pair(baseline, "baseline"), std::pair(candidate, "candidate")}) {
      if (series) kernels.sentences.push_back(text_of(*series, side));
    }
  }
  std::erase(kernels.sentences, "");
  for (std::string& text : work_texts(diff)) kernels.sentences.push_back(std::move(text));
  if (diff.has_profiles) kernels.table = kernel_table(diff);
  const Document document{.headline = fmt::format("{}: {}", kind, reason_text(verdict, rule)),
                          .facts = figures(baseline, candidate, verdict, diff),
                          .summary = fmt::format("{}: {}.", kind, conclusion(verdict, diff)),
                          .sections = {std::move(kernels)}};
  return baselines::printable(verdict.benchmark) + '\n' + terminal_text(document, style);
}

const baselines::BenchmarkSeries* series_of(const baselines::Run& run, const std::string& name) {
  const auto found = std::ranges::find(run.benchmarks, name, &baselines::BenchmarkSeries::name);
  return found == run.benchmarks.end() ? nullptr : &*found;
}

baselines::KernelDiff kernel_diff_of(const GateFacts& facts, const baselines::Verdict& verdict) {
  const baselines::Run& baseline = facts.baseline->run;
  return baselines::explain(
      series_of(baseline, verdict.benchmark), series_of(facts.candidate, verdict.benchmark),
      verdict,
      {.rule = facts.options.rule,
       .suite_size = facts.result.verdicts.size(),
       .other_card = baselines::circumstances_of(baseline, facts.candidate).other_card});
}

std::string explain_text(const GateFacts& facts, const baselines::Verdict& verdict,
                         const TextStyle& style) {
  return explain_text(series_of(facts.baseline->run, verdict.benchmark),
                      series_of(facts.candidate, verdict.benchmark), verdict, facts.options.rule,
                      kernel_diff_of(facts, verdict), style);
}

// A part of a name is nearer than any misspelling.
std::vector<std::string> near_benchmarks(const std::string& wanted, const baselines::Run& baseline,
                                         const baselines::Run& candidate) {
  constexpr std::size_t kMostNear = 5;
  std::set<std::tuple<bool, std::size_t, std::string>> ranked;
  for (const baselines::Run* run : {&baseline, &candidate}) {
    for (const baselines::BenchmarkSeries& series : run->benchmarks) {
      const bool holds = series.name.find(wanted) != std::string::npos;
      ranked.emplace(!holds, baselines::edit_distance(wanted, series.name), series.name);
    }
  }
  std::vector<std::string> names;
  for (const auto& [misspelled, distance, name] : ranked) {
    if (names.size() < kMostNear) names.push_back(name);
  }
  return names;
}

}  // namespace fusegate::ci
