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
constexpr unsigned kClockGraphics = 0;
constexpr unsigned kTemperatureGpu = 0;
constexpr unsigned kCorrected = 0, kUncorrected = 1;  // nvmlMemoryErrorType
constexpr unsigned kSinceLoaded = 0;                  // nvmlEccCounterType
constexpr unsigned long long kXidEvent = 0x8;
constexpr unsigned long long kIdle = 0x1, kHeldBySetting = 0x2;  // nvmlClocksEventReasons

struct ProcessInfo {
  unsigned pid;
  unsigned long long used_gpu_memory;
  unsigned gpu_instance_id;
  unsigned compute_instance_id;
};

using EventSet = struct nvmlEventSet_st*;

struct EventData {
  Device device;
  unsigned long long type;
  unsigned long long data;
  unsigned gpu_instance_id;
  unsigned compute_instance_id;
};

// nvmlClocksEventReasons, by their bits.
constexpr std::array<std::pair<unsigned long long, std::string_view>, 7> kThrottleReasons{{
    {kHeldBySetting, "applications_clocks_setting"},
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
    if (events != nullptr) succeeds("nvmlEventSetFree", events);
    if (initialised) succeeds("nvmlShutdown");
    dlclose(handle);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // Whether the function of that name is there and succeeds. Arguments: exactly of its
  // own types.
  template <typename... Arguments>
  bool succeeds(const char* name, Arguments... arguments) const {
    auto* const function = reinterpret_cast<Status (*)(Arguments...)>(dlsym(handle, name));
    return function != nullptr && function(arguments...) == kSuccess;
  }

  Device by_uuid(const std::string& uuid) const {
    Device device = nullptr;
    return succeeds("nvmlDeviceGetHandleByUUID", uuid.c_str(), &device) ? device : nullptr;
  }

  // CUDA gives the slice of a GPU an id of the same form, which NVML knows by another name.
  Device slice(const std::string& uuid) const {
    constexpr std::string_view kWhole = "GPU-";
    return uuid.starts_with(kWhole) ? by_uuid("MIG-" + uuid.substr(kWhole.size())) : nullptr;
  }

  // The whole GPU; null where there is none of that id.
  Device device(const std::string& uuid) const {
    if (const Device whole = by_uuid(uuid)) return whole;
    const Device part = slice(uuid);
    Device whole = nullptr;
    const bool known =
        part != nullptr && succeeds("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", part, &whole);
    return known ? whole : nullptr;
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

  void read_clock_reasons(Device device, GpuState& state) const {
    unsigned long long bits = 0;
    // Older drivers know only the second name.
    if (!succeeds("nvmlDeviceGetCurrentClocksEventReasons", device, &bits) &&
        !succeeds("nvmlDeviceGetCurrentClocksThrottleReasons", device, &bits)) {
      return;
    }
    for (const auto& [bit, name] : kThrottleReasons) {
      if ((bits & bit) != 0) state.throttle_reasons.emplace_back(name);
    }
    if ((bits & kIdle) == 0) state.clocks_held = (bits & kHeldBySetting) != 0;
  }

  std::optional<unsigned long long> energy_mj(Device device) const {
    unsigned long long energy = 0;
    const bool is_known = succeeds("nvmlDeviceGetTotalEnergyConsumption", device, &energy);
    return is_known ? std::optional(energy) : std::nullopt;
  }

  std::optional<unsigned long long> memory_errors(Device device) const {
    unsigned long long corrected = 0, uncorrected = 0;
    constexpr const char* kName = "nvmlDeviceGetTotalEccErrors";
    const bool is_known = succeeds(kName, device, kCorrected, kSinceLoaded, &corrected) &&
                          succeeds(kName, device, kUncorrected, kSinceLoaded, &uncorrected);
    return is_known ? std::optional(corrected + uncorrected) : std::nullopt;
  }

  GpuSettings settings(Device device) const {
    GpuSettings settings;
    std::array<char, 81> driver{};
    const auto room = static_cast<unsigned>(driver.size() - 1);
    if (succeeds("nvmlSystemGetDriverVersion", driver.data(), room)) {
      settings.driver = driver.data();
    }
    if (const auto mw = number(device, "nvmlDeviceGetPowerManagementLimit")) {
      settings.power_limit_w = *mw / 1e3;
    }
    settings.max_sm_clock_mhz = number(device, "nvmlDeviceGetMaxClockInfo", kClockSm);
    settings.max_memory_clock_mhz = number(device, "nvmlDeviceGetMaxClockInfo", kClockMemory);
    settings.application_clock_mhz =
        number(device, "nvmlDeviceGetApplicationsClock", kClockGraphics);
    settings.ecc = mode(device, "nvmlDeviceGetEccMode");
    settings.mig = mode(device, "nvmlDeviceGetMigMode");
    return settings;
  }

  int compute_processes(Device device) const {
    std::array<ProcessInfo, 64> processes{};
    auto count = static_cast<unsigned>(processes.size());
    const bool is_known =
        succeeds("nvmlDeviceGetComputeRunningProcesses_v3", device, &count, processes.data());
    return is_known ? static_cast<int>(count) : 0;
  }

  void* handle;
  bool initialised = false;
  EventSet events = nullptr;
};

bool GpuSettings::differ_from(const GpuSettings& other) const {
  const auto differ = [](const auto& a, const auto& b) { return a && b && *a != *b; };
  return differ(driver, other.driver) || differ(power_limit_w, other.power_limit_w) ||
         differ(max_sm_clock_mhz, other.max_sm_clock_mhz) ||
         differ(max_memory_clock_mhz, other.max_memory_clock_mhz) ||
         differ(application_clock_mhz, other.application_clock_mhz) || differ(ecc, other.ecc) ||
         differ(mig, other.mig);
}

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
  return device != nullptr ? library_->energy_mj(device) : std::nullopt;
}

std::vector<unsigned> Nvml::new_xids(const std::string& uuid) {
  const Device device = library_->device(uuid);
  if (device == nullptr) return {};
  EventSet& events = library_->events;
  if (events == nullptr) {
    if (!library_->succeeds("nvmlEventSetCreate", &events)) return {};
    library_->succeeds("nvmlDeviceRegisterEvents", device, kXidEvent, events);
    return {};
  }
  std::vector<unsigned> xids;
  constexpr unsigned kAtOnce = 0;  // milliseconds
  EventData event{};
  while (library_->succeeds("nvmlEventSetWait_v2", events, &event, kAtOnce)) {
    if (event.type == kXidEvent) xids.push_back(static_cast<unsigned>(event.data));
  }
  return xids;
}

std::optional<GpuState> Nvml::state(const std::string& uuid) const {
  const Library& library = *library_;
  const Device device = library.device(uuid);
  if (device == nullptr) return std::nullopt;
  GpuState state;
  state.settings = library.settings(device);
  const Device slice = library.slice(uuid);
  state.is_slice = slice != nullptr;
  state.sm_clock_mhz = library.number(device, "nvmlDeviceGetClockInfo", kClockSm);
  state.temperature_c = library.number(device, "nvmlDeviceGetTemperature", kTemperatureGpu);
  if (const auto on = library.number(device, "nvmlDeviceGetPersistenceMode")) {
    state.persistence = *on != 0;
  }
  library.read_clock_reasons(device, state);
  state.memory_errors = library.memory_errors(device);
  state.energy_mj = library.energy_mj(device);
  // NVML reports a whole GPU in slices only to those who may see all slices.
  state.compute_processes = library.compute_processes(state.is_slice ? slice : device);
  return state;
}

}  // namespace fusegate::bench
