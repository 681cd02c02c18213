#include "ci/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "ci/console/format.h"
#include "ci/report/gate_words.h"
#include "ci/report/replay_section.h"
#include "ci/report/verdict_sections.h"
#include "ci/sweep/benchmark_figures.h"
#include "ci/sweep/figures_table.h"
#include "ci/sweep/peer_section.h"
#include "ci/sweep/stages_section.h"
#include "ci/sweep/sweep_sections.h"

namespace fusegate::ci {
namespace {

using nlohmann::json;

// A table of as many stays open on the page.
constexpr std::size_t kMostOpenRows = 100;
constexpr std::string_view kUnsureMark = "\u26a0\ufe0f";

std::string device_of(const baselines::Run& run) {
  const auto device = run.environment.find("device");
  return device != run.environment.end() && device->second.is_string()
             ? device->second.get<std::string>()
             : "an unnamed device";
}

// The number of invocations of the benchmark that has most.
std::size_t invocations_of(const baselines::Run& run) {
  std::size_t most = 0;
  for (const baselines::BenchmarkSeries& series : run.benchmarks) {
    most = std::max(most, series.invocations.size());
  }
  return most;
}

// The words that the page colours. They decide nothing.
std::pair<std::string_view, std::string_view> outcome_and_mark(const Report& report) {
  if (!report.judgement) return {"not compared", ""};
  const baselines::GateResult& result = report.judgement->result;
  switch (result.exit_code) {
    case baselines::ExitCode::kNoRegression:
      if (is_mostly_undecided(result.verdicts)) return {"undecided", kUnsureMark};
      return {"pass", "\u2705"};
    case baselines::ExitCode::kRegression:
      return {"regression", "\u274c"};
    case baselines::ExitCode::kCouldNotJudge:
      break;
  }
  return {"could not judge", kUnsureMark};
}

std::string headline(const Report& report) {
  if (report.judgement) return gate_headline(report.judgement->result, report.judgement->options);
  return fmt::format("{} in {}, compared with nothing",
                     format_count(report.candidate.benchmarks.size(), "benchmark"),
                     describe(report.candidate));
}

std::string described_source(const baselines::Run& run) {
  return run.source.empty() ? describe(run) : fmt::format("{}: {}", run.source, describe(run));
}

// Of the candidate's doubts the gate's notes speak already.
std::vector<Fact> facts_of(const Report& report) {
  const Fact candidate{"candidate", described_source(report.candidate)};
  if (!report.judgement) {
    std::vector<Fact> facts{candidate};
    for (const std::string& text : unfinished_texts(report.candidate)) {
      facts.push_back({"note", text});
    }
    for (const std::string& text :
         {unmeasured_text(report.candidate), skipped_text(report.candidate),
          left_out_text(report.candidate)}) {
      if (!text.empty()) facts.push_back({"note", text});
    }
    for (const baselines::Doubt doubt : report.candidate.doubts) {
      facts.push_back({"note", baselines::doubt_sentence(doubt)});
    }
    return facts;
  }
  const baselines::LoadedBaseline& baseline = report.judgement->baseline;
  std::vector<Fact> facts{{"baseline", described_source(baseline.run)}};
  if (const auto& acceptance = baseline.acceptance) {
    facts.push_back({"accepted", fmt::format("by {}, {}: {}", acceptance->who, acceptance->when,
                                             acceptance->reason)});
  }
  facts.push_back(candidate);
  const baselines::Rule& rule = report.judgement->options.rule;
  facts.push_back({"rule", fmt::format("effects above {}, false discovery rate {}",
                                       format_fraction(tested_effect(rule)),
                                       format_fraction(rule.false_discovery_rate))});
  const baselines::GateResult& result = report.judgement->result;
  for (const std::string& note : gate_notes(*report.judgement, report.candidate)) {
    facts.push_back({"note", note});
  }
  for (const std::string& note : report.notes) facts.push_back({"note", note});
  for (const auto& [field, before, after] : result.environment_differences) {
    facts.push_back(
        {"differs",
         {fmt::format("{}: {} in the baseline, {} in the candidate", field, before, after),
          Tone::kBad}});
  }
  return facts;
}

Section figures_section(const std::vector<BenchmarkFigures>& figures, const MeasuredRates& rates) {
  Section section{.sentences = {"Spread: of the processes' times, one standard deviation."},
                  .table = figures_table(figures, rates)};
  const std::size_t rows = section.table.rows().size();
  section.title = format_count(rows, "benchmark") + ", all figures";
  section.fold = rows <= kMostOpenRows ? Fold::kInMarkdown : Fold::kAlways;
  return section;
}

std::string value_text(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string field_text(const baselines::Environment& environment, const std::string& field) {
  const auto found = environment.find(field);
  return found == environment.end() ? "" : value_text(found->second);
}

std::vector<std::pair<std::string, std::string>> origin_of(const baselines::Run& run) {
  const baselines::Provenance& from = run.provenance;
  return {{"commit", from.commit},       {"uncommitted changes", from.dirty ? "yes" : "no"},
          {"toolchain", from.toolchain}, {"date", from.date},
          {"host", from.host},           {"device uuid", from.device_uuid},
          {"suite", from.suite}};
}

// Line by line, with a column for the baseline where there is one.
class OriginTable {
 public:
  explicit OriginTable(bool with_baseline) : with_baseline_(with_baseline) {
    std::vector<Column> columns{{"field"}};
    if (with_baseline) columns.push_back({"baseline"});
    columns.push_back({"candidate"});
    table_ = Table(std::move(columns));
  }

  void add(const std::string& field, const std::string& before, const std::string& after,
           bool must_match) {
    if (before.empty() && after.empty()) return;
    const Tone tone = must_match && with_baseline_ && before != after ? Tone::kBad : Tone::kPlain;
    std::vector<Cell> row{field};
    if (with_baseline_) row.emplace_back(before, tone);
    row.emplace_back(after, tone);
    table_.add_row(std::move(row));
  }
  Table table() && { return std::move(table_); }

 private:
  bool with_baseline_;
  Table table_;
};

Section origin_section(const Report& report) {
  const baselines::Run none;
  const baselines::Run& before = report.judgement ? report.judgement->baseline.run : none;
  const baselines::Run& after = report.candidate;
  OriginTable table(report.judgement.has_value());
  std::set<std::string> fields;
  for (const auto& [field, value] : before.environment) fields.insert(field);
  for (const auto& [field, value] : after.environment) fields.insert(field);
  for (const std::string& field : fields) {
    table.add(field, field_text(before.environment, field), field_text(after.environment, field),
              true);
  }
  const auto origin_before = origin_of(before);
  const auto origin_after = origin_of(after);
  for (std::size_t i = 0; i < origin_after.size(); ++i) {
    table.add(origin_after[i].first, report.judgement ? origin_before[i].second : "",
              origin_after[i].second, false);
  }
  return {
      .title = "Environment and origin", .table = std::move(table).table(), .is_page_only = true};
}

}  // namespace

std::string describe(const baselines::Run& run) {
  std::string text =
      fmt::format("{} on {}", format_count(invocations_of(run), "invocation"), device_of(run));
  if (!run.provenance.commit.empty()) {
    text += fmt::format(", commit {}{}", run.provenance.commit.substr(0, 12),
                        run.provenance.dirty ? " with uncommitted changes" : "");
  }
  if (!run.provenance.date.empty()) text += ", " + run.provenance.date;
  return text;
}

std::string environment_text(const baselines::Environment& environment) {
  std::string text;
  for (const auto& [field, value] : environment) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", field, value_text(value));
  }
  return text;
}

Document report_document(const Report& report) {
  const auto [outcome, mark] = outcome_and_mark(report);
  Document document{.title = report.title,
                    .outcome = std::string(outcome),
                    .mark = std::string(mark),
                    .headline = headline(report),
                    .facts = facts_of(report)};
  std::vector<Section>& sections = document.sections;
  if (report.judgement) {
    document.summary = verdict_counts(report.judgement->result);
    sections = verdict_sections(report.judgement->result, report.judgement->options);
    if (const auto& replay = report.judgement->replay) {
      sections.push_back(replay_section(*replay, report.judgement->baseline.run));
    }
  }
  sections.push_back(unmet_section(baselines::unmet_expectations(report.candidate)));
  if (!report.peer_comparison) return document;
  const std::vector<BenchmarkFigures> figures = benchmark_figures(report.candidate);
  sections.push_back(peer_section(*report.peer_comparison));
  sections.push_back(sweep_section(report.sweeps));
  sections.push_back(crossover_section(report.crossovers));
  sections.push_back(roofline_section(figures, report.peer_comparison->rates));
  sections.push_back(figures_section(figures, report.peer_comparison->rates));
  sections.push_back(launches_section(report.candidate));
  sections.push_back(origin_section(report));
  return document;
}

Document failure_document(std::string_view title, std::string_view problem) {
  return {.title = std::string(title),
          .outcome = "could not judge",
          .mark = std::string(kUnsureMark),
          .headline = "Could not judge.",
          .sections = {{.sentences = {std::string(problem)}}}};
}

}  // namespace fusegate::ci
