#include "ci/gate/aa_recording.h"

#include <algorithm>
#include <chrono>

#include "baselines/io/error.h"
#include "baselines/record/load_run.h"
#include "ci/console/format.h"
#include "ci/console/layout.h"
#include "ci/gate/aa_history.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

AaEntry entry_of(const AaFindings& findings, const baselines::Run& run) {
  AaEntry entry;
  entry.when = format_instant(std::chrono::system_clock::now());
  entry.device_uuid = run.provenance.device_uuid;
  const auto device = run.environment.find("device");
  if (device != run.environment.end() && device->second.is_string()) {
    entry.device = device->second.get<std::string>();
  }
  entry.suite = run.provenance.suite;
  entry.commit = run.provenance.commit;
  entry.benchmarks = findings.benchmarks;
  entry.false_alarms = static_cast<int>(findings.called.size());
  entry.invocations_a_side = findings.invocations_a_side;
  return entry;
}

AaFindings compare_and_remember(const AaRecordingRequest& request) {
  if (request.a.empty() || request.b.empty())
    throw baselines::InputError("A/A", "", "an arm has no run file");
  baselines::Run a = baselines::load_run(request.a);
  baselines::name_controls(request.judging.controls, a);
  const baselines::Run b = baselines::load_run(request.b);
  AaFindings findings = compare_aa(a, b, gate_options(request.judging, a, true).rule);
  // Counted as "no alarm", a comparison that could raise none would flatter the gate.
  if (findings.benchmarks == 0) {
    throw baselines::InputError("A/A", "", "no benchmark has two invocations in each arm");
  }
  const fs::path history = request.history ? *request.history
                                           : aa_history_path(checkout_root(fs::current_path()),
                                                             a.environment, a.provenance.suite);
  const std::vector<AaEntry> all = append_to_aa_history(history, entry_of(findings, a));
  findings.comparisons = static_cast<int>(all.size());
  findings.comparisons_with_alarm = static_cast<int>(
      std::ranges::count_if(all, [](const AaEntry& entry) { return entry.false_alarms > 0; }));
  return findings;
}

}  // namespace

void check_aa_history(const std::optional<fs::path>& history) {
  if (history) read_aa_history(*history);
}

std::optional<AaFindings> record_aa(const AaRecordingRequest& request, Console& console) {
  try {
    return compare_and_remember(request);
  } catch (const baselines::InputError& error) {
    console.err.print("fusegate: no A/A comparison is recorded: {}\n", error.what());
    return std::nullopt;
  }
}

}  // namespace fusegate::ci
