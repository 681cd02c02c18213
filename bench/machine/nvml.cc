#include "bench/machine/nvml.h"

#include <dlfcn.h>

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

}  // namespace

struct Nvml::Library {
  explicit Library(void* opened) : handle(opened) {}
  ~Library() {
    if (initialised) succeeds("nvmlShutdown");
    dlclose(handle);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // Whether the function of that name is there and does as it is told. Arguments: exactly of its
  // own types.
  template <typename... Arguments>
  bool succeeds(const char* name, Arguments... arguments) const {
    auto* const function = reinterpret_cast<Status (*)(Arguments...)>(dlsym(handle, name));
    return function != nullptr && function(arguments...) == kSuccess;
  }

  // Null where there is none of that id.
  Device device(const std::string& uuid) const {
    Device device = nullptr;
    return succeeds("nvmlDeviceGetHandleByUUID", uuid.c_str(), &device) ? device : nullptr;
  }

  // kind: of clock or sensor, where the function takes one.
  template <typename... Kind>
  std::optional<unsigned> number(Device device, const char* name, Kind... kind) const {
    unsigned value = 0;
    return succeeds(name, device, kind..., &value) ? std::optional(value) : std::nullopt;
  }

  // Of a current and a pending mode the current one is what counts.
  std::optional<bool> mode(Device device, const char* name) const {
    unsigned current = 0, pending = 0;
    return succeeds(name, device, &current, &pending) ? std::optional(current != 0) : std::nullopt;
  }

  std::vector<std::string> throttle_reasons(Device device) const {
    unsigned long long bits = 0;
    // Older drivers know only the second name.
    if (!succeeds("nvmlDeviceGetCurrentClocksEventReasons", device, &bits) &&
        !succeeds("nvmlDeviceGetCurrentClocksThrottleReasons", device, &bits)) {
      return {};
    }
    std::vector<std::string> reasons;
    for (const auto& [bit, name] : kThrottleReasons) {
      if ((bits & bit) != 0) reasons.emplace_back(name);
    }
    return reasons;
  }

  int compute_processes(Device device) const {
    std::array<ProcessInfo, 64> processes{};
    auto count = static_cast<unsigned>(processes.size());
    const bool told =
        succeeds("nvmlDeviceGetComputeRunningProcesses_v3", device, &count, processes.data());
    return told ? static_cast<int>(count) : 0;
  }

  void* handle;
  bool initialised = false;
};

bool is_slowdown(std::string_view throttle_reason) { return throttle_reason.ends_with("slowdown"); }

std::unique_ptr<Nvml> Nvml::open() {
  void* const handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return nullptr;
  auto library = std::make_unique<Library>(handle);
  if (!library->succeeds("nvmlInit_v2")) return nullptr;
  library->initialised = true;
  return std::unique_ptr<Nvml>(new Nvml(std::move(library)));
}

Nvml::Nvml(std::unique_ptr<Library> library) : library_(std::move(library)) {}
Nvml::~Nvml() = default;

std::optional<unsigned> Nvml::sm_clock_mhz(const std::string& uuid) const {
  const Device device = library_->device(uuid);
  if (device == nullptr) return std::nullopt;
  return library_->number(device, "nvmlDeviceGetClockInfo", kClockSm);
}

std::optional<unsigned long long> Nvml::energy_mj(const std::string& uuid) const {
  const Device device = library_->device(uuid);
  unsigned long long energy = 0;
  const bool told = device != nullptr &&
                    library_->succeeds("nvmlDeviceGetTotalEnergyConsumption", device, &energy);
  return told ? std::optional(energy) : std::nullopt;
}

std::optional<GpuState> Nvml::state(const std::string& uuid) const {
  const Library& library = *library_;
  const Device device = library.device(uuid);
  if (device == nullptr) return std::nullopt;
  GpuState state;
  std::array<char, 81> driver{};
  const auto room = static_cast<unsigned>(driver.size() - 1);
  if (library.succeeds("nvmlSystemGetDriverVersion", driver.data(), room)) {
    state.driver = driver.data();
  }
  if (const auto mw = library.number(device, "nvmlDeviceGetPowerManagementLimit")) {
    state.power_limit_w = *mw / 1e3;
  }
  state.max_sm_clock_mhz = library.number(device, "nvmlDeviceGetMaxClockInfo", kClockSm);
  state.max_memory_clock_mhz = library.number(device, "nvmlDeviceGetMaxClockInfo", kClockMemory);
  state.sm_clock_mhz = library.number(device, "nvmlDeviceGetClockInfo", kClockSm);
  state.temperature_c = library.number(device, "nvmlDeviceGetTemperature", kTemperatureGpu);
  state.ecc = library.mode(device, "nvmlDeviceGetEccMode");
  state.mig = library.mode(device, "nvmlDeviceGetMigMode");
  if (const auto on = library.number(device, "nvmlDeviceGetPersistenceMode")) {
    state.persistence = *on != 0;
  }
  state.throttle_reasons = library.throttle_reasons(device);
  state.compute_processes = library.compute_processes(device);
  return state;
}

}  // namespace fusegate::bench
