// One of the programs that a run measures in turn, with the folder that its run files go to and the
// record that is kept there.
#pragma once

#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "baselines/comparing/odd_processes.h"
#include "baselines/io/write_lock.h"
#include "ci/console/console.h"
#include "ci/run/process.h"
#include "ci/run/run_record.h"

namespace fusegate::ci {

struct ProgramRequest {
  std::filesystem::path folder;
  std::string program;
  bool is_extended = true;  // false for an A/A arm, which is measured up to the minimum alone
  std::string suite{};      // where it is asked for another than the run's
};

class ProgramRun {
 public:
  // record: what the folder's run.json is to say before the first invocation. lock: the folder's.
  ProgramRun(const ProgramRequest& request, RunRecord record, baselines::WriteLock lock);

  const std::filesystem::path& folder() const { return request_.folder; }
  const std::string& program() const { return request_.program; }
  bool is_extended() const { return request_.is_extended; }
  const RunRecord& record() const { return record_; }

  void plan_fewer(int invocations) { record_.planned_processes -= invocations; }
  void plan_one_more() { ++record_.planned_processes; }
  int take_number() { return next_number_++; }
  // Writes run.json. Throws InputError where no other invocation would fare better.
  void add(const ProcessOutcome& outcome);
  void set_identified(const std::string& question);
  // Keeps what is odd about those of this run in run.json, and returns those that it had not kept
  // yet.
  std::vector<baselines::OddProcess> add_odd(const std::vector<baselines::OddProcess>& odd);
  void finish(bool finished);
  void set_aa(const AaFindings& findings);

  // All of this run's: of what the folder held before nothing is told.
  int invocations() const;
  int extensions() const;
  // The run files of that A/A arm.
  std::vector<std::filesystem::path> files_of(const std::string& aa_arm) const;

  // Says on console.err how invocations failed, but for those of which benchmarks failed and
  // nothing else. Returns how many did not end well.
  int report_failures(Console& console) const;

 private:
  void write() const;
  std::span<const ProcessRecord> own_invocations() const;

  ProgramRequest request_;
  RunRecord record_;
  baselines::WriteLock lock_;
  int next_number_ = 1;
  std::size_t earlier_ = 0;          // invocations that the folder already held
  std::set<std::string> explained_;  // run files of which failed benchmarks alone are to be told
};

}  // namespace fusegate::ci
