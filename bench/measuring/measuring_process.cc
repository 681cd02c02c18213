#include "bench/measuring/measuring_process.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <thread>
#include <utility>

#include "baselines/io/error.h"
#include "baselines/record/process.h"
#include "bench/machine/log_warning.h"
#include "bench/measuring/existing_run_file.h"
#include "bench/profiling/launch_check.h"
#include "bench/ranks/interrupt.h"
#include "bench/ranks/rank_group.h"

namespace fusegate::bench {
namespace {

// About as often as once a benchmark, 56 times in the 27 s of pr on an H200.
constexpr std::chrono::milliseconds kProbeInterval(500);

}  // namespace

void choose_layout_kind(kernels::Device& device, ProcessInfo& info) {
  std::optional<LayoutKind>& layout = info.protocol.layout_kind;
  const bool numbered = device.ranks().all("numbered memory layouts",
                                           layout != LayoutKind::kDriver && device.lay_out(0));
  if (layout == LayoutKind::kNumbered && !numbered) {
    throw baselines::InputError(
        "suite " + info.suite, "protocol.layout",
        fmt::format("{} has no numbered layouts; use \"driver\"", device.name()));
  }
  layout = numbered ? LayoutKind::kNumbered : LayoutKind::kDriver;
}

MeasuringProcess::MeasuringProcess(kernels::Device& device, Meter& meter, const Plan& plan,
                                   EnvironmentProbe& probe, const ProcessOptions& options)
    : device_(device),
      ballast_(device, options.info.seed),
      context_{device, meter, ballast_, options.info.protocol, options.info.seed},
      plan_(plan),
      probe_(probe),
      options_(options),
      recorder_(plan, options.info),
      watchdog_(patience(), [this](const Watchdog::Stuck& stuck) { give_up(stuck); }) {
  if (options.info.protocol.spin.count() > 0 && !meter.can_spin()) {
    throw baselines::InputError("suite " + options.info.suite, "protocol.spin_us",
                                fmt::format("{} has no kernel that spins; use 0", device.name()));
  }
  for (const PlannedBenchmark& benchmark : plan.benchmarks) {
    sessions_.emplace_back(context_, benchmark);
    checked_layouts_.push_back(
        std::uniform_int_distribution(0, options.info.protocol.layouts - 1)(secret_));
  }
  if (options.resume && options.out && std::filesystem::exists(*options.out)) {
    // Of several ranks, the first one's card is in the file.
    if (options.writes) {
      require_same_measurement(*options.out, fusegate_context(options.info, probe));
    }
    recorder_.resume(*options.out);
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
      if (recorder_.next_layout(i) > 0) resumed_.insert(i);
    }
  }
  ranks().wait("the run file is read");
}

bool MeasuringProcess::stopped() const { return interrupted() || device_lost_; }

void MeasuringProcess::start(nlohmann::json google_context) {
  report_progress(recorder_.start_line());
  if (options_.out && options_.writes) {
    google_context["fusegate"] = fusegate_context(options_.info, probe_);
    if (!options_.resume && !options_.force) {
      require_replaceable(*options_.out, google_context["fusegate"], selected_names());
    }
    recorder_.open(*options_.out, std::move(google_context));
  }
  // Before any timing, and in the plan's order: implementations that share a reference follow each
  // other there, and only one reference is held at a time.
  kernels::Verifier verifier(device_, options_.info.seed);
  int checked = 0;
  for (std::size_t i = 0; i < sessions_.size() && !stopped(); ++i) {
    if (!recorder_.selected(i) || recorder_.is_complete(i)) continue;
    const RankGroup group(device_, plan_.benchmarks[i].problem);
    if (!group.takes_part()) continue;
    report_progress(recorder_.check_line(i, checked++));
    try {
      const Watchdog::Piece piece(watchdog_, i);
      sessions_[i].verify(verifier);
    } catch (const std::exception& error) {
      fail(i, error.what());
    }
  }
}

std::set<std::string> MeasuringProcess::selected_names() const {
  std::set<std::string> names;
  for (std::size_t i = 0; i < plan_.benchmarks.size(); ++i) {
    if (recorder_.selected(i)) names.insert(plan_.benchmarks[i].name());
  }
  return names;
}

bool MeasuringProcess::takes_part(std::size_t benchmark) const {
  return RankGroup(device_, plan_.benchmarks[benchmark].problem).takes_part();
}

std::unique_ptr<Layout> MeasuringProcess::enter(std::size_t benchmark) {
  const RankGroup group(device_, plan_.benchmarks[benchmark].problem);
  Session& session = sessions_[benchmark];
  const Watchdog::Piece piece(watchdog_, benchmark);
  // Google Benchmark may be built with other regular expressions than those that selected.
  if (!session.verified()) {
    kernels::Verifier verifier(device_, options_.info.seed);
    session.verify(verifier);
  }
  return session.enter(recorder_.next_layout(benchmark));
}

double MeasuringProcess::take_samples(std::size_t benchmark, Layout& layout) {
  const RankGroup group(device_, plan_.benchmarks[benchmark].problem);
  const int count = protocol().samples_at(recorder_.next_layout(benchmark));
  double total_ns = 0;
  int taken = 0;
  do {
    const Watchdog::Piece piece(watchdog_, benchmark);
    const Sample& sample = sessions_[benchmark].run_sample(layout);
    if (ranks().are_several()) ranks_records_[benchmark].saw(sample);
    probe_.saw_clock(sample.sm_clock_hz);
    probe_.saw_batch(sample.batch_ns, sample.held_up_ns);
    total_ns += sample.batch_ns;
  } while (++taken < count && !interrupted());
  return total_ns / taken;
}

void MeasuringProcess::check_timed(std::size_t benchmark, Layout& layout) {
  if (interrupted() || recorder_.next_layout(benchmark) != checked_layouts_[benchmark]) return;
  const RankGroup group(device_, plan_.benchmarks[benchmark].problem);
  const Watchdog::Piece piece(watchdog_, benchmark);
  // Of the benchmark's own: ranks that take part in few have drawn fewer numbers.
  std::mt19937_64 random(checked_seed_ + benchmark);
  timed_outputs_[benchmark] = sessions_[benchmark].check_timed(layout, checked_seed_, random);
}

// In the plan's order, in which benchmarks that share a reference follow each other.
void MeasuringProcess::compare_timed() {
  kernels::Verifier verifier(device_, checked_seed_, true);
  for (auto& [i, outputs] : std::exchange(timed_outputs_, {})) {
    if (stopped() || recorder_.has_failed(i)) continue;
    const RankGroup group(device_, plan_.benchmarks[i].problem);
    try {
      const Watchdog::Piece piece(watchdog_, i);
      const PlannedBenchmark& benchmark = plan_.benchmarks[i];
      const kernels::Operation& operation =
          kernels::find_operation(benchmark.implementation->operation);
      kernels::Verification result;
      ranks().together("comparing what was timed", [&, &results = outputs] {
        result = verifier.verify_timed(operation, benchmark.problem, results);
      });
      if (!result.passed()) throw std::runtime_error(result.message());
    } catch (const std::exception& error) {
      fail(i, error.what());
    }
  }
}

void MeasuringProcess::require_whole_times() {
  for (const std::size_t i : measured()) {
    try {
      sessions_[i].require_whole_times();
    } catch (const std::runtime_error& error) {
      fail(i, error.what());
    }
  }
}

void MeasuringProcess::record(std::size_t benchmark, LayoutRecord record) {
  if (interrupted()) return;
  if (const auto now = std::chrono::steady_clock::now(); now - last_probe_ >= kProbeInterval) {
    probe_.probe();
    record.throttle_reasons = probe_.throttle_reasons();
    last_probe_ = now;
  }
  recorder_.add_layout(benchmark, record, record_of(benchmark));
  report_progress(recorder_.progress_line(benchmark));
}

bool MeasuringProcess::is_short_of_room() const {
  std::size_t waiting = 0;
  for (const auto& [_, outputs] : timed_outputs_) {
    for (const kernels::Memory& output : outputs) waiting += output.bytes();
  }
  return waiting > device_.available_bytes() / 8;
}

void MeasuringProcess::fail(std::size_t benchmark, const std::string& failure) {
  const RankGroup group(device_, plan_.benchmarks[benchmark].problem);
  device_lost_ = device_lost_ || is_lost(device_);
  note_failure(benchmark, device_lost_ ? with_xids(failure) : failure);
}

void MeasuringProcess::note_failure(std::size_t benchmark, const std::string& failure) {
  recorder_.add_failure(benchmark, failure);
  if (!ranks().is_first()) return;
  log_warning("{}: {}", plan_.benchmarks[benchmark].name(), failure);
  report_progress(recorder_.progress_line(benchmark));
}

// The driver reports an Xid a moment after the failure.
std::string MeasuringProcess::with_xids(const std::string& failure) {
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  probe_.probe();
  const std::set<unsigned>& xids = probe_.xids();
  return xids.empty() ? failure : fmt::format("{} (Xid {})", failure, fmt::join(xids, ", "));
}

std::chrono::nanoseconds MeasuringProcess::patience() const {
  if (!options_.stuck_after) return kNoTimeout;
  // The first rank says what happened and ends the others.
  const auto for_first = std::chrono::seconds(device_.ranks().is_first() ? 0 : 30);
  return *options_.stuck_after + options_.info.protocol.warm + options_.energy + for_first;
}

// Called by the watchdog's thread while the device holds the main thread.
void MeasuringProcess::give_up(const Watchdog::Stuck& stuck) {
  const std::string name = plan_.benchmarks[stuck.benchmark].name();
  const std::string where = ranks().whereabouts();
  const std::string at = where.empty() ? "" : "; " + where;
  if (stuck.is_after_signal) {
    log_warning("interrupted, and {} did not end{}", name, at);
  } else {
    const std::string failure =
        fmt::format("did not end within {} s{}", options_.stuck_after->count(), at);
    if (recorder_.is_complete(stuck.benchmark)) {
      log_warning("{}: recording what it launches {}", name, failure);
      profile_warnings_.insert(baselines::Warning::kProfileFailed);
    } else {
      note_failure(stuck.benchmark, with_xids(failure));
    }
  }
  recorder_.leave(warnings());
  if (options_.leave) options_.leave(!stuck.is_after_signal);
}

std::set<baselines::Warning> MeasuringProcess::warnings() const {
  std::set<baselines::Warning> warnings = probe_.warnings();
  warnings.insert(profile_warnings_.begin(), profile_warnings_.end());
  return warnings;
}

std::set<baselines::Warning> MeasuringProcess::warnings_of_ranks() const {
  std::vector<std::string> names;
  for (const baselines::Warning warning : warnings()) {
    names.emplace_back(baselines::warning_name(warning));
  }
  std::set<baselines::Warning> all;
  for (const std::string& text : ranks().gather("warnings", nlohmann::json(names).dump())) {
    for (const nlohmann::json& name : nlohmann::json::parse(text)) {
      if (const auto warning = baselines::parse_warning(name.get<std::string>())) {
        all.insert(*warning);
      }
    }
  }
  return all;
}

Outcome MeasuringProcess::finish() {
  compare_timed();
  require_whole_times();
  recorder_.flush();
  if (options_.energy.count() > 0 && options_.out && !stopped()) measure_energy();
  if (options_.out && !stopped()) add_last_details();
  probe_.probe();
  if (stopped()) {
    recorder_.leave(warnings());
    return interrupted() ? Outcome::kInterrupted : Outcome::kDeviceLost;
  }
  recorder_.finish(warnings_of_ranks());
  if (options_.out && options_.writes) {
    log_warning("{} benchmarks measured, {:.2f} s spent on writing the run file",
                recorder_.complete_benchmarks(), recorder_.recording().count());
  }
  return recorder_.failures() > 0 ? Outcome::kFailures : Outcome::kComplete;
}

// After the last sample: it heats the device.
void MeasuringProcess::measure_energy() {
  if (ranks().are_several()) {
    return log_warning("--energy-ms: the energy of a call over several ranks is not measured");
  }
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
      details[i][baselines::kEnergyPerCall] = energy->joules;
      details[i]["energy_power_w"] = energy->power_w;  // to compare with the card's limit
    } catch (const std::exception& error) {
      log_warning("{}: energy: {}", plan_.benchmarks[i].name(), error.what());
      device_lost_ = device_lost_ || is_lost(device_);
    }
  }
  if (!details.empty()) recorder_.add_details(details);
}

// By this process, completely and without failure.
bool MeasuringProcess::is_measured(std::size_t i) const {
  return !recorder_.has_failed(i) && recorder_.is_complete(i) && record_of(i).calls > 0;
}

std::vector<std::size_t> MeasuringProcess::measured() const {
  std::vector<std::size_t> measured;
  for (std::size_t i = 0; i < sessions_.size(); ++i) {
    if (is_measured(i)) measured.push_back(i);
  }
  return measured;
}

void MeasuringProcess::add_last_details() {
  std::map<std::size_t, nlohmann::json> details;
  if (options_.profile) details = profiles();
  for (const std::size_t i : measured()) {
    if (resumed_.contains(i)) continue;  // another process spent more on it
    const std::chrono::duration<double> spent = watchdog_.spent_on(i);
    details[i][baselines::kElapsed] = spent.count();
  }
  if (!details.empty()) recorder_.add_details(details);
}

// After the last sample: a profiler may slow whatever follows it. Only of what this process
// measured: another one may have chosen other kernels.
std::map<std::size_t, nlohmann::json> MeasuringProcess::profiles() {
  std::map<std::size_t, nlohmann::json> details;
  for (std::size_t i = 0; i < sessions_.size() && !stopped(); ++i) {
    if (ranks().first("whether it is profiled", is_measured(i) ? 1 : 0) == 0) continue;
    bool goes_on = true;
    if (takes_part(i)) {
      nlohmann::json members = profiled(i, goes_on);
      if (!members.empty()) details[i] = std::move(members);
    }
    if (!ranks().all("profiling goes on", goes_on)) break;
  }
  return details;
}

// goes_on: false where a warning holds for all benchmarks.
nlohmann::json MeasuringProcess::profiled(std::size_t benchmark, bool& goes_on) {
  const RankGroup group(device_, plan_.benchmarks[benchmark].problem);
  const ProfileAttempt attempt = try_profile(benchmark);
  nlohmann::json members = nlohmann::json::object();
  if (attempt.profile) members = profile_details(benchmark, *attempt.profile);
  if (ranks().are_several()) members["ranks"] = details_of_ranks(benchmark, members);
  if (attempt.identity) members["identity"] = baselines::identity_json(*attempt.identity);
  if (!attempt.warning) return members;
  profile_warnings_.insert(*attempt.warning);
  goes_on = *attempt.warning == baselines::Warning::kProfileFailed;
  return members;
}

nlohmann::json MeasuringProcess::details_of_ranks(std::size_t benchmark,
                                                  const nlohmann::json& profile) {
  nlohmann::json mine = ranks().is_first() ? nlohmann::json::object() : profile;
  mine["device"] = device_.name();
  if (!device_.uuid().empty()) mine["uuid"] = device_.uuid();
  const std::vector<std::string> all = ranks().gather("details", mine.dump());
  return ranks_records_[benchmark].json(all, record_of(benchmark).calls);
}

nlohmann::json MeasuringProcess::profile_details(std::size_t benchmark,
                                                 const baselines::CallProfile& profile) const {
  nlohmann::json details{{"profile", baselines::call_profile_json(profile)}};
  const auto expectation = check_trace(*plan_.benchmarks[benchmark].implementation,
                                       seen_trace(profile, record_of(benchmark).stages));
  if (!expectation) return details;
  details["expectation"] = baselines::expectation_json(*expectation);
  for (const std::string& line : baselines::unmet_lines(*expectation)) {
    log_warning("{}: {}", plan_.benchmarks[benchmark].name(), line);
  }
  return details;
}

// A benchmark that was measured does not fail because it could not be profiled.
ProfileAttempt MeasuringProcess::try_profile(std::size_t benchmark) {
  try {
    const Watchdog::Piece piece(watchdog_, benchmark);
    return sessions_[benchmark].profile();
  } catch (const std::exception& error) {
    log_warning("{}: profile: {}", plan_.benchmarks[benchmark].name(), error.what());
    device_lost_ = device_lost_ || is_lost(device_);
    return {.warning = baselines::Warning::kProfileFailed};
  }
}

// Layouts differ by one sample at most, and the last one has the most.
std::int64_t MeasuringProcess::calls_per_layout(std::size_t benchmark) const {
  return std::int64_t{record_of(benchmark).calls} * protocol().samples_at(protocol().layouts - 1);
}

void MeasuringProcess::report_progress(const std::string& line) const {
  if (!options_.progress) return;
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

}  // namespace fusegate::bench
