// From a request to what the gate found: loads the candidate and its baseline, each file once, and
// judges.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "baselines/record/load_run.h"
#include "ci/gate/gate_facts.h"

namespace fusegate::ci {

struct JudgingRequest : baselines::GateSwitches {
  std::vector<std::filesystem::path> candidate;
  std::vector<std::filesystem::path> baseline;       // empty: looked for in the stores
  std::optional<std::filesystem::path> replay_of{};  // the stored one that baseline replays
  std::vector<std::filesystem::path> stores;
  std::string suite;                 // empty: the one that the candidate names
  std::optional<double> min_effect;  // else the benchmark's own, the suite's, or Rule's
  std::optional<double> allow{};     // else the benchmark's own, or allow_of() the baseline
  std::optional<double> false_discovery_rate;
  std::string filter{};  // a pattern of the benchmarks that are judged; empty: all
  // Slowdowns that are accepted (gating/accepted.h); else accepted.json of the first store with
  // one.
  std::optional<std::filesystem::path> accepted{};
  // Patterns (baselines/io/pattern.h): what fits one is a control, besides what the files say.
  std::vector<std::string> controls{};
  baselines::Unfinished unfinished = baselines::Unfinished::kLeftOut;
};

// The candidate, with the controls that the request names.
baselines::Run load_candidate(const JudgingRequest& request);

// Judges facts.candidate by the baseline that load_baseline() finds; changes nothing where there is
// none, or where it throws. Throws InputError where the candidate is compared with itself: the
// times of all processes agree to the digits that a baseline keeps; and where a control that the
// request names is in neither.
void judge_candidate(const JudgingRequest& request, GateFacts& facts);

// Loads the candidate and judges it. Throws also where no baseline is stored.
void judge(const JudgingRequest& request, GateFacts& facts);
GateFacts judged(const JudgingRequest& request);

// What the candidate's run folder records of A/A comparisons; nothing of several paths, whose
// findings would not hold together. Throws InputError naming file and field.
std::optional<AaFindings> recorded_aa(const baselines::Run& candidate);

// "pr", of "pr" and of "suites/pr.json": a suite may be named by its file.
std::string suite_name(const std::filesystem::path& suite);

// The named baseline, or the one of the candidate's device and suite in the stores; nothing where
// none is stored. Throws InputError, also for figures from a publication, which judge nothing.
std::optional<baselines::LoadedBaseline> load_baseline(const JudgingRequest& request,
                                                       const baselines::Run& candidate);

// A stored baseline and where it lies.
struct StoredBaseline {
  std::filesystem::path path;
  baselines::Baseline baseline;
  std::string text;  // the file's
};

// The first stored baseline of that environment's device and suite whose environment is the same;
// where there is none such, the first at all, so that the gate can say what differs.
std::optional<StoredBaseline> find_comparable_baseline(
    const std::vector<std::filesystem::path>& stores, const baselines::Environment& environment,
    const std::string& suite);

// Has benchmark programs take the pinned choices of the baseline that judges them: the named one,
// or of those that are stored for the suite the one of their device. Empty where there is none.
// fresh: they are to take none, whatever our own environment says.
std::map<std::string, std::string> keep_choices_environment(const JudgingRequest& request,
                                                            const std::string& suite, bool fresh);

// Whether a baseline that may judge the suite's runs has identities of its benchmarks.
bool any_baseline_has_identities(const JudgingRequest& request, const std::string& suite);

// Those of the request; none where it names no file and no store has one. Throws InputError.
std::vector<baselines::AcceptedSlowdown> accepted_slowdowns(const JudgingRequest& request);
// The first of these that can be read, of whatever device: what the suite has. Nothing where none
// is stored.
std::optional<baselines::Run> any_stored_run(const JudgingRequest& request,
                                             const std::string& suite);

// Why nothing was found, and what to do.
std::string missing_baseline_text(const JudgingRequest& request, const baselines::Run& candidate);

// The smallest effect that matters by the run's own suite, or else Rule's. Throws InputError naming
// the field.
double min_effect_of(const baselines::Run& run);

// The slowdown that the gate lets stay undecided, by the run's own suite. Where that sets a
// smallest effect for a CPU and nothing else, it is twice that, and else 5 %. Throws InputError
// naming the field.
double allow_of(const baselines::Run& run);

// What matters is the flag's, else the baseline's suite's, else the rule's. What cards differ by is
// as a calibration beside the baseline has it, or one of its device in the stores. Throws
// InputError where the suite asks for what cannot be, and where the calibration is malformed.
// side_by_side: of two runs of one session; where nobody says what matters, they are tested against
// less (rule.h).
baselines::GateOptions gate_options(const JudgingRequest& request, const baselines::Run& baseline,
                                    bool side_by_side = false);

// The slowdowns that are found nine times in ten in half and in nine tenths of the run's
// benchmarks, by this run as a baseline of a candidate with as many processes, on the same cards or
// on another one: "0.52 % in half of the benchmarks and 1.1 % in nine tenths". "" where that is
// above 50 % in half of them.
std::string detectable_text(const JudgingRequest& request, const baselines::Run& run,
                            bool other_card);

}  // namespace fusegate::ci
