// Measures the programs of a run in turn: first finds out what they launch (identification.h), to
// measure what differs and controls (work_plan.h); then the minimum, and once more where a process
// was odd (odd_processes.h); then rounds of extension for what a look at the data leaves undecided
// or suspicious (extension_plan.h says which, and why).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "baselines/comparing/verdict.h"
#include "ci/console/console.h"
#include "ci/run/extension_plan.h"
#include "ci/run/failed_benchmarks.h"
#include "ci/run/identification.h"
#include "ci/run/interrupts.h"
#include "ci/run/peers.h"
#include "ci/run/program_run.h"
#include "ci/run/progress_display.h"
#include "ci/run/schedule.h"
#include "ci/run/selection.h"

namespace fusegate::ci {

// What every command that measures is told.
struct MeasuringOptions {
  std::string suite{};
  std::vector<std::string> flags{};  // passed on to the benchmark program
  double timeout_s = 1800;           // of one invocation
  // No round is started that would, by its expected length, end later. Two things are measured all
  // the same: the first round, and the confirmation of a regression.
  std::optional<double> budget_s{};
  std::optional<std::uint64_t> seed{};  // of the order and of the processes; random where none
  bool measures_all = false;            // equal work too, and programs are asked nothing
};

struct MeasuringRequest : MeasuringOptions {
  std::vector<ProgramRequest> arms{};
  int invocations = 5;    // of each arm: the minimum
  int max_processes = 5;  // of each extended arm; the minimum: no extension
  // An extension measures every benchmark again and not only those that ask for it. For runs that
  // are compared with a baseline of whole processes: on an H200, processes that measured 16 of the
  // 60 benchmarks of `pr` found an unchanged GEMM of 3.6 us 0.4 % slower than whole ones did.
  bool extends_whole_suite = false;
  std::optional<double> min_effect{};  // of what makes a process odd; else the suite's own
  // Of each arm, in place of `invocations`, where few benchmarks differ (work_plan.h).
  std::optional<int> processes_of_few{};
  ControlUse controls = ControlUse::kStored;
  bool has_record = true;  // controls are measured even where no work differs
  bool is_aa = false;      // deal each arm's minimum to two A/A arms, "a" and "b"
  std::map<std::string, std::string> environment{};  // of the programs
  bool append = false;                               // add to folders that already hold invocations
  std::optional<PeersRequest> peers{};  // measured after every invocation, where there is one arm
};

// Judges what was measured so far. Throws InputError where that cannot be; then nothing is
// extended.
using Look = std::function<std::vector<baselines::Verdict>()>;

// What will be compared, told by the identities that the arms' folders have by now. Nothing, and
// InputError too: all is measured.
using Comparisons = std::function<std::vector<ComparedRuns>()>;

double steady_seconds();

enum class RunEnd { kAll, kBudget, kInterrupted };

struct Measured {
  RunEnd end = RunEnd::kAll;
  bool all_well = false;  // every invocation ended well, and nobody interrupted
};

// Two A/A arms with two invocations each: fewer cannot be compared.
inline constexpr int kLeastAaProcesses = 4;

class MeasuringRun {
 public:
  // Writes every folder's first record. Throws InputError for folders that cannot be measured into.
  // now: a steady clock in seconds; tests bring their own.
  MeasuringRun(const MeasuringRequest& request, Console& console,
               ProgressDisplay::Now now = steady_seconds);

  // look: empty where there is nothing to compare with; comparisons: where all is measured. Throws
  // InputError where a program can measure nothing at all; what was measured stays in the folders.
  RunEnd measure(const Look& look, const Comparisons& comparisons = {});
  // Says what was measured and what failed; whether every invocation ended well.
  bool report() const;
  // False where no work differs and no record was asked for.
  bool measures_anything() const { return !plan_ || !plan_->measured.empty(); }

  std::vector<ProgramRun>& arms() { return arms_; }

 private:
  // What may be started in a round: an arm, or one of the two that an arm stands in for.
  struct Slot {
    std::size_t arm = 0;
    std::string aa_arm;
  };
  enum class RoundKind { kMinimum, kRepeat, kExtension };
  struct Round {
    RoundKind kind = RoundKind::kMinimum;
    std::vector<std::string> flags;
  };

  void choose_work(const Comparisons& comparisons);
  IdentifyResult find_identities();
  void set_plan(Selection plan);
  void set_invocations(int invocations);
  void measure_minimum();
  // One more block of all arms for an odd process, and at most two.
  void repeat_odd();
  // Names those that were not named before; whether there are any.
  bool name_odd();
  void extend(const Look& look);
  // number: of the extension, from 1.
  std::vector<std::string> flags_of(const ExtensionRound& round, int number) const;
  // Of those that are judged, how many a whole round measures.
  std::size_t measured_of(std::size_t judged) const;
  ExtensionRound look_at(ExtensionPlan& plan, const Look& look) const;
  void measure_round(const Round& round, ProgressDisplay& display);
  bool takes_part(const Slot& slot, const Round& round) const;
  // Whether the run may go on.
  bool run_one(const Slot& slot, std::uint64_t seed, const Round& round, ProgressDisplay& display);
  ProcessRequest process_request_of(const ProgramRun& arm, std::uint64_t seed,
                                    const std::vector<std::string>& flags) const;
  // What is told already is not told again.
  void show(ProgressEvent event, ProgressDisplay& display);
  void report_failed_benchmarks() const;
  int extended_arms() const;
  double expected_extension_s(std::size_t benchmarks, std::size_t suite_size) const;
  bool fits(double expected_s) const;

  const MeasuringRequest request_;
  int invocations_ = 0;  // of each arm: the minimum
  Console& console_;
  ProgressDisplay::Now now_;
  std::vector<ProgramRun> arms_;
  std::optional<Peers> peers_;
  std::vector<Slot> slots_;
  Schedule schedule_;
  std::optional<Selection> plan_;               // nothing: all is measured
  bool takes_found_choices_ = false;            // strictly, of each arm's identities.json
  std::vector<std::string> whole_round_flags_;  // that measure what is planned
  std::set<std::string, std::less<>> notes_;    // that programs gave so far: each is told once
  int block_ = 0;                               // the last one that was started in this session
  std::optional<Interrupts> interrupts_;
  double started_s_ = 0;
  std::vector<double> minimum_s_;       // by arm: what its invocations of the minimum took together
  double extension_s_a_benchmark_ = 0;  // in the last extension, all arms together
  FailedBenchmarks told_failures_;      // while it was measured
  FailedBenchmarks failures_;           // of run files
  std::set<std::size_t> failed_arms_;   // that these are of
  RunEnd end_ = RunEnd::kAll;
};

}  // namespace fusegate::ci
