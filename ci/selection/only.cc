#include "ci/selection/only.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"
#include "baselines/io/pattern.h"

namespace fusegate::ci {
namespace {

// Not every control asked for runs identical code, and some choose kernels.
constexpr std::size_t kAskedForAControl = 2;

// Where the host's code changed, any benchmark can launch something else: patterns then get one
// that fits all.
std::vector<std::string> names_in(const std::filesystem::path& file,
                                  std::vector<std::string>& patterns) {
  const nlohmann::json json = baselines::parse_json(baselines::read_file(file), file.string());
  const baselines::JsonField root(json, file.string(), "");
  if (!root.find("fusegate_codes_diff")) {
    throw baselines::InputError(file.string(), "fusegate_codes_diff",
                                "is missing: name a file of fusegate codes-diff --json");
  }
  const auto benchmarks = root.find("benchmarks");
  if (!benchmarks) {
    throw baselines::InputError(file.string(), "benchmarks",
                                "names none: give codes-diff the --baseline of the suite");
  }
  if (root.at("gpu").text() == "identify") patterns.emplace_back("");
  std::vector<std::string> names;
  for (const char* const key : {"touched", "choosing", "unknown"}) {
    for (const baselines::JsonField& name : benchmarks->at(key).elements()) {
      names.push_back(name.text());
    }
  }
  return names;
}

}  // namespace

Only::Only(const OnlyBenchmarks& only) : only_(only) {
  if (only.file) names_ = names_in(*only.file, only_.patterns);
  std::vector<std::string> flags;
  if (only.file) flags.push_back("--only-from " + only.file->string());
  for (const std::string& pattern : only.patterns) flags.push_back("--only " + pattern);
  reason_ = fmt::format("not asked for: {}", fmt::join(flags, ", "));
}

bool Only::takes(const std::string& benchmark) const {
  return std::ranges::find(names_, benchmark) != names_.end() ||
         std::ranges::any_of(only_.patterns, [&](const std::string& pattern) {
           return baselines::Pattern(pattern).fits(benchmark);
         });
}

std::vector<std::string> Only::asked(const baselines::Run& suite, ControlUse use) const {
  std::set<std::string> taken, others;
  for (const auto& series : suite.benchmarks) {
    (takes(series.name) ? taken : others).insert(series.name);
  }
  taken.insert(names_.begin(), names_.end());
  const std::vector<ComparedRuns> known{{suite, suite}};
  const auto candidates = known_benchmarks(others, known);
  const std::vector<std::string> controls =
      use == ControlUse::kStored ? controls_for_stored(candidates)
                                 : controls_side_by_side(candidates, known_benchmarks(taken, known),
                                                         kAskedForAControl * kControlsSideBySide);
  taken.insert(controls.begin(), controls.end());
  return {taken.begin(), taken.end()};
}

}  // namespace fusegate::ci
