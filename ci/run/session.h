// What the steps of a run share: its programs with their locked folders, what is measured of them,
// its clock, and whether it goes on.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ci/console/console.h"
#include "ci/processes/child_process.h"
#include "ci/processes/progress.h"
#include "ci/run/measuring_request.h"
#include "ci/selection/budget.h"

namespace fusegate::ci {

struct Session {
  // Locks every folder and writes its first record. Throws InputError for folders that cannot be
  // measured into, and for a maximum that allows no confirmation.
  Session(const MeasuringRequest& request, Console& console, ProgressDisplay::Now now);

  bool goes_on() const { return end == RunEnd::kAll && measures_anything(); }
  bool is_interrupted() const { return end == RunEnd::kInterrupted; }
  bool is_cut_short() const { return is_interrupted() || end == RunEnd::kGaveUp; }
  // False where no code differs and no record was asked for.
  bool measures_anything() const { return !selection || !selection->measured.empty(); }
  // Of the time budget; infinite without one.
  double left_s() const;
  // Whether the time budget has room for what is expected to take that long.
  bool fits(double expected_s) const;
  // A process of that program, with these flags besides the user's; its number is left open.
  ProcessRequest process_request(const ProgramRun& program, std::uint64_t seed,
                                 const std::vector<std::string>& flags) const;
  // Changes the minimum of each program.
  void set_processes(int wanted);
  // Measures what its budget plans, and leaves the others out.
  void take_budget();
  // What each program's record says, with the reason.
  void leave_out(const std::vector<std::string>& benchmarks, const std::string& why);
  void finish();

  const MeasuringRequest request;
  Console& console;
  const ProgressDisplay::Now now;
  std::vector<ProgramRun> programs;
  // By name, those of the programs that take no flag of fusegate's.
  const std::map<std::string, GoogleBenchmark> google_benchmarks;
  std::optional<Peers> peers;
  const Interrupts interrupts;
  const double started_s;
  int processes;                                 // of each program: the minimum
  std::optional<Selection> selection{};          // none: all is measured
  std::optional<BudgetedRun> budget{};           // none: nothing is planned
  std::map<std::string, std::string> left_out{};  // benchmarks, with the reason
  std::vector<std::string> whole_round_flags{};  // that measure what is selected
  bool takes_found_choices = false;              // of each folder's identities.json
  bool loads_together = false;                   // processes do, and then measure in turn
  RunEnd end = RunEnd::kAll;
};

}  // namespace fusegate::ci
