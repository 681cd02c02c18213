#include "ci/report/markdown.h"

#include <fmt/format.h>

#include <vector>

#include "ci/console/format.h"
#include "ci/console/markdown_escape.h"
#include "ci/figures/verdict_groups.h"
#include "ci/report/figures_table.h"
#include "ci/report/stages_table.h"
#include "ci/report/standing_text.h"

namespace fusegate::ci {
namespace {

// Kept free while rows are written: for what closes a table and says that rows are left out.
constexpr std::size_t kReserve = 600;
// A reason or a name of any length must not crowd out the verdict.
constexpr std::size_t kLongestText = 300;

std::string shortened(std::string_view text) {
  if (text.size() <= kLongestText) return std::string(text);
  std::size_t end = kLongestText;
  while (end > 0 && (text[end] & 0xC0) == 0x80) --end;  // not in the middle of a character
  return std::string(text.substr(0, end)) + "...";
}

std::string text_cell(std::string_view text) { return markdown_text(shortened(text)); }
std::string code_cell(std::string_view text) { return markdown_code(shortened(text)); }

// A page that grows up to a limit. What is added first is sure to be there.
class Page {
 public:
  explicit Page(std::size_t limit) : limit_(limit) {}

  // Whether there was room.
  bool add(std::string_view text) {
    if (text_.size() + text.size() + kReserve > limit_) return false;
    text_ += text;
    return true;
  }
  // The header's lines, then rows while there is room. folded: behind a summary line.
  void add_table(std::string_view header, const std::vector<std::string>& rows,
                 std::string_view folded = "") {
    const std::string opening =
        folded.empty() ? "\n" : fmt::format("\n<details><summary>{}</summary>\n\n", folded);
    if (rows.empty() || !add(opening + std::string(header))) {
      left_out_ += rows.size();
      return;
    }
    std::size_t written = 0;
    while (written < rows.size() && add(rows[written])) ++written;
    left_out_ += rows.size() - written;
    if (!folded.empty()) text_ += "\n</details>\n";
  }
  std::string text() && {
    if (left_out_ > 0) {
      text_ += fmt::format(
          "\n{} left out: a comment cannot be longer. The HTML report and the JSON file have "
          "all.\n",
          format_count(left_out_, "table row"));
    }
    return std::move(text_);
  }

 private:
  std::size_t limit_;
  std::string text_;
  std::size_t left_out_ = 0;
};

constexpr std::string_view kVerdictHeader =
    "| verdict | benchmark | effect | interval | in time | in cycles | baseline | candidate | why "
    "|\n"
    "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n";

std::vector<std::string> verdict_rows(const VerdictGroup& group) {
  std::vector<std::string> rows;
  for (const baselines::Verdict* verdict : group.verdicts) {
    rows.push_back(fmt::format(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", baselines::verdict_name(verdict->kind),
        code_cell(verdict->benchmark), format_effect(verdict->effect),
        format_interval(verdict->interval), format_effect(verdict->effect_time),
        format_effect(verdict->effect_cycles), format_time_ns(verdict->baseline_ns),
        format_time_ns(verdict->candidate_ns), text_cell(verdict->reason)));
  }
  return rows;
}

bool matters(baselines::VerdictKind kind) {
  return kind == baselines::VerdictKind::kRegression || kind == baselines::VerdictKind::kInvalid ||
         kind == baselines::VerdictKind::kMissing || kind == baselines::VerdictKind::kImprovement;
}

void add_counts(Page* page, const baselines::GateResult& result) {
  std::string counts;
  for (const VerdictGroup& group : group_verdicts(result)) {
    counts += (counts.empty() ? "" : ", ") + group_title(group);
  }
  if (!counts.empty()) page->add("\n" + counts + ".\n");
}

void add_verdicts_that_matter(Page* page, const baselines::GateResult& result) {
  std::vector<std::string> rows;
  for (const VerdictGroup& group : group_verdicts(result)) {
    if (!matters(group.kind)) continue;
    const auto more = verdict_rows(group);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  page->add_table(kVerdictHeader, rows);
}

void add_families(Page* page, const baselines::GateResult& result) {
  std::vector<std::string> rows;
  for (const baselines::Family& family : result.families) {
    if (!family.changed()) continue;
    rows.push_back(
        fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", code_cell(family.name), family.rows,
                    format_effect(family.mean_effect), format_effect(family.lowest_effect),
                    format_effect(family.highest_effect), family.regressions, family.improvements));
  }
  page->add_table(
      "| family | rows | mean | from | to | regressions | improvements |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
      rows);
}

// What the host does shows in every benchmark at once: folded, lest it crowd out the rest.
void add_stories(Page* page, const baselines::GateResult& result) {
  constexpr std::string_view kHeader = "| benchmark | what its kernels tell |\n| --- | --- |\n";
  std::vector<std::string> rows;
  std::vector<std::string> gaps;
  for (const baselines::KernelStory& story : result.stories) {
    (story.kind == baselines::StoryKind::kGaps ? gaps : rows)
        .push_back(
            fmt::format("| {} | {} |\n", code_cell(story.benchmark), text_cell(story.sentence)));
  }
  page->add_table(kHeader, rows);
  page->add_table(
      kHeader, gaps,
      fmt::format("{} with other pauses of the GPU", format_count(gaps.size(), "benchmark")));
}

void add_other_verdicts(Page* page, const baselines::GateResult& result) {
  for (const VerdictGroup& group : group_verdicts(result)) {
    if (matters(group.kind)) continue;
    page->add_table(kVerdictHeader, verdict_rows(group), group_title(group));
  }
}

void add_differences(Page* page, const baselines::GateResult& result) {
  std::vector<std::string> rows;
  for (const auto& difference : result.environment_differences) {
    rows.push_back(fmt::format("| {} | {} | {} |\n", text_cell(difference.field),
                               text_cell(difference.baseline), text_cell(difference.candidate)));
  }
  page->add_table("| environment | baseline | candidate |\n| --- | --- | --- |\n", rows);
}

void add_runs(Page* page, const Report& report) {
  if (report.judgement) {
    const baselines::LoadedBaseline& baseline = report.judgement->baseline;
    page->add(fmt::format("\n- Baseline: {}{}", text_cell(describe(baseline.run)),
                          baseline.acceptance ? fmt::format("; accepted by {}: {}",
                                                            text_cell(baseline.acceptance->who),
                                                            text_cell(baseline.acceptance->reason))
                                              : ""));
  }
  page->add(fmt::format("\n- Candidate: {}", text_cell(describe(report.candidate))));
  if (report.judgement) {
    const baselines::Rule& rule = report.judgement->options.rule;
    page->add(fmt::format("\n- Rule: effects above {}, false discovery rate {}",
                          format_fraction(rule.min_effect),
                          format_fraction(rule.false_discovery_rate)));
  }
  for (const std::string& sentence : doubt_sentences(report)) {
    page->add("\n- Note: " + text_cell(sentence));
  }
  page->add("\n");
}

std::string point_text(const SweepPoint& point) {
  return fmt::format("{:.2f}x at M {}, dim {}, hidden {}", point.speed_up, point.rows, point.dim,
                     point.hidden);
}

void add_sweeps(Page* page, const Report& report) {
  std::vector<std::string> rows;
  for (const Sweep& sweep : report.sweeps) {
    for (const SweepSeries& series : sweep.series) {
      const SweepSummary summary = summarise(series);
      if (series.implementation == sweep.reference || summary.points == 0) continue;
      rows.push_back(fmt::format("| {} | {} | {} | {} | {:.2f}x | {} | {} | {} of {} |\n",
                                 text_cell(sweep.operation), text_cell(sweep.dtype),
                                 text_cell(series.implementation), text_cell(sweep.reference),
                                 summary.mean_speed_up, point_text(summary.best),
                                 point_text(summary.worst), summary.faster, summary.points));
    }
  }
  page->add_table(
      "**Where fusion wins**\n\n"
      "| operation | dtype | implementation | against | mean | best | worst | faster at |\n"
      "| --- | --- | --- | --- | ---: | --- | --- | ---: |\n",
      rows);
}

void add_crossovers(Page* page, const Report& report) {
  std::vector<std::string> rows;
  for (const Crossover& one : report.crossovers) {
    rows.push_back(fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", text_cell(one.operation),
                               text_cell(one.dtype), one.dim, one.hidden,
                               text_cell(one.implementation), text_cell(one.against),
                               text_cell(crossover_text(one))));
  }
  page->add_table(
      "| operation | dtype | dim | hidden | implementation | against | time over the other's |\n"
      "| --- | --- | ---: | ---: | --- | --- | --- |\n",
      rows, kCrossoverNote);
}

std::string table_header(const std::vector<Column>& columns) {
  std::string names;
  std::string rule;
  for (const Column& column : columns) {
    names += fmt::format("| {} ", text_cell(column.header));
    rule += column.align == Align::kRight ? "| ---: " : "| --- ";
  }
  return fmt::format("{}|\n{}|\n", names, rule);
}

std::vector<std::string> table_lines(const Table& table) {
  std::vector<std::string> lines;
  for (const auto& row : table.rows()) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool is_code = table.columns()[i].is_code && !row[i].text.empty();
      line += fmt::format("| {} ", is_code ? code_cell(row[i].text) : text_cell(row[i].text));
    }
    lines.push_back(line + "|\n");
  }
  return lines;
}

std::string operation_text(const OperationStanding& operation) {
  return fmt::format("{}, {}", text_cell(operation.operation), text_cell(operation.dtype));
}

void add_standings(Page* page, const Standings& standings) {
  for (const OperationStanding& operation : standings.operations) {
    const Table table = best_table(operation, standings.peers.has_value());
    page->add_table(
        fmt::format("**{}**\n\n{}", operation_text(operation), table_header(table.columns())),
        table_lines(table));
  }
  if (standings.peers) page->add("\n- Peers: " + text_cell(*standings.peers));
  for (const std::string& note : standings.notes) page->add("\n- " + text_cell(note));
  page->add("\n");
}

void add_times(Page* page, const Standings& standings) {
  for (const OperationStanding& operation : standings.operations) {
    const Table table = times_table(operation);
    page->add_table(table_header(table.columns()), table_lines(table),
                    operation_text(operation) + ": every implementation's time");
  }
}

void add_figures(Page* page, const Report& report) {
  const Table table =
      figures_table(report.candidate, report.standings ? report.standings->rates : FloorRates{});
  page->add_table(table_header(table.columns()), table_lines(table),
                  fmt::format("{}, all figures", format_count(table.rows().size(), "benchmark")));
}

void add_unmet_expectations(Page* page, const Report& report) {
  const Table table = expectations_table(baselines::unmet_expectations(report.candidate));
  page->add_table(fmt::format("**{}**\n\n{}", kUnmetNote, table_header(table.columns())),
                  table_lines(table));
}

void add_stages(Page* page, const Report& report) {
  const Table table = stages_table(report.candidate);
  page->add_table(table_header(table.columns()), table_lines(table), kStagesNote);
}

std::string_view mark(const Report& report) {
  if (!report.judgement) return "";
  switch (report.judgement->result.exit_code) {
    case baselines::ExitCode::kNoRegression:
      return "\u2705 ";
    case baselines::ExitCode::kRegression:
      return "\u274c ";
    case baselines::ExitCode::kCouldNotJudge:
      return "\u26a0\ufe0f ";
  }
  return "";
}

}  // namespace

std::string markdown_report(const Report& report, std::size_t limit) {
  Page page(limit);
  page.add(fmt::format("## {}\n\n{}**{}**\n", text_cell(report.title), mark(report),
                       text_cell(headline(report))));
  if (report.judgement) {
    add_differences(&page, report.judgement->result);
    add_counts(&page, report.judgement->result);
    add_families(&page, report.judgement->result);
    add_verdicts_that_matter(&page, report.judgement->result);
    add_stories(&page, report.judgement->result);
  }
  add_unmet_expectations(&page, report);
  add_runs(&page, report);
  if (report.standings) add_standings(&page, *report.standings);
  add_sweeps(&page, report);
  add_crossovers(&page, report);
  if (report.standings) add_times(&page, *report.standings);
  if (report.judgement) add_other_verdicts(&page, report.judgement->result);
  if (!report.sweeps.empty()) {
    add_figures(&page, report);
    add_stages(&page, report);
  }
  return std::move(page).text();
}

std::string markdown_failure(std::string_view title, std::string_view problem) {
  return fmt::format("## {}\n\n\u26a0\ufe0f **Could not judge.**\n\n{}\n", text_cell(title),
                     text_cell(problem));
}

}  // namespace fusegate::ci
