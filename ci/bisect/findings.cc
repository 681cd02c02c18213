#include "ci/bisect/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ci/console/format.h"
#include "ci/console/json_number.h"
#include "ci/document/document.h"
#include "ci/gate/explain_text.h"
#include "ci/gate/gate_json.h"
#include "ci/gate/kernel_diff_text.h"
#include "ci/gate/verdict_text.h"

namespace fusegate::ci {
namespace {

using baselines::ExitCode;
using nlohmann::json;

double effect_of(const CommitDuet& duet) { return duet.verdict.estimates.effect; }

std::string way_of(const CommitDuet& duet) {
  return fmt::format("{} by {}", effect_of(duet) > 0 ? "slower" : "faster",
                     format_magnitude(effect_of(duet)));
}

std::string verdict_and_reason(const CommitDuet& duet) {
  return fmt::format("{}: {}", baselines::verdict_name(duet.verdict.kind),
                     reason_text(duet.verdict, duet.facts.options.rule));
}

// "0123456789ab", or "one of 3 commits up to 0123456789ab".
std::string name_of(const BisectionResult& result, const FoundChange& change) {
  const std::string hash = short_hash(result.line[change.after]);
  if (change.is_one_commit()) return hash;
  return fmt::format("one of the {} commits up to {}", change.after - change.before, hash);
}

double log_effect_together(const BisectionResult& result) {
  double sum = 0;
  for (const FoundChange& change : result.found) sum += std::log1p(effect_of(change.duet));
  return sum;
}

// What those that were found leave unexplained; "" where that is less than what is followed.
std::string rest_text(const BisectionResult& result) {
  const double whole = std::log1p(effect_of(*result.whole));
  const double rest = whole - log_effect_together(result);
  if (std::abs(rest) < kLeastShare * std::abs(whole)) return "";
  return fmt::format(", of {} in all; {} lies in parts that are too small to follow",
                     format_effect(effect_of(*result.whole)), format_effect(std::expm1(rest)));
}

std::string shared_headline(const BisectionRequest& request, const BisectionResult& result) {
  std::vector<std::string> parts;
  for (const FoundChange& change : result.found) {
    parts.push_back(
        fmt::format("{} ({})", name_of(result, change), format_effect(effect_of(change.duet))));
  }
  return fmt::format("{} commits share the change of {}: {}; together {}{}", parts.size(),
                     request.measuring.benchmark, fmt::join(parts, " and "),
                     format_effect(std::expm1(log_effect_together(result))), rest_text(result));
}

std::string merge_hint(const Commit& commit) {
  if (commit.parents.size() < 2) return "";
  return fmt::format(
      "it merges a branch; to search that: --good $(git merge-base {0}^1 {0}^2) --bad "
      "{0}^2",
      short_hash(commit));
}

std::vector<Fact> facts_of(const BisectionResult& result, const FoundChange& change) {
  const Commit& commit = result.line[change.after];
  const Commit& before = result.line[change.before];
  std::vector<Fact> facts{
      {"commit", fmt::format("{} {}", commit.hash, commit.subject)},
      {"author", fmt::format("{}, {}", commit.author, commit.date)},
      {"before", fmt::format("{} {}", short_hash(before), before.subject)},
      {"effect", fmt::format("{} {}", format_effect(effect_of(change.duet)),
                             format_interval(change.duet.verdict.estimates.interval))}};
  for (std::size_t i = change.before + 1; i < change.after; ++i) {
    facts.push_back({"or", fmt::format("{} {}, which was skipped", short_hash(result.line[i]),
                                       result.line[i].subject)});
  }
  if (const std::string hint = merge_hint(commit); !hint.empty()) facts.push_back({"merge", hint});
  return facts;
}

std::string decided_text(const BisectionResult& result, const Step& step) {
  switch (step.decision) {
    case Step::Decision::kMeasured:
      return fmt::format("measured beside {}", short_hash(result.line[step.programs.front()]));
    case Step::Decision::kIdenticalCode:
      return "runs the code of " + short_hash(result.line[step.same_as]);
    case Step::Decision::kSkipped:
      return "skipped: " + step.reason;
  }
  return "";
}

// Of a commit over the good one, by its first step.
Level level_in(const BisectionResult& result, const Step& step) {
  return result.known[step.commit].level;
}

Table steps_table(const BisectionResult& result) {
  Table table({{"commit", Align::kLeft, true},
               {"over good", Align::kRight},
               {"subject"},
               {"how it was decided", Align::kLeft, false, true}});
  for (const Step& step : result.steps) {
    const Commit& commit = result.line[step.commit];
    const bool is_skipped = step.decision == Step::Decision::kSkipped;
    table.add_row({short_hash(commit),
                   is_skipped ? "-" : format_effect(std::expm1(level_in(result, step).log_effect)),
                   commit.subject, decided_text(result, step)});
  }
  return table;
}

json commit_json(const Commit& commit) {
  return {{"hash", commit.hash},
          {"subject", commit.subject},
          {"author", commit.author},
          {"date", commit.date}};
}

json duet_json(const CommitDuet& duet) {
  return {{"verdict", baselines::verdict_name(duet.verdict.kind)},
          {"reason", reason_text(duet.verdict, duet.facts.options.rule)},
          {"effect", json_number(effect_of(duet))},
          {"interval", json_interval(duet.verdict.estimates.interval)}};
}

json found_json(const BisectionResult& result, const FoundChange& change) {
  json found = duet_json(change.duet);
  found["commit"] = commit_json(result.line[change.after]);
  found["before"] = commit_json(result.line[change.before]);
  found["or"] = json::array();
  for (std::size_t i = change.before + 1; i < change.after; ++i) {
    found["or"].push_back(commit_json(result.line[i]));
  }
  found["kernel_diff"] = kernel_diff_text(kernel_diff_of(change.duet.facts, change.duet.verdict));
  found["gate"] = gate_json(change.duet.facts);
  return found;
}

json step_json(const BisectionResult& result, const Step& step) {
  const bool is_skipped = step.decision == Step::Decision::kSkipped;
  const Level level = level_in(result, step);
  json programs = json::array();
  for (const std::size_t i : step.programs) programs.push_back(result.line[i].hash);
  return {{"commit", commit_json(result.line[step.commit])},
          {"decision", decision_name(step.decision)},
          {"how", decided_text(result, step)},
          {"measured_beside", programs},
          {"effect", is_skipped ? json(nullptr) : json_number(std::expm1(level.log_effect))}};
}

}  // namespace

ExitCode exit_code_of(const BisectionResult& result) {
  const bool found = std::ranges::any_of(
      result.found, [](const FoundChange& change) { return change.duet.differs(); });
  return found && !result.interrupted ? ExitCode::kNoRegression : ExitCode::kCouldNotJudge;
}

std::string bisection_headline(const BisectionRequest& request, const BisectionResult& result) {
  const std::string& benchmark = request.measuring.benchmark;
  if (result.interrupted) {
    return fmt::format("interrupted after {}, kept in {}; the same command goes on",
                       format_count(result.steps.size(), "step"), result.folder.string());
  }
  if (result.found.empty()) {
    return fmt::format("{} and {} do not differ for certain in {}: {}",
                       short_hash(result.line.front()), short_hash(result.line.back()), benchmark,
                       verdict_and_reason(*result.whole));
  }
  if (result.found.size() > 1) return shared_headline(request, result);
  const FoundChange& change = result.found.front();
  if (change.duet.differs()) {
    return fmt::format("{} made {} {}{}", name_of(result, change), benchmark, way_of(change.duet),
                       rest_text(result));
  }
  return fmt::format(
      "the search ended at {}, which does not differ for certain from the commit before it ({}), "
      "of {} in all",
      name_of(result, change), verdict_and_reason(change.duet),
      format_effect(effect_of(*result.whole)));
}

std::string bisection_text(const BisectionRequest& request, const BisectionResult& result,
                           const TextStyle& style) {
  Document head{.headline = bisection_headline(request, result)};
  const bool is_one = result.found.size() == 1;
  std::string text = is_one ? "" : terminal_text(head, style);
  for (const FoundChange& change : result.found) {
    if (!is_one) head.headline = name_of(result, change) + ": " + way_of(change.duet);
    head.facts = facts_of(result, change);
    text += (is_one ? "" : "\n") + terminal_text(head, style) + '\n' +
            explain_text(change.duet.facts, change.duet.verdict, style);
  }
  if (result.steps.empty()) return text;
  Section steps{.title = "Steps", .table = steps_table(result)};
  steps.sentences.push_back(fmt::format("{} measured besides the first, of {} commits; runs: {}",
                                        format_count(result.measured_steps, "step"),
                                        result.line.size() - 1, result.folder.string()));
  return text + '\n' + terminal_text(std::vector<Section>{std::move(steps)}, style);
}

json bisection_json(const BisectionRequest& request, const BisectionResult& result) {
  json root = failed_bisection_json(request, bisection_headline(request, result));
  root["exit_code"] = static_cast<int>(exit_code_of(result));
  root["interrupted"] = result.interrupted;
  root["good"] = commit_json(result.line.front());
  root["bad"] = commit_json(result.line.back());
  root["commits"] = result.line.size() - 1;
  root["whole"] = result.whole ? duet_json(*result.whole) : json(nullptr);
  root["measured_steps"] = result.measured_steps;
  for (const FoundChange& change : result.found) {
    root["found"].push_back(found_json(result, change));
  }
  for (const Step& step : result.steps) root["steps"].push_back(step_json(result, step));
  return root;
}

json failed_bisection_json(const BisectionRequest& request, const std::string& problem) {
  return {{"exit_code", static_cast<int>(ExitCode::kCouldNotJudge)},
          {"headline", problem},
          {"benchmark", request.measuring.benchmark},
          {"suite", suite_name(request.measuring.measuring.suite)},
          {"interrupted", false},
          {"good", nullptr},
          {"bad", nullptr},
          {"commits", nullptr},
          {"whole", nullptr},
          {"found", json::array()},
          {"measured_steps", 0},
          {"steps", json::array()}};
}

}  // namespace fusegate::ci
