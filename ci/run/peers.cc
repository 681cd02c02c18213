#include "ci/run/peers.h"

#include <fmt/format.h>

#include "baselines/io/write_lock.h"
#include "ci/console/format.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOption = "--peers-out";

baselines::WriteLock lock_folder(const PeersRequest& request, bool append) {
  check_run_folder(request.folder, kOption, append);
  return baselines::WriteLock::of_folder(request.folder, kOption);
}

RunRecord first_record(const PeersRequest& request, const RunRecord& ours, bool append) {
  check_run_folder(request.folder, kOption, append);
  RunRecord record = ours;
  record.invocations.clear();
  record.aa.reset();
  record.program = request.program.script.string();
  record.programs = {record.program};
  if (append && fs::exists(request.folder / "run.json")) {
    const RunRecord earlier = read_run_record(request.folder);
    record.invocations = earlier.invocations;
    // What came of several sessions shares none.
    if (!earlier.invocations.empty() && earlier.session != ours.session) record.session.clear();
  }
  return record;
}

// What the folder holds is read once it is ours.
ProgramRun locked_arm(const PeersRequest& request, const RunRecord& ours, bool append) {
  baselines::WriteLock lock = lock_folder(request, append);
  return {{request.folder, request.program.script.string()},
          first_record(request, ours, append),
          std::move(lock)};
}

}  // namespace

Peers::Peers(const PeersRequest& request, const RunRecord& ours, bool append)
    : program_(request.program), arm_(locked_arm(request, ours, append)) {}

// One line an invocation, whatever came of it.
void Peers::tell(int number, const ProcessRecord& record, ProgressDisplay& display) const {
  if (given_up_) {
    display.note(fmt::format("peers are left out: {}", record.failure));
  } else {
    display.note(
        fmt::format("peers {}: {}", number,
                    record.failure.empty() ? format_duration(record.seconds) : record.failure));
  }
}

bool Peers::measure_beside(const ProcessRequest& ours, const ProcessOutcome& outcome,
                           ProgressDisplay& display) {
  if (given_up_) return true;
  if (!fs::exists(program_.script)) {
    given_up_ = true;
    display.note(fmt::format("peers are left out: there is no {}", program_.script.string()));
    return true;
  }
  ProcessRequest invocation = ours;
  invocation.folder = arm_.folder();
  invocation.program = program_.python;
  invocation.script = program_.script.string();
  invocation.environment["FUSEGATE_BENCH"] = ours.program;  // whose plan they measure
  ProcessOutcome measured = run_process(invocation, [](const ProgressEvent&) {});
  measured.record.block = outcome.record.block;
  measured.record.extension = outcome.record.extension;
  given_up_ = measured.hopeless;
  // Which Python it was that has no torch, or is none.
  if (given_up_) measured.record.failure = program_.python + ": " + measured.record.failure;
  measured.hopeless = false;  // for the arm, whose exception would end our run
  arm_.add(measured);
  tell(ours.number, measured.record, display);
  return !measured.interrupted;
}

void Peers::report(Console& console) const {
  std::size_t files = 0;
  for (const ProcessRecord& invocation : arm_.record().invocations) {
    if (fs::exists(arm_.folder() / invocation.file)) ++files;
  }
  console.out.print("{} of peers in {}\n", format_count(files, "invocation"),
                    arm_.folder().string());
}

}  // namespace fusegate::ci
