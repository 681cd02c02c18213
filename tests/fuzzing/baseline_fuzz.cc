// A stored baseline. Written and read again it is the same, and compared with itself it is no
// slower.
#include "baselines/gating/gate.h"
#include "baselines/record/baseline.h"
#include "tests/fuzzing/target.h"

using namespace fusegate;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string given = tests::text_of(data, size);
  const bool is_baseline = baselines::is_baseline_text(given);
  const auto baseline = tests::read_or_refuse(
      tests::kFuzzed, [&] { return baselines::parse_baseline(given, tests::kFuzzed); });
  if (!baseline) return 0;
  const std::string text = baselines::baseline_text(*baseline);
  const baselines::Baseline again = baselines::parse_baseline(text, "what was written");
  tests::promise(baselines::baseline_text(again) == text, "a baseline is written as it was read");
  if (!is_baseline) return 0;
  const baselines::GateResult result = baselines::gate(again.run, again.run, {});
  tests::promise(result.exit_code != baselines::ExitCode::kRegression,
                 "a baseline is no slower than itself");
  return 0;
}
