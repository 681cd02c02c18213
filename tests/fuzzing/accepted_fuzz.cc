// Accepted slowdowns. Written and read again they are the same, and none is worth anything after
// its last day.
#include "baselines/gating/accepted.h"
#include "tests/fuzzing/target.h"

using namespace fusegate;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string given = tests::text_of(data, size);
  const auto entries = tests::read_or_refuse(
      tests::kFuzzed, [&] { return baselines::parse_accepted(given, tests::kFuzzed); });
  if (!entries) return 0;
  const std::string text = baselines::accepted_text(*entries);
  const auto again = baselines::parse_accepted(text, "what was written");
  tests::promise(baselines::accepted_text(again) == text, "entries are written as they were read");
  std::vector<baselines::Verdict> verdicts(1);
  verdicts[0].kind = baselines::VerdictKind::kRegression;
  verdicts[0].benchmark = "geglu/fused/bf16/batch:8";
  const auto ever = std::chrono::sys_days(std::chrono::year(10000) / 1 / 1);
  const auto review = baselines::apply_accepted(*entries, ever, verdicts);
  tests::promise(review.expired.size() == entries->size() && !verdicts[0].is_accepted(),
                 "every entry expires");
  return 0;
}
