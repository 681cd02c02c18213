#include "bench/measuring/invocation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <thread>
#include <utility>

#include "baselines/io/error.h"
#include "baselines/record/invocation.h"
#include "bench/machine/complain.h"
#include "bench/measuring/interrupt.h"
#include "bench/measuring/kept_run_file.h"
#include "bench/profiling/launch_check.h"

namespace fusegate::bench {
namespace {

// How often the machine is looked at: about as often as when that was done once a benchmark, 56
// times in the 27 s of pr on an H200.
constexpr std::chrono::milliseconds kBetweenLooks(500);

}  // namespace

void choose_layout(kernels::Device& device, InvocationInfo& info) {
  std::optional<Layout>& layout = info.protocol.layout;
  const bool numbered = layout != Layout::kDriver && device.lay_out(0);
  if (layout == Layout::kNumbered && !numbered) {
    throw baselines::InputError(
        "suite " + info.suite, "protocol.layout",
        fmt::format("{} leaves the layout of memory to its driver", device.name()));
  }
  layout = numbered ? Layout::kNumbered : Layout::kDriver;
}

Invocation::Invocation(kernels::Device& device, Meter& meter, const Plan& plan,
                       EnvironmentProbe& probe, const InvocationOptions& options)
    : device_(device),
      ballast_(device, options.info.seed),
      context_{device, meter, ballast_, options.info.protocol, options.info.seed},
      plan_(plan),
      probe_(probe),
      options_(options),
      ledger_(plan, options.info),
      watchdog_(patience(), [this](const Watchdog::Stuck& stuck) { give_up(stuck); }) {
  if (options.info.protocol.spin.count() > 0 && !meter.can_spin()) {
    throw baselines::InputError("suite " + options.info.suite, "protocol.spin_us",
                                fmt::format("{} has no kernel that spins", device.name()));
  }
  for (const PlannedBenchmark& benchmark : plan.benchmarks) {
    sessions_.emplace_back(context_, benchmark);
  }
  if (options.resume && options.out && std::filesystem::exists(*options.out)) {
    require_same_measurement(*options.out, fusegate_context(options.info, probe));
    ledger_.resume(*options.out);
  }
}

bool Invocation::stopped() const { return interrupted() || device_lost_; }

void Invocation::start(nlohmann::json google_context) {
  report_progress(ledger_.start_line());
  if (options_.out) {
    google_context["fusegate"] = fusegate_context(options_.info, probe_);
    if (!options_.resume && !options_.force) {
      require_replaceable(*options_.out, google_context["fusegate"], selected_names());
    }
    ledger_.open(*options_.out, std::move(google_context));
  }
  // Before any timing, and in the plan's order: implementations that share a reference stand side
  // by side there, and one reference is held at a time.
  kernels::Verifier verifier(device_, options_.info.seed);
  int checked = 0;
  for (std::size_t i = 0; i < sessions_.size() && !stopped(); ++i) {
    if (!ledger_.selected(i) || ledger_.is_complete(i)) continue;
    report_progress(ledger_.check_line(i, checked++));
    verify(i, verifier);
  }
}

std::set<std::string> Invocation::selected_names() const {
  std::set<std::string> names;
  for (std::size_t i = 0; i < plan_.benchmarks.size(); ++i) {
    if (ledger_.selected(i)) names.insert(plan_.benchmarks[i].name());
  }
  return names;
}

void Invocation::verify(std::size_t benchmark, kernels::Verifier& verifier) {
  try {
    const Watchdog::Piece piece(watchdog_, benchmark);
    sessions_[benchmark].verify(verifier);
  } catch (const std::exception& error) {
    fail(benchmark, error.what());
  }
}

std::unique_ptr<Place> Invocation::enter(std::size_t benchmark) {
  Session& session = sessions_[benchmark];
  const Watchdog::Piece piece(watchdog_, benchmark);
  // Google Benchmark may be built with other regular expressions than those that selected.
  if (!session.verified()) {
    kernels::Verifier verifier(device_, options_.info.seed);
    session.verify(verifier);
  }
  return session.enter(ledger_.next_place(benchmark));
}

double Invocation::take_samples(std::size_t benchmark, Place& place) {
  const int count = protocol().samples_at(ledger_.next_place(benchmark));
  double total_ns = 0;
  int taken = 0;
  do {
    const Sample& sample = run_sample(benchmark, place);
    probe_.saw_clock(sample.sm_clock_hz);
    probe_.saw_batch(sample.batch_ns, sample.held_up_ns);
    total_ns += sample.batch_ns;
  } while (++taken < count && !interrupted());
  return total_ns / taken;
}

const Sample& Invocation::run_sample(std::size_t benchmark, Place& place) {
  const Watchdog::Piece piece(watchdog_, benchmark);
  return sessions_[benchmark].run_sample(place);
}

void Invocation::record(std::size_t benchmark, PlaceRecord record) {
  if (interrupted()) return;
  look_at_machine(record);
  ledger_.add_place(benchmark, record, record_of(benchmark));
  report_progress(ledger_.progress_line(benchmark));
}

void Invocation::fail(std::size_t benchmark, const std::string& failure) {
  device_lost_ = device_lost_ || is_lost(device_);
  note_failure(benchmark, device_lost_ ? with_xids(failure) : failure);
}

void Invocation::note_failure(std::size_t benchmark, const std::string& failure) {
  ledger_.add_failure(benchmark, failure);
  complain("{}: {}", plan_.benchmarks[benchmark].name(), failure);
  report_progress(ledger_.progress_line(benchmark));
}

// What the driver has to say of it comes a moment later.
std::string Invocation::with_xids(const std::string& failure) {
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  probe_.look();
  const std::set<unsigned>& xids = probe_.xids();
  return xids.empty() ? failure : fmt::format("{} (Xid {})", failure, fmt::join(xids, ", "));
}

std::chrono::nanoseconds Invocation::patience() const {
  if (!options_.stuck_after) return kForEver;
  return *options_.stuck_after + options_.info.protocol.warm + options_.energy;
}

// By the watchdog's thread, while this one's is held by the device.
void Invocation::give_up(const Watchdog::Stuck& stuck) {
  const std::string name = plan_.benchmarks[stuck.benchmark].name();
  if (stuck.is_after_signal) {
    complain("interrupted while {} did not end", name);
  } else if (ledger_.is_complete(stuck.benchmark)) {
    complain("{}: looking at what it launches did not end", name);
    profile_doubts_.insert(baselines::Doubt::kProfileFailed);
  } else {
    const auto limit_s = options_.stuck_after->count();
    note_failure(stuck.benchmark, with_xids(fmt::format("did not end within {} s", limit_s)));
  }
  ledger_.leave(doubts());
  if (options_.leave) options_.leave(!stuck.is_after_signal);
}

std::set<baselines::Doubt> Invocation::doubts() const {
  std::set<baselines::Doubt> doubts = probe_.doubts();
  doubts.insert(profile_doubts_.begin(), profile_doubts_.end());
  return doubts;
}

Outcome Invocation::finish() {
  ledger_.flush();
  if (options_.energy.count() > 0 && options_.out && !stopped()) measure_energy();
  if (options_.profile && options_.out && !stopped()) profile();
  probe_.look();
  if (stopped()) {
    ledger_.leave(doubts());
    return interrupted() ? Outcome::kInterrupted : Outcome::kDeviceLost;
  }
  ledger_.finish(doubts());
  if (options_.out) {
    complain("{} benchmarks, {:.2f} s spent on the run file", ledger_.complete_benchmarks(),
             ledger_.recording().count());
  }
  return ledger_.failures() > 0 ? Outcome::kFailures : Outcome::kComplete;
}

// After the last sample: it heats the device.
void Invocation::measure_energy() {
  std::map<std::size_t, nlohmann::json> details;
  const EnergySource source{
      .counter_mj = [this] { return probe_.energy_mj(); },
      .now = [] { return std::chrono::steady_clock::now().time_since_epoch(); }};
  for (const std::size_t i : measured()) {
    if (stopped()) break;
    try {
      const Watchdog::Piece piece(watchdog_, i);
      const auto energy = sessions_[i].call_energy(source, options_.energy);
      if (!energy) continue;
      details[i][std::string(baselines::kEnergyPerCall)] = energy->joules;
      details[i]["energy_power_w"] = energy->power_w;  // to hold against the card's limit
    } catch (const std::exception& error) {
      complain("{}: energy: {}", plan_.benchmarks[i].name(), error.what());
      device_lost_ = device_lost_ || is_lost(device_);
    }
  }
  if (!details.empty()) ledger_.add_details(details);
}

// Those whole and without failure that this process measured.
std::vector<std::size_t> Invocation::measured() const {
  std::vector<std::size_t> measured;
  for (std::size_t i = 0; i < sessions_.size(); ++i) {
    if (!ledger_.has_failed(i) && ledger_.is_complete(i) && record_of(i).calls > 0)
      measured.push_back(i);
  }
  return measured;
}

// In a pass of its own, after the last sample of the process: a profiler that was attached once may
// leave traces. Of what this process measured: what another one did may have chosen other kernels.
void Invocation::profile() {
  std::map<std::size_t, nlohmann::json> details;
  for (const std::size_t i : measured()) {
    if (stopped()) break;
    const ProfileAttempt attempt = try_profile(i);
    if (attempt.profile) details[i] = profile_details(i, *attempt.profile);
    if (attempt.identity) details[i]["identity"] = baselines::identity_json(*attempt.identity);
    if (!attempt.doubt) continue;
    profile_doubts_.insert(*attempt.doubt);
    if (*attempt.doubt != baselines::Doubt::kProfileFailed) break;  // it holds for all
  }
  if (!details.empty()) ledger_.add_details(details);
}

nlohmann::json Invocation::profile_details(std::size_t benchmark,
                                           const baselines::CallProfile& profile) const {
  nlohmann::json details{{"profile", baselines::call_profile_json(profile)}};
  const auto expectation = check_trace(*plan_.benchmarks[benchmark].implementation,
                                       seen_trace(profile, record_of(benchmark).stages));
  if (!expectation) return details;
  details["expectation"] = baselines::expectation_json(*expectation);
  for (const std::string& line : baselines::unmet_lines(*expectation)) {
    complain("{}: {}", plan_.benchmarks[benchmark].name(), line);
  }
  return details;
}

// A benchmark that was measured is no failure because it could not be looked at.
ProfileAttempt Invocation::try_profile(std::size_t benchmark) {
  try {
    const Watchdog::Piece piece(watchdog_, benchmark);
    return sessions_[benchmark].profile();
  } catch (const std::exception& error) {
    complain("{}: profile: {}", plan_.benchmarks[benchmark].name(), error.what());
    device_lost_ = device_lost_ || is_lost(device_);
    return {.doubt = baselines::Doubt::kProfileFailed};
  }
}

const BenchmarkRecord& Invocation::record_of(std::size_t benchmark) const {
  return sessions_[benchmark].record();
}

// Where places differ, it is by one sample, and the last one's are the most.
std::int64_t Invocation::calls_a_place(std::size_t benchmark) const {
  return std::int64_t{record_of(benchmark).calls} * protocol().samples_at(protocol().places - 1);
}

void Invocation::look_at_machine(PlaceRecord& record) {
  const auto now = std::chrono::steady_clock::now();
  if (now - last_look_ < kBetweenLooks) return;
  probe_.look();
  record.throttle_reasons = probe_.throttle_reasons();
  last_look_ = now;
}

void Invocation::report_progress(const std::string& line) const {
  if (!options_.progress) return;
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

}  // namespace fusegate::bench
