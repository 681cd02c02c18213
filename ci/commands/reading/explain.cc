#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "baselines/io/error.h"
#include "baselines/record/load_run.h"
#include "ci/commands/reading/command_line.h"
#include "ci/gate/explain_text.h"
#include "ci/gate/gate_headline.h"
#include "ci/gate/judging.h"

namespace fusegate::ci {
namespace {

using baselines::ExitCode;
using baselines::VerdictKind;

[[noreturn]] void fail_for_name(const std::string& name, const baselines::Run& baseline,
                                const baselines::Run& candidate) {
  for (const baselines::Run* run : {&baseline, &candidate}) {
    // Fails with the run's reason for a benchmark that is not judged.
    for (const auto* reasons : {&run->skipped, &run->left_out}) {
      const auto found = reasons->find(name);
      if (found == reasons->end()) continue;
      throw baselines::InputError(run->source, name, "is not judged: " + found->second);
    }
  }
  const std::vector<std::string> near = near_benchmarks(name, baseline, candidate);
  throw baselines::InputError(
      "benchmark", "",
      fmt::format("neither {} nor {} has \"{}\"{}", baseline.source, candidate.source, name,
                  near.empty() ? std::string() : fmt::format("; near: {}", fmt::join(near, ", "))));
}

ExitCode exit_code_of(VerdictKind kind) {
  if (kind == VerdictKind::kRegression) return ExitCode::kRegression;
  const bool is_judged =
      kind != VerdictKind::kNew && kind != VerdictKind::kMissing && kind != VerdictKind::kInvalid;
  return is_judged ? ExitCode::kNoRegression : ExitCode::kCouldNotJudge;
}

}  // namespace

void add_explain(CommandLine& line) {
  auto [app, request] = line.add(
      "explain", "Show why one benchmark's time changed, kernel by kernel; exits as gate does",
      "fusegate explain old-run new-run geglu/fused/bf16/batch:8/seq:128/dim:768/hidden:3072",
      explain_command);
  app.add_option("baseline", request.baseline, "Run folder, run file or stored baseline")
      ->type_name("PATH")
      ->required();
  app.add_option("candidate", request.candidate, "Run folder or run file")
      ->type_name("PATH")
      ->required();
  app.add_option("benchmark", request.benchmark, "The benchmark's name")
      ->type_name("NAME")
      ->required();
  add_controls(app, request.rule);
  add_rule(app, request.rule);
  add_unfinished(app, request.rule.unfinished);
}

baselines::ExitCode explain_command(const ExplainRequest& request, Console& console) {
  JudgingRequest judging = request.rule;
  judging.candidate = {request.candidate};
  judging.baseline = {request.baseline};
  judging.allow_environment_differences = true;
  const GateFacts facts = judged(judging);
  const baselines::Run& candidate = facts.candidate;
  const baselines::Run& baseline = facts.baseline->run;
  const auto& verdicts = facts.result.verdicts;
  const auto verdict =
      std::ranges::find(verdicts, request.benchmark, &baselines::Verdict::benchmark);
  if (verdict == verdicts.end()) fail_for_name(request.benchmark, baseline, candidate);
  for (const baselines::Run* run : {&baseline, &candidate}) {
    for (const std::string& text : unfinished_texts(*run)) {
      console.out.print("note: {}\n", text);
    }
  }
  for (const baselines::EnvironmentDifference& difference : facts.result.environment_differences) {
    console.out.print("differs: {} is {} in the baseline, {} in the candidate\n", difference.field,
                      difference.baseline, difference.candidate);
  }
  for (const baselines::HostChange& change : facts.result.host.changes) {
    if (change.benchmark != request.benchmark) continue;
    const std::string why = host_obstacle_text(change.obstacle);
    console.out.print("host time: {}: {}{}{}\n", host_verdict_text(change.verdict),
                      host_change_text(change), why.empty() ? "" : ": ", why);
  }
  console.out.lines(explain_text(facts, *verdict, console.out.style()));
  return exit_code_of(verdict->kind);
}

}  // namespace fusegate::ci
