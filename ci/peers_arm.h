// Peers measured in the same run: a process of theirs after each one of ours, into a run folder of
// their own, whose record names the same session. Whatever goes wrong with them is said and costs
// them alone.
#pragma once

#include <filesystem>

#include "ci/console.h"
#include "ci/measured_arm.h"
#include "ci/peers_program.h"
#include "ci/progress_display.h"

namespace fusegate {

struct PeersRequest {
  std::filesystem::path folder;
  PeersProgram program{};
};

class PeersArm {
 public:
  // ours: the record of the run that they stand beside. Writes their folder's first record. Throws
  // InputError for a folder that cannot be measured into.
  PeersArm(const PeersRequest& request, const RunRecord& ours, bool append);

  // By the suite, number, seed, time limit and interrupts of our invocation, whose outcome is
  // given. Does nothing once a process could not run at all. False where it was interrupted.
  bool measure_beside(const InvocationRequest& ours, const InvocationOutcome& outcome,
                      ProgressDisplay& display);
  void finish(bool finished) { arm_.finish(finished); }
  // Says on console.out what was measured.
  void report(Console& console) const;

 private:
  void tell(int number, const InvocationRecord& record, ProgressDisplay& display) const;

  PeersProgram program_;
  MeasuredArm arm_;
  bool given_up_ = false;
};

}  // namespace fusegate
