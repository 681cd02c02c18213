#include "baselines/io/file_io.h"
#include "baselines/traces/step_expectation.h"
#include "ci/commands/command_line.h"
#include "ci/traces/trace_file.h"

namespace fusegate::ci {
namespace {

baselines::StepExpectation read_expectation(const std::filesystem::path& path) {
  const nlohmann::json json = baselines::parse_json(baselines::read_file(path), path.string());
  return baselines::parse_step_expectation(baselines::JsonField(json, path.string(), ""));
}

}  // namespace

void add_trace_check(CommandLine& line) {
  auto [app, request] =
      line.add("trace-check", "Compare each step of a trace with what it should contain",
               trace_check_command);
  app.add_option("trace", request.trace, kTraceHelp)->type_name("FILE")->required();
  app.add_option("--expect", request.expectation,
                 "JSON file of what each step should contain (baselines/traces/step_expectation.h)")
      ->type_name("FILE")
      ->required();
}

baselines::ExitCode trace_check_command(const TraceCheckRequest& request, Console& console) {
  const baselines::StepExpectation expectation = read_expectation(request.expectation);
  const baselines::TraceExpectation checked =
      baselines::check_steps(read_trace_file(request.trace), expectation);
  for (const baselines::ExpectationPart& part : checked.parts) {
    console.out.print("{}  {}: expected {}\n      seen {}\n", part.met ? "met " : "NOT ", part.part,
                      part.expected, part.seen);
  }
  return checked.met() ? baselines::ExitCode::kNoRegression : baselines::ExitCode::kRegression;
}

}  // namespace fusegate::ci
