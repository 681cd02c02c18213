// What one process measures: every selected benchmark is checked, then measured layout by layout in
// the caller's order; results go to the run file.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "bench/machine/environment_probe.h"
#include "bench/measuring/ranks_record.h"
#include "bench/measuring/run_file_entries.h"
#include "bench/measuring/run_file_recorder.h"
#include "bench/measuring/session.h"
#include "bench/measuring/watchdog.h"
#include "bench/plan/options.h"
#include "bench/plan/plan.h"

namespace fusegate::bench {

enum class Outcome {
  kComplete,     // every benchmark was measured
  kFailures,     // some failed, and the run file says which
  kInterrupted,  // Ctrl-C or a termination signal; what was measured is in the run file
  kDeviceLost,   // a kernel broke the device's context: a fresh process must measure the others
};

struct ProcessOptions {
  ProcessInfo info;
  std::optional<std::filesystem::path> out;
  bool writes = true;  // else out is only read, by --resume: of several ranks, the first writes
  bool progress = false;
  bool resume = false;
  bool force = false;  // replace any file (existing_run_file.h)
  // After all samples, record through a profiler what each benchmark launches.
  bool profile = true;
  // After all samples, how long each benchmark runs for the energy of a call; zero: not at all.
  std::chrono::milliseconds energy{0};
  // A check, a layout's preparation or a sample that takes longer never ends; what the protocol
  // asks for is added to it. Nothing: no limit.
  std::optional<std::chrono::seconds> stuck_after = kStuckAfter;
  // Ends the OS process, after a benchmark that does not end was recorded as failed. Called from
  // another thread. may_go_on: a fresh process may measure the others; false after a signal.
  std::function<void(bool may_go_on)> leave = {};
};

// Sets the protocol's layout kind: numbered where the device has numbered layouts, unless the
// protocol asks for the driver's. Throws InputError where it asks for numbered ones and the device
// has none.
void choose_layout_kind(kernels::Device& device, ProcessInfo& info);

// Benchmarks are known by their number in the plan. All arguments must outlive it. Throws
// InputError for a protocol that the device cannot follow, and for a run file of another
// measurement to resume.
class MeasuringProcess {
 public:
  MeasuringProcess(kernels::Device& device, Meter& meter, const Plan& plan, EnvironmentProbe& probe,
                   const ProcessOptions& options);
  // The sessions refer to its context and its ballast.
  MeasuringProcess(const MeasuringProcess&) = delete;
  MeasuringProcess& operator=(const MeasuringProcess&) = delete;

  RunFileRecorder& recorder() { return recorder_; }
  const Protocol& protocol() const { return options_.info.protocol; }
  // A signal came or the device is lost: nothing more is measured.
  bool stopped() const;

  // Opens the run file and checks every selected benchmark. google_context: the file's context
  // without our part. Throws InputError where the file cannot or must not be written.
  void start(nlohmann::json google_context);
  // Whether this rank is one of those that the benchmark needs; else it must leave it alone.
  bool takes_part(std::size_t benchmark) const;
  // Whether much memory waits to be compared with references; all ranks do that at the same point.
  bool is_short_of_room() const;
  void compare_timed();
  // The benchmark's next layout. Throws what its kernel throws.
  std::unique_ptr<Layout> enter(std::size_t benchmark);
  // All samples of the layout; after a signal fewer, at least one. Returns their mean time in ns.
  double take_samples(std::size_t benchmark, Layout& layout);
  // After the samples of the layout that is drawn for it: checks what was timed.
  void check_timed(std::size_t benchmark, Layout& layout);
  // Ends the layout, unless a signal cut it short: --resume counts whole layouts.
  void record(std::size_t benchmark, LayoutRecord record);
  // Ends the benchmark.
  void fail(std::size_t benchmark, const std::string& failure);
  Outcome finish();

  // Filled when the benchmark's first layout is entered.
  const BenchmarkRecord& record_of(std::size_t benchmark) const {
    return sessions_[benchmark].record();
  }
  // The same for every layout of the benchmark.
  std::int64_t calls_per_layout(std::size_t benchmark) const;

 private:
  std::set<std::string> selected_names() const;
  void note_failure(std::size_t benchmark, const std::string& failure);
  kernels::Ranks& ranks() const { return device_.ranks(); }
  std::chrono::nanoseconds patience() const;
  void give_up(const Watchdog::Stuck& stuck);
  std::string with_xids(const std::string& failure);
  std::set<baselines::Warning> warnings() const;
  std::set<baselines::Warning> warnings_of_ranks() const;
  void require_whole_times();
  bool is_measured(std::size_t benchmark) const;
  std::vector<std::size_t> measured() const;
  void measure_energy();
  // What is known of a benchmark at the end alone: its profile, and how long it took.
  void add_last_details();
  std::map<std::size_t, nlohmann::json> profiles();
  nlohmann::json details_of_ranks(std::size_t benchmark, const nlohmann::json& profile);
  nlohmann::json profiled(std::size_t benchmark, bool& goes_on);
  ProfileAttempt try_profile(std::size_t benchmark);
  nlohmann::json profile_details(std::size_t benchmark,
                                 const baselines::CallProfile& profile) const;
  void report_progress(const std::string& line) const;

  kernels::Device& device_;
  Ballast ballast_;
  SessionContext context_;
  const Plan& plan_;
  EnvironmentProbe& probe_;
  const ProcessOptions& options_;
  RunFileRecorder recorder_;
  std::vector<Session> sessions_;
  // Drawn by the system, so that no kernel can know them: inputs, and by benchmark the layout in
  // which it is checked what was timed.
  std::mt19937_64 secret_{device_.ranks().first("a secret", std::random_device{}())};
  const std::uint64_t checked_seed_ = secret_();
  std::vector<int> checked_layouts_;
  std::map<std::size_t, std::vector<kernels::Memory>> timed_outputs_;  // not compared yet
  std::map<std::size_t, RanksRecord> ranks_records_;                   // where there are several
  std::chrono::steady_clock::time_point last_probe_;
  bool device_lost_ = false;
  std::set<baselines::Warning> profile_warnings_;
  std::set<std::size_t> resumed_;  // benchmarks of which the file had layouts
  Watchdog watchdog_;  // the last: it refers to the others
};

}  // namespace fusegate::bench
