// Plans of shards. Written and read again they are the same, and no benchmark is in two shards.
#include <set>

#include "ci/shards/plan.h"
#include "tests/fuzzing/target.h"

using namespace fusegate;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string given = tests::text_of(data, size);
  const auto plan =
      tests::read_or_refuse(tests::kFuzzed, [&] { return ci::parse_plan(given, tests::kFuzzed); });
  if (!plan) return 0;
  const std::string text = ci::plan_text(*plan);
  tests::promise(ci::plan_text(ci::parse_plan(text, "what was written")) == text,
                 "a plan is written as it was read");
  std::set<std::string> planned(plan->controls.begin(), plan->controls.end());
  std::size_t names = plan->controls.size();
  for (const ci::PlannedShard& shard : plan->shards) {
    planned.insert(shard.benchmarks.begin(), shard.benchmarks.end());
    names += shard.benchmarks.size();
  }
  tests::promise(planned.size() == names, "each benchmark is planned once");
  return 0;
}
