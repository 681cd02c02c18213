#include "ci/commands/measuring/kept_program.h"

#include <chrono>

#include "baselines/io/error.h"
#include "baselines/io/write_lock.h"
#include "baselines/record/baseline.h"

namespace fusegate::ci {

namespace fs = std::filesystem;

namespace {

// Copying a program takes another job far less.
constexpr std::chrono::seconds kLongestCopy{60};

// Renamed at the end, so that what is there is whole.
void copy_with_suites(const fs::path& program, const fs::path& suite, const fs::path& kept) {
  const fs::path unfinished = kept.parent_path() / ".unfinished";
  // Two jobs of one project may measure side by side, each on a GPU of its own.
  const auto lock = baselines::WriteLock::of_file(unfinished, kLongestCopy);
  fs::remove_all(unfinished);
  fs::create_directories(unfinished / "suites");
  fs::copy_file(program, unfinished / "fusegate_bench");
  const fs::path suites = program.parent_path() / "suites";
  if (fs::exists(suites)) fs::copy(suites, unfinished / "suites", fs::copy_options::recursive);
  // One that was named by its file too: a later one may name what this program lacks.
  if (fs::is_regular_file(suite)) {
    fs::copy_file(suite, unfinished / "suites" / (suite.stem().string() + ".json"),
                  fs::copy_options::overwrite_existing);
    const fs::path models = suite.parent_path() / "models";
    if (fs::is_directory(models)) {
      fs::copy(models, unfinished / "suites" / "models",
               fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    }
  }
  fs::remove_all(kept);
  fs::rename(unfinished, kept);
}

}  // namespace

fs::path KeptPrograms::path_of(const baselines::Provenance& from) const {
  return all_ / baselines::slug(from.date + " " + from.commit.substr(0, 12)) / "fusegate_bench";
}

void KeptPrograms::keep(const fs::path& program, const fs::path& suite,
                        const baselines::Provenance& from) const {
  if (!fs::is_regular_file(program)) return;
  const fs::path kept = path_of(from).parent_path();
  try {
    copy_with_suites(program, suite, kept);
  } catch (const fs::filesystem_error& error) {
    // Its own text names the program first, which nothing is wrong with.
    throw baselines::InputError(
        kept.string(), "", "cannot keep the baseline's program there: " + error.code().message());
  }
}

}  // namespace fusegate::ci
