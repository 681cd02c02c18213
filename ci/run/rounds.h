// The rounds of a run: each starts one process of every program that takes part, in an order that
// is drawn (Schedule), and is a block of the run folders' records. Where the session has them load
// together, the processes of several rounds are started at once, and measure in their turns.
#pragma once

#include <cstdint>
#include <deque>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "ci/processes/process_times.h"
#include "ci/run/failed_benchmarks.h"
#include "ci/run/session.h"

namespace fusegate::ci {

struct PlannedProcess {
  int slot = 0;
  std::uint64_t seed = 0;
};

// A B B A B A A B ...: rounds come in pairs. The first's order is drawn, so that nothing which
// recurs with the rounds meets one program always; the second's is its mirror image, so that a
// machine that drifts steadily moves all programs alike.
class Schedule {
 public:
  Schedule(int slots, std::uint64_t seed);

  // One process of every slot. Seeds differ over the whole schedule and fit in 31 bits, which any
  // program can read.
  std::vector<PlannedProcess> next_round();

 private:
  std::uint64_t draw_seed();

  std::mt19937_64 random_;
  std::vector<int> order_;
  bool is_mirrored_next_ = false;
  std::set<std::uint64_t> drawn_;
};

struct Round {
  enum class Kind { kMinimum, kRepeat, kExtension };
  Kind kind = Kind::kMinimum;
  std::vector<std::string> flags{};  // of its processes, besides the user's
};

class Rounds {
 public:
  // The session must outlive it.
  explicit Rounds(Session& session);

  // As many processes of each program as the session wants, while the budget has room.
  void measure_minimum();
  // Ends the session where somebody interrupts. Throws InputError where a program cannot measure at
  // all; what was measured stays in the folders. wanted: how many such rounds are to come, with
  // this one, of which some may load together with it.
  void measure(const Round& round, ProgressDisplay& display, int wanted = 1);

  // What a process of that program took in the minimum, in the mean; 0 where there was none.
  double process_s(std::size_t program) const;
  // How many processes a repeat starts, and what it is expected to take.
  int repeat_processes() const { return static_cast<int>(slots_.size()); }
  double expected_repeat_s() const;

  // Which benchmarks failed, on console.err.
  void report_failed_benchmarks() const;

 private:
  // A program, or one of the two halves of an A/A comparison that it stands in for.
  struct Slot {
    std::size_t program = 0;
    std::string aa_half;
  };

  // Of all programs, to the minimum.
  int processes_left() const;
  int rounds_left() const;
  void replan(ProgressDisplay& display);

  bool is_of_card() const { return !session_.request.options.card.empty(); }
  const Slot& slot_of(const PlannedProcess& planned) const {
    return slots_[static_cast<std::size_t>(planned.slot)];
  }
  // ahead: how many processes of the program come before this one.
  bool takes_part(const Slot& slot, const Round& round, int ahead = 0) const;
  ProcessRequest request_of(const PlannedProcess& planned, const Round& round, int ahead = 0) const;
  // Of the next rounds of that kind, as many as shall load together. Draws them.
  std::vector<ProcessRequest> next_requests(const Round& round, int wanted);
  // Starts them, and waits until they have loaded.
  void load(const Round& round, int wanted, ProgressDisplay& display);
  // Whether the round may go on.
  bool run_one(const PlannedProcess& planned, const Round& round, ProgressDisplay& display);
  ProcessOutcome run_and_record(const Slot& slot, const ProcessRequest& process, const Round& round,
                                ProgressDisplay& display);
  // A note and a failure are shown once, however many processes report them.
  void show(ProgressEvent event, ProgressDisplay& display);

  Session& session_;
  std::vector<Slot> slots_;
  Schedule schedule_;
  std::deque<std::vector<PlannedProcess>> drawn_;  // rounds to come
  std::vector<StartedChild> loaded_;               // the first of their processes, in order
  int block_;                                      // the last one that was started
  const int first_block_;                          // of this run
  ProcessTimes first_round_{};                     // of all its processes
  std::vector<double> minimum_s_;                  // by program: what its minimum took
  double load_s_ = 0;     // what the last ones that loaded together took for it
  double loading_s_ = 0;  // all of them
  bool said_loading_ = false;
  std::size_t deaths_ = 0;                    // of the last processes, in a row
  std::set<std::size_t> lived_;               // programs that have a process which did not die
  std::set<std::string, std::less<>> notes_;  // shown so far
  FailedBenchmarks shown_failures_;
  FailedBenchmarks failures_;              // of run files
  std::set<std::size_t> failed_programs_;  // that these are of
};

}  // namespace fusegate::ci
