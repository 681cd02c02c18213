#include "ci/gate/gate_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "baselines/gating/model_times.h"
#include "ci/console/format.h"
#include "ci/gate/aa_findings.h"
#include "ci/gate/gate_headline.h"
#include "ci/gate/gate_notes.h"
#include "ci/gate/replay_section.h"
#include "ci/gate/verdict_sections.h"
#include "ci/sweep/model_section.h"

namespace fusegate::ci {
namespace {

constexpr std::string_view kUnsureMark = "\u26a0\ufe0f";

// The words that the page colours. They decide nothing.
std::pair<std::string_view, std::string_view> outcome_and_mark(const GateFacts& facts) {
  if (!facts.baseline) return {"not compared", ""};
  switch (facts.result.exit_code) {
    case baselines::ExitCode::kNoRegression:
      if (is_mostly_undecided(facts.result.verdicts)) return {"undecided", kUnsureMark};
      return {"pass", "\u2705"};
    case baselines::ExitCode::kRegression:
      return {"regression", "\u274c"};
    case baselines::ExitCode::kCouldNotJudge:
      break;
  }
  return {"could not judge", kUnsureMark};
}

std::string headline(const GateFacts& facts) {
  if (facts.baseline) return gate_headline(facts);
  return fmt::format("{} in {} (no baseline)",
                     format_count(facts.candidate.benchmarks.size(), "benchmark"),
                     describe(facts.candidate));
}

std::string described_source(const baselines::Run& run) {
  return run.source.empty() ? describe(run) : fmt::format("{}: {}", run.source, describe(run));
}

// Of a run that is compared with nothing.
std::vector<std::string> notes_of_run(const GateFacts& facts) {
  const baselines::Run& run = facts.candidate;
  std::vector<std::string> notes = unfinished_texts(run);
  for (const std::string& text : {unmeasured_text(run), skipped_text(run), left_out_text(run)}) {
    if (!text.empty()) notes.push_back(text);
  }
  for (const baselines::Warning warning : run.warnings)
    notes.emplace_back(warning_sentence(warning));
  notes.insert(notes.end(), facts.notes.begin(), facts.notes.end());
  return notes;
}

std::vector<Fact> facts_of(const GateFacts& facts) {
  std::vector<Fact> list;
  if (facts.baseline) {
    list.push_back({"baseline", described_source(facts.baseline->run)});
    if (const auto& acceptance = facts.baseline->acceptance) {
      list.push_back({"accepted", fmt::format("by {}, {}: {}", acceptance->who, acceptance->when,
                                              acceptance->reason)});
    }
  }
  list.push_back({"candidate", described_source(facts.candidate)});
  const baselines::Rule& rule = facts.options.rule;
  if (facts.baseline) {
    const auto own =
        static_cast<std::size_t>(std::ranges::count_if(facts.result.verdicts, [](const auto& one) {
          return one.settings.min_effect.has_value();
        }));
    list.push_back({"rule", fmt::format("effects above {}{}, false discovery rate {}",
                                        format_fraction(tested_effect(rule)),
                                        own > 0 ? fmt::format(" ({} have limits of their own)",
                                                              format_count(own, "benchmark"))
                                                : "",
                                        format_fraction(rule.false_discovery_rate))});
  }
  for (const std::string& note : facts.baseline ? gate_notes(facts) : notes_of_run(facts)) {
    list.push_back({"note", note});
  }
  for (const auto& [field, before, after] : facts.result.environment_differences) {
    list.push_back(
        {"differs",
         {fmt::format("{}: {} in the baseline, {} in the candidate", field, before, after),
          Tone::kBad}});
  }
  if (facts.aa) {
    const std::string text = detectability_text(facts.result.verdicts);
    list.push_back(
        {"A/A", fmt::format("{}{}{}", aa_text(*facts.aa), text.empty() ? "" : "; ", text)});
  }
  return list;
}

}  // namespace

Document gate_document(std::string_view title, const GateFacts& facts) {
  const auto [outcome, mark] = outcome_and_mark(facts);
  Document document{.title = std::string(title),
                    .outcome = std::string(outcome),
                    .mark = std::string(mark),
                    .headline = headline(facts),
                    .facts = facts_of(facts)};
  if (facts.baseline) {
    document.summary = verdict_counts(facts.result.verdicts);
    document.sections = verdict_sections(facts);
  }
  const auto models =
      baselines::model_times(facts.candidate, earlier_runs(facts), facts.result.verdicts);
  if (!models.empty()) {
    document.sections.push_back(
        model_section(models, roofline_times(facts.candidate, earlier_runs(facts))));
  }
  if (facts.replay) {
    document.sections.push_back(replay_section(*facts.replay, facts.baseline->run));
  }
  document.sections.push_back(unmet_section(baselines::unmet_expectations(facts.candidate)));
  return document;
}

Document failure_document(std::string_view title, std::string_view problem) {
  return {.title = std::string(title),
          .outcome = "could not judge",
          .mark = std::string(kUnsureMark),
          .headline = "Could not judge.",
          .sections = {{.sentences = {std::string(problem)}}}};
}

std::string describe(const baselines::Run& run) {
  std::size_t processes = 0;  // of the benchmark that has most
  for (const baselines::BenchmarkSeries& series : run.benchmarks) {
    processes = std::max(processes, series.processes.size());
  }
  const auto device = run.environment.find("device");
  const bool has_device = device != run.environment.end() && device->second.is_string();
  std::string text =
      fmt::format("{} on {}", format_count(processes, "process"),
                  has_device ? device->second.get<std::string>() : "an unnamed device");
  const baselines::Provenance& from = run.provenance;
  if (!from.commit.empty()) {
    text += fmt::format(", commit {}{}", from.commit.substr(0, 12),
                        from.dirty ? " with uncommitted changes" : "");
  }
  return from.date.empty() ? text : text + ", " + from.date;
}

}  // namespace fusegate::ci
