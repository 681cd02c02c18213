#include "ci/run/program_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "baselines/io/error.h"
#include "ci/console/format.h"

namespace fusegate::ci {

namespace fs = std::filesystem;

ProgramRun::ProgramRun(const ProgramRequest& request, RunRecord record, baselines::WriteLock lock,
                       std::size_t earlier)
    : request_(request),
      record_(std::move(record)),
      lock_(std::move(lock)),
      next_number_(last_process_in(request_.folder) + 1),
      earlier_(earlier) {
  write();
}

void ProgramRun::begin(const ProcessRecord& process) {
  record_.measuring = process;
  write();
}

void ProgramRun::add(const ProcessOutcome& outcome) {
  record_.measuring.reset();
  record_.processes.push_back(outcome.record);
  record_.ended = format_instant(std::chrono::system_clock::now());
  write();
  if (outcome.hopeless) throw baselines::InputError(program(), "", outcome.record.failure);
  if (outcome.only_benchmarks_failed) explained_.insert(outcome.record.file);
}

void ProgramRun::set_identified(const std::string& question) {
  record_.identified = question;
  write();
}

void ProgramRun::set_left_out(const std::map<std::string, std::string>& left_out) {
  record_.left_out = left_out;
  write();
}

std::vector<baselines::Outlier> ProgramRun::add_outliers(
    const std::vector<baselines::Outlier>& outliers) {
  std::vector<baselines::Outlier> fresh;
  for (const baselines::Outlier& outlier : outliers) {
    const auto own = std::span(record_.processes).subspan(earlier_);
    const auto found = std::ranges::find(own, outlier.name, &ProcessRecord::file);
    if (found == own.end() || found->relative_deviation) continue;
    found->relative_deviation = outlier.relative_deviation;
    fresh.push_back(outlier);
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

std::span<const ProcessRecord> ProgramRun::own_processes() const {
  return std::span(record_.processes).subspan(earlier_);
}

int ProgramRun::extensions() const {
  return static_cast<int>(std::ranges::count(own_processes(), true, &ProcessRecord::extension));
}

double ProgramRun::seconds_of_minimum() const {
  double sum_s = 0;
  for (const ProcessRecord& process : own_processes()) {
    if (!process.extension) sum_s += process.seconds;
  }
  return sum_s;
}

std::vector<fs::path> ProgramRun::files_of(const std::string& aa_half) const {
  std::vector<fs::path> files;
  for (const ProcessRecord& process : own_processes()) {
    const fs::path file = folder() / process.file;
    if (process.aa_half == aa_half && fs::exists(file)) files.push_back(file);
  }
  return files;
}

int ProgramRun::report_failures(Console& console) const {
  int failures = 0;
  for (const ProcessRecord& process : own_processes()) {
    if (process.failure.empty()) continue;
    ++failures;
    if (process.failure == kInterruptedFailure) continue;  // the last line says it
    if (explained_.contains(process.file)) continue;
    console.err.print("fusegate: {}: {}\n", (folder() / process.file).string(), process.failure);
  }
  return failures;
}

}  // namespace fusegate::ci
