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
// Of a family with more rows than that the worst stand for the others.
constexpr std::size_t kMostRowsOfFamily = 6;
constexpr std::size_t kShownRowsOfFamily = 3;
constexpr std::size_t kMostFamilies = 12;
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

// Of a family with many rows of one kind takes the worst, and says which are left out.
class FamilyRows {
 public:
  explicit FamilyRows(const VerdictGroup& group) : kind_(group.kind) {
    for (const baselines::Verdict* verdict : group.verdicts) {
      ++rows_[baselines::family_of(verdict->benchmark)];
    }
  }
  bool takes(const baselines::Verdict& verdict) {
    const std::string_view family = baselines::family_of(verdict.benchmark);
    return rows_[family] <= kMostRowsOfFamily || ++seen_[family] <= kShownRowsOfFamily;
  }
  std::string left_out() const {
    std::string text;
    for (const auto& [family, count] : seen_) {
      text += fmt::format("and {} of {}\n",
                          format_count(count - kShownRowsOfFamily,
                                       fmt::format("more {}", baselines::verdict_name(kind_))),
                          family);
    }
    return text;
  }

 private:
  baselines::VerdictKind kind_;
  std::map<std::string_view, std::size_t> rows_;
  std::map<std::string_view, std::size_t> seen_;
};

// Those with a regression or an improvement.
std::string families_text(const std::vector<baselines::Family>& families) {
  Table table({{"family"},
               {"rows", Align::kRight},
               {"mean", Align::kRight},
               {"from", Align::kRight},
               {"to", Align::kRight},
               {"regressions", Align::kRight},
               {"improvements", Align::kRight}});
  std::size_t changed = 0;
  for (const baselines::Family& family : families) {
    if (!family.changed() || ++changed > kMostFamilies) continue;
    table.add_row({family.name, std::to_string(family.rows), format_effect(family.mean_effect),
                   format_effect(family.lowest_effect), format_effect(family.highest_effect),
                   std::to_string(family.regressions), std::to_string(family.improvements)});
  }
  if (table.empty()) return "";
  return fmt::format(
      "\n{}{}", table.text(),
      changed > kMostFamilies ? fmt::format("and {} more\n", changed - kMostFamilies) : "");
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
    FamilyRows rows(group);
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
