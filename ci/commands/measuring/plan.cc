#include <fmt/format.h>

#include <algorithm>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/record/load_run.h"
#include "ci/commands/measuring/options.h"
#include "ci/console/format.h"
#include "ci/console/layout.h"
#include "ci/shards/planning.h"

namespace fusegate::ci {
namespace {

using baselines::InputError;
using baselines::Run;

// Names the benchmarks and their times where there are any.
std::optional<Run> known_run(const PlanFileRequest& request) {
  if (request.from.empty()) return any_stored_run(request.judging, request.suite);
  Run run = baselines::load_run(request.from);
  const std::string& own = run.provenance.suite;
  if (own.empty() || suite_name(own) == suite_name(request.suite)) return run;
  throw InputError(run.source, "suite",
                   fmt::format("is \"{}\", and --suite is \"{}\"", own, request.suite));
}

ProgramSuite planned_suite(const PlanFileRequest& request, const std::optional<Run>& known) {
  const bool asks = request.from.empty() || !request.program.empty();
  const std::string program =
      request.program.empty() ? default_bench_program().string() : request.program;
  ProgramSuite suite =
      asks ? suite_of_program(program, request.suite, request.flags) : suite_of_run(*known);
  name_controls(request.judging.controls, suite);
  return suite;
}

std::string plan_summary(const ShardPlan& plan) {
  const auto most = std::ranges::max_element(
      plan.shards, {}, [](const PlannedShard& shard) { return shard.benchmarks.size(); });
  const auto longest = std::ranges::max_element(plan.shards, {}, &PlannedShard::expected_s);
  std::string text = fmt::format("{} of suite {}: at most {} each, and {}",
                                 format_count(plan.shards.size(), "shard"), plan.suite,
                                 format_count(most->benchmarks.size(), "benchmark"),
                                 format_count(plan.controls.size(), "control"));
  if (longest->expected_s > 0) {
    text += fmt::format("; the longest has {} of samples in a process, without controls",
                        format_duration(longest->expected_s));
  }
  return text;
}

}  // namespace

void add_plan(CommandLine& line) {
  auto [app, request] =
      line.add("plan", "Split a suite into shards that are measured on several cards, and merged",
               "fusegate plan --suite nightly --shards 8 --out plan.json", plan_command);
  line.pass_on(app, request.flags);
  set_topic(app, kMeasuringTopic);
  app.add_option("--suite", request.suite, "A suite's name or file")
      ->type_name("SUITE")
      ->required();
  app.add_option("--shards", request.shards, "How many shards to make")
      ->check(CLI::Range(1, 10'000))
      ->required();
  app.add_option("--program", request.program,
                 "Benchmark program that lists the suite; by default the fusegate_bench beside "
                 "this program")
      ->type_name("PROGRAM");
  add_repeated(app, "--from", request.from,
               "Run folder, run files or a stored baseline with the last known times, in place of "
               "the suite's stored baseline. Without --program it names the benchmarks too, and no "
               "program is started")
      ->type_name("PATH");
  add_controls(app, request.judging);
  add_stores(app, request.judging);
  set_topic(app, kOutputTopic);
  app.add_option("--out", request.out, "File for the plan")->type_name("FILE")->required();
}

baselines::ExitCode plan_command(const PlanFileRequest& request, Console& console) {
  const std::optional<Run> known = known_run(request);
  const ProgramSuite suite = planned_suite(request, known);
  PlanRequest planned{.suite = request.suite, .shards = request.shards};
  set_costs(suite, known, planned);
  const ShardPlan plan = make_plan(planned);
  baselines::write_atomically(request.out, plan_text(plan));
  console.out.print("{}: {}\n", request.out.string(), plan_summary(plan));
  if (plan.controls.empty()) {
    console.err.print(
        "warning: no benchmark is known to be a control, so that nothing shows what each card "
        "does; name some with --control\n");
  }
  return baselines::ExitCode::kNoRegression;
}

}  // namespace fusegate::ci
