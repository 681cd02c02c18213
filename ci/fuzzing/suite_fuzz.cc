// A suite, and the problems that it sweeps over.
#include "baselines/io/json_field.h"
#include "bench/plan/plan.h"
#include "bench/plan/suite.h"
#include "ci/fuzzing/target.h"

using namespace fusegate;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto suite = ci::read_or_refuse(ci::kFuzzed, [&] {
    return bench::parse_suite(baselines::parse_json(ci::text_of(data, size), ci::kFuzzed),
                              ci::kFuzzed);
  });
  if (suite) bench::swept_operations(suite->sweeps);
  return 0;
}
