#include "ci/commands/trace_check.h"

#include <fmt/ostream.h>

#include "baselines/io/file_io.h"
#include "baselines/traces/step_expectation.h"
#include "ci/traces/trace_file.h"

namespace fusegate {
namespace {

StepExpectation read_expectation(const std::filesystem::path& path) {
  const nlohmann::json json = parse_json(read_file(path), path.string());
  return parse_step_expectation(JsonField(json, path.string(), ""));
}

}  // namespace

ExitCode trace_check_command(const TraceCheckRequest& request, Console& console) {
  const StepExpectation expectation = read_expectation(request.expectation);
  const TraceExpectation checked = check_steps(read_trace_file(request.trace), expectation);
  for (const ExpectationPart& part : checked.parts) {
    fmt::print(console.out, "{}  {}: expected {}\n      seen {}\n", part.met ? "met " : "NOT ",
               part.part, part.expected, part.seen);
  }
  return checked.met() ? ExitCode::kNoRegression : ExitCode::kRegression;
}

}  // namespace fusegate
