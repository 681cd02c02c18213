#include "bench/machine/environment_probe.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <thread>

#include "bench/machine/host_clock.h"
#include "bench/machine/origin.h"

namespace fusegate::bench {
namespace {

// How far a locked clock varies, the error of reading it included.
constexpr double kLockedClockSpread = 0.005;

// The share of all samples' time in which something else ran on their core. Two builds on two cores
// caused 6 to 26 % (docs/evidence/cpu.md).
constexpr double kMostHeldUp = 0.03;

template <typename T>
void put(baselines::Environment& environment, const char* name, const std::optional<T>& value) {
  if (value) environment[name] = *value;
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

bool is_mute(const GpuSettings& settings) {
  return !settings.power_limit_w && !settings.max_sm_clock_mhz && !settings.ecc;
}

// "" where the system names none.
std::string cpu_model() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

}  // namespace

EnvironmentProbe::EnvironmentProbe(const kernels::Device& device,
                                   std::map<std::string, std::string> versions)
    : device_(device), versions_(std::move(versions)), uuid_(device.uuid()) {
  if (is_gpu()) nvml_ = Nvml::open();
#ifndef NDEBUG
  warnings_.insert(baselines::Warning::kDebugLibrary);
#endif
  if (program_origin().dirty) warnings_.insert(baselines::Warning::kDirtyTree);
  probe();
}

baselines::Environment EnvironmentProbe::environment() const {
  baselines::Environment environment;
  environment["device"] = device_.name();
  for (const auto& [name, value] : device_.versions()) environment[name] = value;
  for (const auto& [name, value] : versions_) environment[name] = value;
  if (device_.kind() == "cpu") environment[baselines::kCpuCycles] = open_host_clock()->cycles();
  if (!settings_) return environment;
  put(environment, "driver", settings_->driver);
  put(environment, "power_limit_w", settings_->power_limit_w);
  put(environment, "max_sm_clock_mhz", settings_->max_sm_clock_mhz);
  put(environment, "max_memory_clock_mhz", settings_->max_memory_clock_mhz);
  put(environment, "ecc", settings_->ecc);
  put(environment, "mig", settings_->mig);
  return environment;
}

nlohmann::json EnvironmentProbe::machine() const {
  nlohmann::json machine{{"host", host_name()},
                         {"kernel", first_line("/proc/sys/kernel/osrelease")},
                         {"cpus", std::thread::hardware_concurrency()}};
  if (const std::string model = cpu_model(); !model.empty()) machine["cpu"] = model;
  std::array<double, 1> load{};
  if (getloadavg(load.data(), 1) == 1) machine["load_1m"] = load[0];
  const std::string governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (!governor.empty()) machine["cpu_governor"] = governor;
  if (const auto state = this->state()) {
    machine["compute_processes"] = state->compute_processes;
    machine["throttle_reasons"] = state->throttle_reasons;
    if (state->temperature_c) machine["temperature_c"] = *state->temperature_c;
    if (state->sm_clock_mhz) machine["sm_clock_mhz"] = *state->sm_clock_mhz;
    if (state->persistence) machine["persistence"] = *state->persistence;
  }
  return machine;
}

std::optional<unsigned> EnvironmentProbe::sm_clock_mhz() const {
  return nvml_ ? nvml_->sm_clock_mhz(uuid_) : std::nullopt;
}

std::optional<unsigned long long> EnvironmentProbe::energy_mj() const {
  return nvml_ ? nvml_->energy_mj(uuid_) : std::nullopt;
}

void EnvironmentProbe::probe() {
  if (!is_gpu()) return;
  const auto now = state();
  if (!now) {
    warnings_.insert(last_ ? baselines::Warning::kGpuLost : baselines::Warning::kNvmlMissing);
    return;
  }
  if (!settings_) settings_ = now->settings;
  for (const unsigned xid : nvml_->new_xids(uuid_)) xids_.insert(xid);
  warn_if(!xids_.empty(), baselines::Warning::kXid);
  warn_if(now->is_slice, baselines::Warning::kMigSlice);
  check_settings(*now);
  if (last_) check_counters(*last_, *now);
  check_load(*now);
  last_ = now;
}

void EnvironmentProbe::check_settings(const GpuState& now) {
  clocks_were_held_ = clocks_were_held_ || now.clocks_held == true;
  clocks_were_free_ = clocks_were_free_ || now.clocks_held == false;
  warn_if(now.settings.differ_from(*settings_) || (clocks_were_held_ && clocks_were_free_),
          baselines::Warning::kLimitsChanged);
  // A card that fell off the bus is still listed, but its settings are unknown.
  warn_if(is_mute(now.settings) && !is_mute(*settings_), baselines::Warning::kGpuLost);
}

// The counters only rise; a reset of the card sets them back.
void EnvironmentProbe::check_counters(const GpuState& before, const GpuState& now) {
  warn_if(before.energy_mj && now.energy_mj && *now.energy_mj < *before.energy_mj,
          baselines::Warning::kGpuLost);
  warn_if(before.memory_errors && now.memory_errors > before.memory_errors,
          baselines::Warning::kEccErrors);
}

void EnvironmentProbe::check_load(const GpuState& now) {
  warn_if(now.compute_processes > 1, baselines::Warning::kOtherGpuProcess);
  throttle_reasons_ = now.throttle_reasons;
  warn_if(std::ranges::any_of(throttle_reasons_, is_slowdown), baselines::Warning::kThrottled);
}

void EnvironmentProbe::saw_clock(double hz) {
  if (std::isnan(hz) || !is_gpu()) return;
  highest_clock_hz_ = std::max(highest_clock_hz_, hz);
  lowest_clock_hz_ = lowest_clock_hz_ == 0 ? hz : std::min(lowest_clock_hz_, hz);
  if (highest_clock_hz_ > (1 + kLockedClockSpread) * lowest_clock_hz_) {
    warnings_.insert(baselines::Warning::kUnlockedClocks);
  }
}

void EnvironmentProbe::saw_batch(double batch_ns, double held_up_ns) {
  batches_ns_ += batch_ns;
  held_up_ns_ += held_up_ns;
}

std::set<baselines::Warning> EnvironmentProbe::warnings() const {
  std::set<baselines::Warning> warnings = warnings_;
  if (held_up_ns_ > kMostHeldUp * batches_ns_) warnings.insert(baselines::Warning::kBusyHost);
  return warnings;
}

}  // namespace fusegate::bench
