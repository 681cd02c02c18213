#include "bench/machine/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <utility>

namespace fusegate::bench {
namespace {

// The part of NVML's stable C ABI that is used here, after NVIDIA's "NVML API Reference Guide". Its
// header is not in the toolkit's redistributable packages, so it cannot be relied on.
using Device = struct nvmlDevice_st*;
using Status = int;
constexpr Status kSuccess = 0;
constexpr unsigned kClockSm = 1, kClockMemory = 2;
constexpr unsigned kTemperatureGpu = 0;

struct ProcessInfo {
  unsigned pid;
  unsigned long long used_gpu_memory;
  unsigned gpu_instance_id;
  unsigned compute_instance_id;
};

// nvmlClocksEventReasons, by their bits.
constexpr std::array<std::pair<unsigned long long, std::string_view>, 7> kThrottleReasons{{
    {0x2, "applications_clocks_setting"},
    {0x4, "sw_power_cap"},
    {0x8, "hw_slowdown"},
    {0x10, "sync_boost"},
    {0x20, "sw_thermal_slowdown"},
    {0x40, "hw_thermal_slowdown"},
    {0x80, "hw_power_brake_slowdown"},
}};

template <typename Signature>
Signature* find(void* library, const char* name) {
  return reinterpret_cast<Signature*>(dlsym(library, name));
}

template <typename Out, typename Call>
std::optional<Out> ask(Call* call, Device device) {
  Out out{};
  if (call == nullptr || call(device, &out) != kSuccess) return std::nullopt;
  return out;
}

}  // namespace

struct Nvml::Library {
  explicit Library(void* opened) : handle(opened) {}
  ~Library() {
    if (initialised) find<Status()>(handle, "nvmlShutdown")();
    dlclose(handle);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  template <typename Signature>
  Signature* function(const char* name) const {
    return find<Signature>(handle, name);
  }

  // Null where there is none of that id.
  Device device(const std::string& uuid) const {
    Device device = nullptr;
    auto* const by_uuid =
        function<Status(const char*, Device*)>("nvmlDeviceGetHandleByUUID");
    return by_uuid != nullptr && by_uuid(uuid.c_str(), &device) == kSuccess ? device : nullptr;
  }

  // What the function of that name says of one kind of clock or sensor.
  std::optional<unsigned> by_kind(Device device, const char* name, unsigned kind) const {
    auto* const call = function<Status(Device, unsigned, unsigned*)>(name);
    unsigned out = 0;
    if (call == nullptr || call(device, kind, &out) != kSuccess) return std::nullopt;
    return out;
  }

  void* handle;
  bool initialised = false;
};

bool is_slowdown(std::string_view throttle_reason) { return throttle_reason.ends_with("slowdown"); }

std::unique_ptr<Nvml> Nvml::open() {
  void* const handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return nullptr;
  auto library = std::make_unique<Library>(handle);
  auto* const initialise = library->function<Status()>("nvmlInit_v2");
  if (initialise == nullptr || initialise() != kSuccess) return nullptr;
  library->initialised = true;
  return std::unique_ptr<Nvml>(new Nvml(std::move(library)));
}

Nvml::Nvml(std::unique_ptr<Library> library) : library_(std::move(library)) {}
Nvml::~Nvml() = default;

std::optional<unsigned> Nvml::sm_clock_mhz(const std::string& uuid) const {
  const Device device = library_->device(uuid);
  if (device == nullptr) return std::nullopt;
  return library_->by_kind(device, "nvmlDeviceGetClockInfo", kClockSm);
}

std::optional<GpuState> Nvml::state(const std::string& uuid) const {
  const Device device = library_->device(uuid);
  if (device == nullptr) return std::nullopt;

  const auto number = [&](const char* name) {
    return ask<unsigned>(library_->function<Status(Device, unsigned*)>(name), device);
  };
  const auto by_kind = [&](const char* name, unsigned kind) {
    return library_->by_kind(device, name, kind);
  };
  // ECC and MIG have a current and a pending mode; the current one is what counts.
  const auto mode = [&](const char* name) -> std::optional<bool> {
    auto* const call = library_->function<Status(Device, unsigned*, unsigned*)>(name);
    unsigned current = 0, pending = 0;
    if (call == nullptr || call(device, &current, &pending) != kSuccess) return std::nullopt;
    return current != 0;
  };

  GpuState state;
  std::array<char, 81> driver{};
  auto* const get_driver =
      library_->function<Status(char*, unsigned)>("nvmlSystemGetDriverVersion");
  if (get_driver != nullptr && get_driver(driver.data(), driver.size() - 1) == kSuccess) {
    state.driver = driver.data();
  }
  if (const auto mw = number("nvmlDeviceGetPowerManagementLimit")) state.power_limit_w = *mw / 1e3;
  state.max_sm_clock_mhz = by_kind("nvmlDeviceGetMaxClockInfo", kClockSm);
  state.max_memory_clock_mhz = by_kind("nvmlDeviceGetMaxClockInfo", kClockMemory);
  state.sm_clock_mhz = by_kind("nvmlDeviceGetClockInfo", kClockSm);
  state.temperature_c = by_kind("nvmlDeviceGetTemperature", kTemperatureGpu);
  state.ecc = mode("nvmlDeviceGetEccMode");
  state.mig = mode("nvmlDeviceGetMigMode");
  if (const auto on = number("nvmlDeviceGetPersistenceMode")) state.persistence = *on != 0;

  // Older drivers know only the second name.
  auto* reasons = library_->function<Status(Device, unsigned long long*)>(
      "nvmlDeviceGetCurrentClocksEventReasons");
  if (reasons == nullptr) {
    reasons = library_->function<Status(Device, unsigned long long*)>(
        "nvmlDeviceGetCurrentClocksThrottleReasons");
  }
  if (const auto bits = ask<unsigned long long>(reasons, device)) {
    for (const auto& [bit, name] : kThrottleReasons) {
      if ((*bits & bit) != 0) state.throttle_reasons.emplace_back(name);
    }
  }

  std::array<ProcessInfo, 64> processes{};
  auto count = static_cast<unsigned>(processes.size());
  auto* const running = library_->function<Status(Device, unsigned*, ProcessInfo*)>(
      "nvmlDeviceGetComputeRunningProcesses_v3");
  if (running != nullptr && running(device, &count, processes.data()) == kSuccess) {
    state.compute_processes = static_cast<int>(count);
  }
  return state;
}

}  // namespace fusegate::bench
