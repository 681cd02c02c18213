// A history's database, and a night as a line of JSON, which is read again as it was written.
#include "baselines/history/history.h"
#include "baselines/history/night_json.h"
#include "baselines/io/scratch_folder.h"
#include "tests/fuzzing/target.h"

using namespace fusegate;

namespace {

void read_database(const std::string& bytes) {
  const baselines::ScratchFolder folder;
  const auto path = folder.write("fuzzed.db", bytes);
  tests::read_or_refuse("fuzzed.db", [&] {
    const baselines::History history(path, baselines::DatabaseUse::kRead);
    for (const std::string& name : history.benchmarks()) history.series(name);
    history.change_points();
    return history.whole_nights().size();
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string given = tests::text_of(data, size);
  if (given.starts_with("SQLite format 3")) read_database(given);
  const auto night = tests::read_or_refuse(
      tests::kFuzzed, [&] { return baselines::parse_night(given, tests::kFuzzed); });
  if (!night) return 0;
  const std::string line = baselines::night_line(*night);
  tests::promise(baselines::night_line(baselines::parse_night(line, "what was written")) == line,
                 "a night is written as it was read");
  return 0;
}
