// Peers measured in the same run: a process of bench/peers, which has other people's
// implementations of the same operations (PyTorch, its compiler, Liger), after each one of ours,
// with the same flags, into a run folder of their own whose record names the same session. Where
// the peers fail, the run says so and goes on.
#pragma once

#include <filesystem>
#include <string>

#include "ci/console/console.h"
#include "ci/console/layout.h"
#include "ci/processes/progress.h"
#include "ci/run/program_run.h"

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
  // ours: the record of the run beside which they are measured. Locks their folder and writes its
  // first record. Throws InputError for a folder that cannot be measured into.
  Peers(const PeersRequest& request, const RunRecord& ours, bool append);

  // With the flags of our process, whose outcome is given. Does nothing once a process could not
  // run at all. False where it was interrupted.
  bool measure_beside(const ProcessRequest& ours, const ProcessOutcome& outcome,
                      ProgressDisplay& display);
  void finish(bool finished) { run_.finish(finished); }
  // Prints what was measured on console.out.
  void report(Console& console) const;

 private:
  void show(int number, const ProcessRecord& record, ProgressDisplay& display) const;

  PeersProgram program_;
  ProgramRun run_;
  bool given_up_ = false;
};

}  // namespace fusegate::ci
