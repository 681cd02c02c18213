// A baseline: an accepted run, with who, when, why and the commit; and the store, a folder per
// device. Small enough for git and laid out for review: one line per benchmark, sorted.
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

// A stored baseline with its acceptance, or a plain run.
struct LoadedBaseline {
  Run run;
  std::optional<Acceptance> acceptance{};  // of a stored baseline
  std::optional<Baseline> anchor{};        // stored beside it, if it is another run
};

// Reasons not to accept a run: failed benchmarks, a throttled GPU, other processes on it, a dirty
// tree, undeclared kernels, unfinished processes, benchmarks that are left out or not measured,
// fewer than two processes, or than two on one of several cards. Empty where there is none.
std::vector<std::string> reasons_not_to_accept(const Run& run);

inline constexpr int kBaselineSchemaVersion = 1;

// The file's text, the same for the same baseline. Numbers have five significant digits, finer than
// any spread measured. Without cycles where a process has none, and without unmeasured benchmarks.
std::string baseline_text(const Baseline& baseline);

// Throws InputError naming file and field, also for published figures: nothing is gated against
// them.
LoadedBaseline load_stored_baseline(const std::filesystem::path& path);
// The same of a file that was read already. text: what it holds.
LoadedBaseline judging_baseline(Baseline baseline, const std::string& text,
                                const std::filesystem::path& path);
// Throws InputError for figures from a publication.
void require_unpublished(const Baseline& baseline);

// Throws InputError naming file and field.
Baseline read_baseline(const std::filesystem::path& path);
// source: the file's name in messages.
Baseline parse_baseline(std::string_view text, const std::string& source);
// Whether the JSON text is a baseline (it has "fusegate_baseline") and not a run file.
bool is_baseline_text(std::string_view text);

// store/<device slug>/<suite slug>.json; the suite's slug is "unnamed" without a suite.
std::filesystem::path baseline_path(const std::filesystem::path& store,
                                    const Environment& environment, const std::string& suite);
// Beside a stored baseline, store/<device slug>/<suite slug>.anchor.json: a second baseline that
// stays when the first is replaced, to detect slow drift. Without the file, the baseline is its own
// anchor.
std::filesystem::path anchor_path(const std::filesystem::path& baseline);
// The suite's of every device, store by store and sorted in each.
std::vector<std::filesystem::path> baselines_of_suite(
    const std::vector<std::filesystem::path>& stores, const std::string& suite);
// In the first store that has one. Both throw InputError for a store that exists and cannot be
// read.
std::optional<std::filesystem::path> find_baseline(const std::vector<std::filesystem::path>& stores,
                                                   const Environment& environment,
                                                   const std::string& suite);

}  // namespace fusegate::baselines
