// A run file. What can be read can be accepted, and what was accepted can be read again.
#include "baselines/record/baseline.h"
#include "baselines/record/run_file.h"
#include "baselines/record/run_merger.h"
#include "tests/fuzzing/target.h"

using namespace fusegate;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto file = tests::read_or_refuse(tests::kFuzzed, [&] {
    return baselines::parse_run_file(tests::text_of(data, size), tests::kFuzzed);
  });
  if (!file) return 0;
  baselines::RunMerger merger;
  merger.add(std::move(*file), tests::kFuzzed, {});
  const std::string text = baselines::baseline_text({.acceptance = {}, .run = merger.take()});
  tests::promise(baselines::is_baseline_text(text), "a baseline is recognised as one");
  baselines::parse_baseline(text, "what was accepted");
  return 0;
}
