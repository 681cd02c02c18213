// A trace. Everything that a command does with one; what was written is read again.
#include "baselines/io/json_field.h"
#include "baselines/traces/reader.h"
#include "baselines/traces/step_expectation.h"
#include "baselines/traces/trace.h"
#include "baselines/traces/writer.h"
#include "ci/report/trace_table.h"
#include "tests/fuzzing/target.h"

using namespace fusegate;

namespace {

const baselines::StepExpectation& expectation() {
  static const nlohmann::json json = nlohmann::json::parse(
      R"({"kernels": [{"what": "GEMM", "pattern": "gemm|nvjet", "count": 3},
                      {"what": "other", "pattern": "."}],
          "memory_operations": {"most": 1},
          "calls": [{"what": "query", "pattern": "cudaOccupancy", "most": 3}],
          "launch_nothing": ["^aten::t$"]})");
  static const baselines::StepExpectation parsed =
      baselines::parse_step_expectation({json, "expectation", ""});
  return parsed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto trace = tests::read_or_refuse(tests::kFuzzed, [&] {
    return baselines::parse_trace(tests::text_of(data, size), tests::kFuzzed);
  });
  if (!trace) return 0;
  const baselines::TraceSummary summary = baselines::summarize(*trace);
  ci::trace_table(summary, 20).text(5);
  ci::trace_json(summary);
  baselines::check_steps(*trace, expectation());
  const baselines::Trace again =
      baselines::parse_trace(baselines::trace_text(*trace), "what was written");
  tests::promise(again.events.size() == trace->events.size(), "no event is lost in writing");
  return 0;
}
