// Records what a process has measured of each benchmark so far, layout by layout, in the run file
// and in progress lines.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "baselines/record/run_file.h"
#include "bench/measuring/run_file_entries.h"
#include "bench/plan/plan.h"

namespace fusegate::bench {

// Benchmarks are known by their number in the plan.
class RunFileRecorder {
 public:
  RunFileRecorder(const Plan& plan, const ProcessInfo& info);

  // Takes over a run file's whole layouts, failures and warnings. Throws InputError.
  void resume(const std::filesystem::path& path);
  // Counts the benchmark among those that this process is to measure.
  void select(std::size_t benchmark) { progress_[benchmark].selected = true; }
  // Writes the run file from now on. Throws InputError where it cannot, as do all that write.
  void open(const std::filesystem::path& path, nlohmann::json context);

  void add_layout(std::size_t benchmark, const LayoutRecord& layout, const BenchmarkRecord& record);
  // Completes the benchmark; samples of earlier layouts stay beside the failure.
  void add_failure(std::size_t benchmark, const std::string& failure);
  // Members for the details in the first entries of complete benchmarks, by number.
  void add_details(const std::map<std::size_t, nlohmann::json>& details);
  // Writes what is not on disk yet.
  void flush();
  // For a process that ends early, whether or not another one goes on.
  void leave(const std::set<baselines::Warning>& warnings);
  void finish(const std::set<baselines::Warning>& warnings);

  int next_layout(std::size_t benchmark) const { return progress_[benchmark].layouts; }
  bool selected(std::size_t benchmark) const { return progress_[benchmark].selected; }
  bool has_failed(std::size_t benchmark) const { return !progress_[benchmark].failure.empty(); }
  // Whether it has all its layouts, or failed.
  bool is_complete(std::size_t benchmark) const;
  // Of the selected benchmarks.
  int complete_benchmarks() const;
  bool is_everything_complete() const;
  int failures() const;
  std::chrono::duration<double> recording() const { return recording_; }  // spent on the run file

  // Lines for the program that started us: "@fusegate {...}". Their index and total count layouts.
  static std::string note_line(const std::string& text);
  std::string start_line() const;
  std::string progress_line(std::size_t benchmark) const;
  // Before the benchmark is checked. checked: how many were before it.
  std::string check_line(std::size_t benchmark, int checked) const;

 private:
  struct BenchmarkProgress {
    EntryHead head;
    bool selected = false;
    int layouts = 0;
    std::string failure;
    std::vector<double> times_ns;  // of samples taken by this process
  };

  int selected_benchmarks() const;
  int layouts_done(const BenchmarkProgress& progress) const;
  void flush_if_due();

  const ProcessInfo& info_;
  std::vector<BenchmarkProgress> progress_;
  std::optional<baselines::RunFileWriter> writer_;
  std::vector<nlohmann::json> pending_;               // entries that are not on disk yet
  std::vector<baselines::Warning> earlier_warnings_;  // of the run file that is resumed
  std::chrono::steady_clock::time_point last_write_;
  std::chrono::steady_clock::duration last_write_took_{};
  std::chrono::duration<double> recording_{};
};

}  // namespace fusegate::bench
