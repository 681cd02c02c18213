// What is measured, by how many processes, and under which limits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "baselines/comparing/verdict.h"
#include "ci/run/extension_plan.h"
#include "ci/run/peers.h"
#include "ci/run/program_run.h"
#include "ci/selection/only.h"
#include "ci/selection/selection.h"
#include "ci/shards/measured_shard.h"

namespace fusegate::ci {

// What becomes of processes that a folder already holds.
enum class Earlier { kRefused, kAddedTo, kResumed };

// What a user says of every command that measures.
struct MeasuringOptions {
  std::string suite{};               // a name or a file
  std::vector<std::string> flags{};  // passed on to the benchmark program
  double timeout_s = 1800;           // of one process
  // No round starts that is expected to end later. Two things are measured all the same: the first
  // round, and the confirmation of a regression.
  std::optional<double> budget_s{};
  // The time is a budget for all that a GPU is held for, from the first start of a program on:
  // what is measured is chosen so that it suffices (budget_plan.h). Nothing exceeds it.
  bool plans_budget = false;
  double spent_s = 0;  // of the budget, before
  OnlyBenchmarks only{};
  AskedShard asked_shard{};
  std::optional<ShardRecord> shard{};   // what asked_shard names; take_shard() sets it
  std::optional<std::uint64_t> seed{};  // of the order and of the processes; none: random
  Earlier earlier = Earlier::kRefused;  // resumed: ci/run/resuming.h
  bool measures_all = false;            // identical code too, and programs are not identified
  bool fresh_choices = false;           // programs choose kernels anew, whatever the baseline's did
  std::string gpus{};                   // all, or which; empty: the one that programs take
  // The UUID of the only card that programs see; empty: all. Of such a run others may measure the
  // rest: it ends where more processes in a row died than it has programs.
  std::string card{};
};

// Of each program.
struct ProcessCounts {
  int minimum = 5;
  bool is_given = false;  // by whoever called
  // Nothing: run extends nothing, and what measures side by side goes up to three times the
  // minimum.
  std::optional<int> maximum{};

  // The minimum. Where nobody gave it, that of a maximum which leaves no room for a confirmation.
  int wanted() const {
    const bool follows = !is_given && maximum && *maximum < minimum + kLeastConfirmation;
    return follows ? *maximum : minimum;
  }
};

struct MeasuringRequest {
  MeasuringOptions options{};
  std::vector<ProgramRequest> programs{};
  int processes = 5;      // of each program: the minimum
  int max_processes = 5;  // of each extended program; the minimum: no extension
  // An extension measures every benchmark again and not only those that ask for it. For runs that
  // are compared with a baseline of whole processes: on an H200, processes that measured 16 of the
  // 60 benchmarks of `pr` found an unchanged GEMM of 3.6 us 0.4 % slower than whole ones did.
  bool extends_whole_suite = false;
  std::optional<double> min_effect{};  // of what makes a process an outlier; none: the suite's own
  // Of each program, in place of `processes`, where few benchmarks differ
  // (ci/selection/selection.h).
  std::optional<int> processes_of_few{};
  ControlUse controls = ControlUse::kStored;
  // A planned budget may take fewer samples than the suite says: where nothing else was measured by
  // that protocol.
  bool may_thin = false;
  // Measured alone, with controls; empty: all that differ. benchmark_flags measure it where nothing
  // can be selected, as a program does not say what it launches.
  std::string benchmark{};
  std::vector<std::string> benchmark_flags{};
  bool has_record = true;  // controls are measured even where no code differs
  bool is_aa = false;      // deal each program's minimum to two halves of an A/A comparison
  std::map<std::string, std::string> environment{};  // of the programs
  // That load at once, where they load together; at least those of a round.
  std::size_t most_loading = std::thread::hardware_concurrency() / 2;
  std::optional<PeersRequest> peers{};  // measured after every process, where there is one program
};

// Judges what was measured so far, while the run goes on. Throws InputError where that cannot be;
// then nothing is extended.
using InterimAnalysis = std::function<std::vector<baselines::Verdict>()>;

// What will be compared, by the identities that the folders have by now. Where it returns nothing
// or throws InputError, all is measured.
using Comparisons = std::function<std::vector<ComparedRuns>()>;

struct RunAnalyses {
  InterimAnalysis interim{};               // empty: nothing is extended
  Comparisons comparisons{};               // empty: all is measured
  std::optional<baselines::Run> stored{};  // of the suite, of any device: names its benchmarks
};

enum class RunEnd { kAll, kBudget, kInterrupted, kGaveUp };

// Two halves of an A/A comparison with two processes each: fewer cannot be compared.
inline constexpr int kLeastAaProcesses = 4;

}  // namespace fusegate::ci
