#include "ci/run/peers.h"

#include <fmt/format.h>

#include "baselines/record/program_variables.h"
#include "ci/console/format.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOption = "--peers-out";

ProgramRun locked_run(const PeersRequest& request, const RunRecord& ours, bool append) {
  const std::string script = request.program.script.string();
  baselines::WriteLock lock = lock_run_folder(request.folder, kOption, append);
  RunRecord record = ours;
  record.processes.clear();
  record.aa.reset();
  record.program = script;
  record.programs = {script};
  if (append && fs::exists(request.folder / "run.json")) {
    const RunRecord earlier = read_run_record(request.folder);
    record.processes = earlier.processes;
    // What came of several sessions shares none.
    if (!earlier.processes.empty() && earlier.session != ours.session) record.session.clear();
  }
  const std::size_t earlier = record.processes.size();
  return {{request.folder, script}, std::move(record), std::move(lock), earlier};
}

}  // namespace

Peers::Peers(const PeersRequest& request, const RunRecord& ours, bool append)
    : program_(request.program), run_(locked_run(request, ours, append)) {}

// One line a process, also of one that failed.
void Peers::show(int number, const ProcessRecord& record, ProgressDisplay& display) const {
  const std::string& failure = record.failure;
  display.note(given_up_
                   ? "leaving peers out: " + failure
                   : fmt::format("peers {}: {}", number,
                                 failure.empty() ? format_duration(record.seconds) : failure));
}

bool Peers::measure_beside(const ProcessRequest& ours, const ProcessOutcome& outcome,
                           ProgressDisplay& display) {
  if (given_up_) return true;
  if (!fs::exists(program_.script)) {
    given_up_ = true;
    display.note(fmt::format("leaving peers out: {} does not exist", program_.script.string()));
    return true;
  }
  ProcessRequest process = ours;
  process.folder = run_.folder();
  process.program = program_.python;
  process.script = program_.script.string();
  process.google_benchmark.reset();
  process.environment["FUSEGATE_BENCH"] = ours.program;  // whose suites they measure
  // Ours are no choices of theirs.
  process.environment[baselines::kPinChoicesVariable] = "";
  process.environment.erase(baselines::kPinStrictlyVariable);
  ProcessOutcome measured = run_process(process, [](const ProgressEvent&) {});
  measured.record.block = outcome.record.block;
  measured.record.extension = outcome.record.extension;
  given_up_ = measured.hopeless;
  // Names the Python, which may lack torch or not exist.
  if (given_up_) measured.record.failure = program_.python + ": " + measured.record.failure;
  measured.hopeless = false;  // else ProgramRun throws, which would end our run
  run_.add(measured);
  show(ours.number, measured.record, display);
  return !measured.interrupted;
}

void Peers::report(Console& console) const {
  int files = 0;
  for (const ProcessRecord& process : run_.record().processes) {
    if (fs::exists(run_.folder() / process.file)) ++files;
  }
  console.out.print("{} of peers in {}\n", process_count(files), run_.folder().string());
}

}  // namespace fusegate::ci
