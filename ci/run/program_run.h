// One of the programs that a run measures in turn, with the folder that its run files go to and the
// record that is kept there.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "baselines/comparing/outlier_processes.h"
#include "baselines/io/write_lock.h"
#include "ci/console/console.h"
#include "ci/processes/process.h"
#include "ci/processes/run_record.h"

namespace fusegate::ci {

struct ProgramRequest {
  std::filesystem::path folder;
  std::string program;
  bool is_extended = true;  // false: measured up to the minimum alone, for an A/A comparison
  std::string suite{};      // where it is asked for another than the run's
};

class ProgramRun {
 public:
  // record: the folder's run.json before the first process. lock: the folder's. earlier: how many
  // of its processes, the first ones, are not of this run.
  ProgramRun(const ProgramRequest& request, RunRecord record, baselines::WriteLock lock,
             std::size_t earlier);

  const std::filesystem::path& folder() const { return request_.folder; }
  const std::string& program() const { return request_.program; }
  bool is_extended() const { return request_.is_extended; }
  const RunRecord& record() const { return record_; }

  void plan_fewer(int processes) { record_.planned_processes -= processes; }
  void plan_one_more() { ++record_.planned_processes; }
  int next_number() const { return next_number_; }
  int take_number() { return next_number_++; }
  // Before it starts: it is kept if this fusegate is killed before add(). Both write run.json.
  void begin(const ProcessRecord& process);
  // Throws InputError where no other process would fare better.
  void add(const ProcessOutcome& outcome);
  void set_identified(const std::string& question);
  void set_left_out(const std::map<std::string, std::string>& left_out);
  // Keeps in run.json which of this run's processes are outliers, and returns those that it had not
  // kept yet.
  std::vector<baselines::Outlier> add_outliers(const std::vector<baselines::Outlier>& outliers);
  void finish(bool finished);
  void set_aa(const AaFindings& findings);

  // All of this run's, resumed ones too, and none that the folder held before.
  int processes() const { return static_cast<int>(own_processes().size()); }
  int extensions() const;
  // What all others took, by the record.
  double seconds_of_minimum() const;
  // The run files of that half of an A/A comparison.
  std::vector<std::filesystem::path> files_of(const std::string& aa_half) const;

  // Prints on console.err how processes failed, except those whose benchmarks failed and nothing
  // else. Returns how many did not end well.
  int report_failures(Console& console) const;

 private:
  void write() const { write_run_record(request_.folder, record_); }
  std::span<const ProcessRecord> own_processes() const;

  ProgramRequest request_;
  RunRecord record_;
  baselines::WriteLock lock_;
  int next_number_ = 1;
  std::size_t earlier_ = 0;          // processes that are not of this run
  std::set<std::string> explained_;  // run files of which failed benchmarks alone are reported
};

}  // namespace fusegate::ci
