#include "ci/report/gate_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "ci/console/format.h"
#include "ci/console/table.h"
#include "ci/figures/verdict_groups.h"
#include "ci/report/stages_table.h"

namespace fusegate::ci {
namespace {

// Undecided benchmarks are named, the most suspicious first, but a noisy machine has hundreds.
constexpr std::size_t kMostInconclusiveRows = 10;
// Of a range whose rows agree the worst stand for the others.
constexpr std::size_t kMostRowsOfRange = 6;
constexpr std::size_t kShownRowsOfRange = 3;
constexpr std::size_t kMostFindings = 12;
constexpr std::size_t kMostStories = 12;

std::string row_limit_note(const VerdictGroup& group, std::size_t shown) {
  return fmt::format("and {} more {}\n", group.verdicts.size() - shown,
                     baselines::verdict_name(group.kind));
}

std::size_t rows_shown(const VerdictGroup& group) {
  switch (group.kind) {
    case baselines::VerdictKind::kNew:
    case baselines::VerdictKind::kUnchanged:
      return 0;
    case baselines::VerdictKind::kInconclusive:
      return std::min(group.verdicts.size(), kMostInconclusiveRows);
    default:
      return group.verdicts.size();
  }
}

void add_verdict(Table* table, const baselines::Verdict& verdict) {
  table->add_row({std::string(baselines::verdict_name(verdict.kind)), verdict.benchmark,
                  format_effect(verdict.effect), format_interval(verdict.interval),
                  format_effect(verdict.effect_time), format_effect(verdict.effect_cycles),
                  format_time_ns(verdict.baseline_ns), format_time_ns(verdict.candidate_ns)});
}

// Below the table and not in it: names are long, and with both no row fits a terminal. What changed
// its time has its figures in the table already.
bool needs_reason(baselines::VerdictKind kind) {
  return kind != baselines::VerdictKind::kRegression &&
         kind != baselines::VerdictKind::kImprovement;
}

// Benchmarks that fail together fail for the same reason: it is given once.
class Reasons {
 public:
  void add(const baselines::Verdict& verdict) {
    const std::string reason =
        fmt::format("{}: {}", baselines::verdict_name(verdict.kind), verdict.reason);
    if (count_[reason]++ == 0) order_.push_back(reason);
  }
  std::string text() const {
    std::string text;
    for (const std::string& reason : order_) {
      const int count = count_.at(reason);
      text += reason + (count > 1 ? fmt::format(" ({} times)", count) : "") + "\n";
    }
    return text;
  }

 private:
  std::vector<std::string> order_;
  std::map<std::string, int> count_;
};

// Takes the verdicts of one kind, the worst first, and says which are left out.
class RangeRows {
 public:
  RangeRows(const std::vector<baselines::FamilyFinding>& findings, baselines::VerdictKind kind)
      : kind_(kind) {
    for (const baselines::FamilyFinding& finding : findings) {
      const auto of_kind = std::ranges::count(finding.rows, kind, &baselines::FamilyRow::kind);
      if (static_cast<std::size_t>(of_kind) <= kMostRowsOfRange || finding.rows_differ) continue;
      for (const baselines::FamilyRow& row : finding.rows) of_range_[row.benchmark] = &finding;
    }
  }
  bool takes(const baselines::Verdict& verdict) {
    const auto found = of_range_.find(verdict.benchmark);
    return found == of_range_.end() || ++seen_[found->second] <= kShownRowsOfRange;
  }
  std::string left_out() const {
    std::string text;
    for (const auto& [finding, count] : seen_) {
      text += fmt::format("and {} of {}, {}\n",
                          format_count(count - kShownRowsOfRange,
                                       fmt::format("more {}", baselines::verdict_name(kind_))),
                          finding->family, finding->range);
    }
    return text;
  }

 private:
  baselines::VerdictKind kind_;
  std::map<std::string, const baselines::FamilyFinding*> of_range_;  // by benchmark
  std::map<const baselines::FamilyFinding*, std::size_t>
      seen_;  // in the findings' order: of one array
};

std::string families_text(const std::vector<baselines::FamilyFinding>& findings) {
  if (findings.empty()) return "";
  Table table({{"family"},
               {"range"},
               {"rows", Align::kRight},
               {"effect", Align::kRight},
               {"interval", Align::kRight},
               {"in time", Align::kRight},
               {"in cycles", Align::kRight},
               {"what"}});
  for (std::size_t i = 0; i < std::min(findings.size(), kMostFindings); ++i) {
    const baselines::FamilyFinding& finding = findings[i];
    table.add_row({finding.family, finding.range, std::to_string(finding.rows.size()),
                   format_effect(finding.effect), format_interval(finding.interval),
                   format_effect(finding.effect_time), format_effect(finding.effect_cycles),
                   baselines::rows_text(finding)});
  }
  std::string text = fmt::format("\n{}", table.text());
  if (findings.size() > kMostFindings) {
    text += fmt::format("and {} more\n", findings.size() - kMostFindings);
  }
  return text;
}

struct StoryLine {
  const baselines::KernelStory* shown;
  std::size_t more = 0;
};

// A busier host shows in every benchmark, with other figures in each.
bool share_a_line(const baselines::KernelStory& a, const baselines::KernelStory& b) {
  const bool both_gaps =
      a.kind == baselines::StoryKind::kGaps && b.kind == baselines::StoryKind::kGaps;
  return both_gaps || a.sentence == b.sentence;
}

// Of the benchmarks that share a line the first is shown.
std::string stories_text(const std::vector<baselines::KernelStory>& stories) {
  std::vector<StoryLine> lines;
  for (const baselines::KernelStory& story : stories) {
    const auto same = std::ranges::find_if(
        lines, [&](const StoryLine& line) { return share_a_line(*line.shown, story); });
    if (same == lines.end()) {
      lines.push_back({&story});
    } else {
      ++same->more;
    }
  }
  std::string text = lines.empty() ? "" : "\n";
  for (std::size_t i = 0; i < std::min(lines.size(), kMostStories); ++i) {
    const auto& [shown, more] = lines[i];
    text += fmt::format("kernels of {}{}: {}\n", shown->benchmark,
                        more > 0 ? fmt::format(", and likewise of {} more", more) : "",
                        shown->sentence);
  }
  if (lines.size() > kMostStories) {
    text += fmt::format("and {} more\n", lines.size() - kMostStories);
  }
  return text;
}

std::string verdicts_text(const baselines::GateResult& result) {
  Table table({{"verdict"},
               {"benchmark"},
               {"effect", Align::kRight},
               {"interval", Align::kRight},
               {"in time", Align::kRight},
               {"in cycles", Align::kRight},
               {"baseline", Align::kRight},
               {"candidate", Align::kRight}});
  std::string counts;
  std::string left_out;
  Reasons reasons;
  for (const VerdictGroup& group : group_verdicts(result)) {
    const std::size_t shown = rows_shown(group);
    RangeRows rows(result.families, group.kind);
    for (std::size_t i = 0; i < shown; ++i) {
      if (!needs_reason(group.kind) && !rows.takes(*group.verdicts[i])) continue;
      add_verdict(&table, *group.verdicts[i]);
      if (needs_reason(group.kind)) reasons.add(*group.verdicts[i]);
    }
    left_out += rows.left_out();
    if (shown > 0 && shown < group.verdicts.size()) left_out += row_limit_note(group, shown);
    counts += (counts.empty() ? "" : ", ") + group_title(group);
  }
  std::string text;
  if (!table.empty()) text += fmt::format("\n{}{}", table.text(), left_out);
  if (const std::string why = reasons.text(); !why.empty()) text += fmt::format("\n{}", why);
  text += stories_text(result.stories);
  if (!counts.empty()) text += fmt::format("\n{}\n", counts);
  return text;
}

std::string baseline_text_for_people(const baselines::LoadedBaseline& baseline) {
  std::string text =
      fmt::format("baseline   {}: {}\n", baseline.run.source, describe(baseline.run));
  if (baseline.acceptance) {
    text += fmt::format("           accepted by {}, {}: {}\n", baseline.acceptance->who,
                        baseline.acceptance->when, baseline.acceptance->reason);
  }
  return text;
}

}  // namespace

std::string gate_text(const Report& report) {
  std::string text = fmt::format("{}\n\n", headline(report));
  if (report.judgement) text += baseline_text_for_people(report.judgement->baseline);
  text += fmt::format("candidate  {}: {}\n", report.candidate.source, describe(report.candidate));
  if (!report.judgement) return text;
  const baselines::Rule& rule = report.judgement->options.rule;
  text += fmt::format("rule       effects above {}, false discovery rate {}\n",
                      format_fraction(rule.min_effect), format_fraction(rule.false_discovery_rate));
  for (const std::string& sentence : doubt_sentences(report)) {
    text += fmt::format("note       {}\n", sentence);
  }
  for (const auto& difference : report.judgement->result.environment_differences) {
    text += fmt::format("differs    {}: {} in the baseline, {} in the candidate\n",
                        difference.field, difference.baseline, difference.candidate);
  }
  const baselines::GateResult& result = report.judgement->result;
  if (const Table unmet = expectations_table(result.unmet_expectations); !unmet.empty()) {
    text += fmt::format("\n{}\n{}", kUnmetNote, unmet.text());
  }
  return text + families_text(result.families) + verdicts_text(result);
}

}  // namespace fusegate::ci
