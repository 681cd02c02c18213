// A baseline: a run that was accepted, with who, when, why and from which commit; and the store, a
// folder a device. Small enough for git and laid out for review: one line a benchmark, sorted.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baselines/record/run.h"

namespace fusegate::baselines {

struct Acceptance {
  std::string who;
  std::string when;  // ISO 8601 with zone
  std::string reason;
};

struct Baseline {
  Acceptance acceptance;
  Run run;
  bool published = false;  // figures from a publication: shown, never gated against
};

// A baseline as it was found: a stored one, which tells who accepted it, or a plain run.
struct LoadedBaseline {
  Run run;
  std::optional<Acceptance> acceptance{};  // where it comes from a store's file
  std::optional<Baseline> anchor{};        // the one stored beside it, where that is another run
};

// Reasons not to accept a run: failed benchmarks, a throttled GPU, other processes on it, a dirty
// tree, kernels that were not declared, what is not finished, fewer than two invocations, of
// several cards one with fewer, benchmarks that were not measured. Empty where there is none.
std::vector<std::string> reasons_not_to_accept(const Run& run);

inline constexpr int kBaselineSchemaVersion = 1;

// The file's text, the same for the same baseline. Numbers have five significant digits, which is
// finer than any spread measured; cycles are left out where an invocation has none, and benchmarks
// that were not measured.
std::string baseline_text(const Baseline& baseline);

// Throws InputError naming file and field. Figures from a publication judge nothing: it throws for
// them too.
LoadedBaseline load_stored_baseline(const std::filesystem::path& path);

// Throws InputError naming file and field.
Baseline read_baseline(const std::filesystem::path& path);
// The same for text that is in memory already; source stands in messages for the file.
Baseline parse_baseline(std::string_view text, const std::string& source);
// Whether the JSON text is a baseline (it has "fusegate_baseline") and not a run file.
bool is_baseline_text(std::string_view text);

// store/<device slug>/<suite slug>.json; the suite's slug is "unnamed" for a run that no suite
// named.
std::filesystem::path baseline_path(const std::filesystem::path& store,
                                    const Environment& environment, const std::string& suite);
// Beside a stored baseline, store/<device slug>/<suite slug>.anchor.json: a second baseline that
// stays when the first is replaced, so that what creeps from one to the next is seen. Where there
// is no such file, the baseline has not been replaced and is its own anchor.
std::filesystem::path anchor_path(const std::filesystem::path& baseline);
// The suite's of every device, store by store and sorted in each.
std::vector<std::filesystem::path> baselines_of_suite(
    const std::vector<std::filesystem::path>& stores, const std::string& suite);
// The first store that has one. Both throw InputError for a store that is there and cannot be read.
std::optional<std::filesystem::path> find_baseline(const std::vector<std::filesystem::path>& stores,
                                                   const Environment& environment,
                                                   const std::string& suite);

}  // namespace fusegate::baselines
