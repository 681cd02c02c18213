#include "ci/run/program_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "baselines/io/error.h"
#include "ci/console/format.h"

namespace fusegate::ci {

namespace fs = std::filesystem;

ProgramRun::ProgramRun(const ProgramRequest& request, RunRecord record, baselines::WriteLock lock)
    : request_(request),
      record_(std::move(record)),
      lock_(std::move(lock)),
      next_number_(last_process_in(request_.folder) + 1),
      earlier_(record_.invocations.size()) {
  write();
}

void ProgramRun::write() const { write_run_record(request_.folder, record_); }

void ProgramRun::add(const ProcessOutcome& outcome) {
  record_.invocations.push_back(outcome.record);
  record_.ended = format_instant(std::chrono::system_clock::now());
  write();
  if (outcome.hopeless) throw baselines::InputError(program(), "", outcome.record.failure);
  if (!outcome.failed_benchmarks.empty() &&
      outcome.record.failure == failed_benchmarks_text(outcome.failed_benchmarks)) {
    explained_.insert(outcome.record.file);
  }
}

void ProgramRun::set_identified(const std::string& question) {
  record_.identified = question;
  write();
}

std::vector<baselines::OddProcess> ProgramRun::add_odd(
    const std::vector<baselines::OddProcess>& odd) {
  std::vector<baselines::OddProcess> fresh;
  for (const baselines::OddProcess& one : odd) {
    const auto own = std::span(record_.invocations).subspan(earlier_);
    const auto found = std::ranges::find(own, one.name, &ProcessRecord::file);
    if (found == own.end() || found->odd) continue;
    found->odd = one.departure;
    fresh.push_back(one);
  }
  if (!fresh.empty()) write();
  return fresh;
}

void ProgramRun::finish(bool finished) {
  record_.finished = finished;
  write();
}

void ProgramRun::set_aa(const AaFindings& findings) {
  record_.aa = findings;
  write();
}

std::span<const ProcessRecord> ProgramRun::own_invocations() const {
  return std::span(record_.invocations).subspan(earlier_);
}

int ProgramRun::invocations() const { return static_cast<int>(own_invocations().size()); }

int ProgramRun::extensions() const {
  return static_cast<int>(std::ranges::count(own_invocations(), true, &ProcessRecord::extension));
}

std::vector<fs::path> ProgramRun::files_of(const std::string& aa_arm) const {
  std::vector<fs::path> files;
  for (const ProcessRecord& invocation : own_invocations()) {
    const fs::path file = folder() / invocation.file;
    if (invocation.aa_arm == aa_arm && fs::exists(file)) files.push_back(file);
  }
  return files;
}

int ProgramRun::report_failures(Console& console) const {
  int failures = 0;
  for (const ProcessRecord& invocation : own_invocations()) {
    if (invocation.failure.empty()) continue;
    ++failures;
    if (invocation.failure == kInterruptedFailure) continue;  // the last line says so
    if (explained_.contains(invocation.file)) continue;
    console.err.print("fusegate: {}: {}\n", (folder() / invocation.file).string(),
                      invocation.failure);
  }
  return failures;
}

}  // namespace fusegate::ci
