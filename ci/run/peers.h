// Peers measured in the same run: a process of bench/peers, which times other people's
// implementations of the same operations (PyTorch, its compiler, Liger), after each one of ours,
// with the same flags, into a run folder of their own whose record names the same session. What
// goes wrong with the peers is said, and our own run goes on.
#pragma once

#include <filesystem>
#include <string>

#include "ci/console/console.h"
#include "ci/console/layout.h"
#include "ci/run/program_run.h"
#include "ci/run/progress_display.h"

namespace fusegate::ci {

struct PeersProgram {
  std::string python = peers_python();
  std::filesystem::path script = peers_script();  // takes the flags that fusegate_bench does
};

struct PeersRequest {
  std::filesystem::path folder;
  PeersProgram program{};
};

class Peers {
 public:
  // ours: the record of the run that they stand beside. Writes their folder's first record. Throws
  // InputError for a folder that cannot be measured into.
  Peers(const PeersRequest& request, const RunRecord& ours, bool append);

  // By what our invocation was asked for, whose outcome is given. Does nothing once a process could
  // not run at all. False where it was interrupted.
  bool measure_beside(const ProcessRequest& ours, const ProcessOutcome& outcome,
                      ProgressDisplay& display);
  void finish(bool finished) { arm_.finish(finished); }
  // Says on console.out what was measured.
  void report(Console& console) const;

 private:
  void tell(int number, const ProcessRecord& record, ProgressDisplay& display) const;

  PeersProgram program_;
  ProgramRun arm_;
  bool given_up_ = false;
};

}  // namespace fusegate::ci
