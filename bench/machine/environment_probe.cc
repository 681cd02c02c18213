#include "bench/machine/environment_probe.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <thread>

#include "bench/machine/commit.h"
#include "bench/machine/host_clock.h"

namespace fusegate::bench {
namespace {

// A locked clock stays within this share of itself (the reading's own error included).
constexpr double kLockedClockSpread = 0.005;

// Of the time of all samples, in which something else ran on their core. On two cores, 6 to 26 %
// with two builds beside them (docs/protocol.md).
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

}  // namespace

EnvironmentProbe::EnvironmentProbe(const kernels::Device& device)
    : device_(device), uuid_(device.uuid()) {
  if (device.kind() == "cuda") nvml_ = Nvml::open();
#ifndef NDEBUG
  doubts_.insert(baselines::Doubt::kDebugLibrary);
#endif
  if (kCommitDirty) doubts_.insert(baselines::Doubt::kDirtyTree);
  look();
}

baselines::Environment EnvironmentProbe::environment() const {
  baselines::Environment environment;
  environment["device"] = device_.name();
  for (const auto& [name, value] : device_.versions()) environment[name] = value;
  if (device_.kind() == "cpu") environment[baselines::kCpuCycles] = open_host_clock()->cycles();
  const auto state = nvml_ ? nvml_->state(uuid_) : std::nullopt;
  if (!state) return environment;
  put(environment, "driver", state->driver);
  put(environment, "power_limit_w", state->power_limit_w);
  put(environment, "max_sm_clock_mhz", state->max_sm_clock_mhz);
  put(environment, "max_memory_clock_mhz", state->max_memory_clock_mhz);
  put(environment, "ecc", state->ecc);
  put(environment, "mig", state->mig);
  return environment;
}

nlohmann::json EnvironmentProbe::machine() const {
  nlohmann::json machine{{"host", host_name()},
                         {"kernel", first_line("/proc/sys/kernel/osrelease")},
                         {"cpus", std::thread::hardware_concurrency()}};
  std::array<double, 1> load{};
  if (getloadavg(load.data(), 1) == 1) machine["load_1m"] = load[0];
  const std::string governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (!governor.empty()) machine["cpu_governor"] = governor;
  if (const auto state = nvml_ ? nvml_->state(uuid_) : std::nullopt) {
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

void EnvironmentProbe::look() {
  if (device_.kind() != "cuda") return;
  const auto state = nvml_ ? nvml_->state(uuid_) : std::nullopt;
  if (!state) {
    doubts_.insert(baselines::Doubt::kNvmlMissing);
    return;
  }
  if (state->compute_processes > 1) doubts_.insert(baselines::Doubt::kOtherGpuProcess);
  throttle_reasons_ = state->throttle_reasons;
  for (const std::string& reason : throttle_reasons_) {
    if (is_slowdown(reason)) doubts_.insert(baselines::Doubt::kThrottled);
  }
}

void EnvironmentProbe::saw_clock(double hz) {
  if (std::isnan(hz) || device_.kind() != "cuda") return;
  highest_clock_hz_ = std::max(highest_clock_hz_, hz);
  lowest_clock_hz_ = lowest_clock_hz_ == 0 ? hz : std::min(lowest_clock_hz_, hz);
  if (highest_clock_hz_ > (1 + kLockedClockSpread) * lowest_clock_hz_) {
    doubts_.insert(baselines::Doubt::kUnlockedClocks);
  }
}

void EnvironmentProbe::saw_batch(double batch_ns, double held_up_ns) {
  batches_ns_ += batch_ns;
  held_up_ns_ += held_up_ns;
}

std::set<baselines::Doubt> EnvironmentProbe::doubts() const {
  std::set<baselines::Doubt> doubts = doubts_;
  if (held_up_ns_ > kMostHeldUp * batches_ns_) doubts.insert(baselines::Doubt::kBusyHost);
  return doubts;
}

}  // namespace fusegate::bench
