#include "ci/commands/measuring/commands.h"

namespace fusegate::ci {
namespace {

constexpr const char* kInterrupted =
    "interrupted before all was measured, so nothing was judged; run it again";

}  // namespace

baselines::ExitCode gate_measured(const GateRequest& request, const RunResult& measured,
                                  Console& console) {
  if (measured.end == RunEnd::kInterrupted) {
    write_gate_failure(request, kInterrupted, console);
    return baselines::ExitCode::kCouldNotJudge;
  }
  if (!measured.all_well) {
    console.err.print(
        "warning: some processes failed; the others are judged, but the result cannot pass\n");
  }
  console.out.lines("\n");
  GateRequest noted = request;
  noted.notes.insert(noted.notes.end(), measured.notes.begin(), measured.notes.end());
  const baselines::ExitCode verdict = gate_command(noted, console);
  return verdict == baselines::ExitCode::kNoRegression && !measured.all_well
             ? baselines::ExitCode::kCouldNotJudge
             : verdict;
}

}  // namespace fusegate::ci
