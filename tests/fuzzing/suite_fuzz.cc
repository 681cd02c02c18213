// A suite, and the problems that it sweeps over.
#include "baselines/io/json_field.h"
#include "bench/plan/plan.h"
#include "bench/plan/suite.h"
#include "tests/fuzzing/target.h"

using namespace fusegate;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto suite = tests::read_or_refuse(tests::kFuzzed, [&] {
    return bench::parse_suite(baselines::parse_json(tests::text_of(data, size), tests::kFuzzed),
                              tests::kFuzzed);
  });
  if (suite) bench::swept_operations(suite->sweeps);
  return 0;
}
