// The invocation: every selected benchmark is checked, then measured place by place in whatever
// order the caller asks for; the results go to the ledger.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bench/machine/environment_probe.h"
#include "bench/measuring/ledger.h"
#include "bench/measuring/recorder.h"
#include "bench/measuring/session.h"
#include "bench/measuring/watchdog.h"
#include "bench/plan/options.h"
#include "bench/plan/plan.h"

namespace fusegate::bench {

enum class Outcome {
  kComplete,     // every benchmark was measured
  kFailures,     // some failed, and the run file says which
  kInterrupted,  // Ctrl-C or a termination signal; what was measured is kept
  kDeviceLost,   // a kernel broke the device's context: the rest needs a fresh process
};

struct InvocationOptions {
  InvocationInfo info;
  std::optional<std::filesystem::path> out;
  bool progress = false;
  bool resume = false;
  bool force = false;  // replace what is there, whatever it holds (kept_run_file.h)
  // Whether what each benchmark launches is recorded through a profiler, after all are measured.
  bool profile = true;
  // For how long each benchmark is run for the energy of a call, after all are measured; zero: not
  // at all.
  std::chrono::milliseconds energy{0};
  // A check, a place that is prepared, or a sample that takes longer never ends. What the protocol
  // asks for is added to it. Nothing: all are waited for.
  std::optional<std::chrono::seconds> stuck_after = kStuckAfter;
  // Leaves the process where one does not end, once that is written down. Called from another
  // thread, since this one is lost. The rest may be measured by another process, or is not wanted.
  std::function<void(bool may_go_on)> leave = {};
};

// Settles the protocol's layout: numbered where the device has such layouts, unless the protocol
// asks for the driver's. Throws InputError where it asks for numbered ones and the device has none.
void choose_layout(kernels::Device& device, InvocationInfo& info);

// Benchmarks are known by their number in the plan. All must outlive the invocation. Throws
// InputError for a protocol that the device cannot follow, and for a run file to go on with that is
// of another measurement.
class Invocation {
 public:
  Invocation(kernels::Device& device, Meter& meter, const Plan& plan, EnvironmentProbe& probe,
             const InvocationOptions& options);
  // The sessions refer to its context and its ballast.
  Invocation(const Invocation&) = delete;
  Invocation& operator=(const Invocation&) = delete;

  Ledger& ledger() { return ledger_; }
  const Protocol& protocol() const { return options_.info.protocol; }
  // Whether nothing more is to be measured: a signal came, or the device is gone.
  bool stopped() const;

  // Opens the run file and checks every selected benchmark. google_context: the file's context
  // without our part of it. Throws InputError where the file cannot be written, or must not be.
  void start(nlohmann::json google_context);
  // The benchmark's next place. Throws what its kernel throws.
  std::unique_ptr<Place> enter(std::size_t benchmark);
  // All samples of that place, or those before a signal and at least one. Returns their mean time
  // in ns.
  double take_samples(std::size_t benchmark, Place& place);
  // Ends the place, unless a signal cut it short: whoever resumes the run file counts whole places.
  void record(std::size_t benchmark, PlaceRecord record);
  // Ends the benchmark.
  void fail(std::size_t benchmark, const std::string& failure);
  Outcome finish();

  // What is known of the benchmark, once a place was entered.
  const BenchmarkRecord& record_of(std::size_t benchmark) const;
  // The same number for every place of it.
  std::int64_t calls_a_place(std::size_t benchmark) const;

 private:
  std::set<std::string> selected_names() const;
  void verify(std::size_t benchmark, kernels::Verifier& verifier);
  const Sample& run_sample(std::size_t benchmark, Place& place);
  void note_failure(std::size_t benchmark, const std::string& failure);
  std::chrono::nanoseconds patience() const;
  void give_up(const Watchdog::Stuck& stuck);
  std::string with_xids(const std::string& failure);
  std::set<baselines::Doubt> doubts() const;
  void look_at_machine(PlaceRecord& record);
  std::vector<std::size_t> measured() const;
  void measure_energy();
  void profile();
  ProfileAttempt try_profile(std::size_t benchmark);
  nlohmann::json profile_details(std::size_t benchmark,
                                 const baselines::CallProfile& profile) const;
  void report_progress(const std::string& line) const;

  kernels::Device& device_;
  Ballast ballast_;
  SessionContext context_;
  const Plan& plan_;
  EnvironmentProbe& probe_;
  const InvocationOptions& options_;
  Ledger ledger_;
  std::vector<Session> sessions_;
  std::chrono::steady_clock::time_point last_look_;
  bool device_lost_ = false;
  std::set<baselines::Doubt> profile_doubts_;
  Watchdog watchdog_;  // the last: it refers to the others
};

}  // namespace fusegate::bench
