// The functions of NVML that nvml.cc calls, answered from a script (fake_nvml.h).
#include "bench/machine/fake_nvml.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace {

using Clock = std::chrono::steady_clock;

// Statuses of NVML.
constexpr int kSuccess = 0, kNotFound = 6, kTimeout = 10, kGpuIsLost = 15;

// An idle H200.
constexpr std::array<std::pair<std::string_view, unsigned long long>, 18> kDefaults{{
    {"power_limit_mw", 700'000},
    {"max_sm_clock_mhz", 1980},
    {"max_memory_clock_mhz", 3201},
    {"application_clock_mhz", 1980},
    {"sm_clock_mhz", 1980},
    {"temperature_c", 40},
    {"persistence", 1},
    {"ecc", 1},
    {"mig", 0},
    {"slice", 0},          // 1: CUDA's id is that of a slice of the GPU
    {"lost", 0},           // 1: the GPU is not to be found any more
    {"mute", 0},           // 1: it is found, and answers nothing
    {"clock_reasons", 0},  // nvmlClocksEventReasons
    {"corrected", 0},      // memory errors
    {"uncorrected", 0},
    {"energy_mj", 1'000'000},
    {"processes", 1},
    {"xid", 0},  // the error's number, reported once
}};

std::string script;
Clock::time_point opened;
unsigned long long reported_xid = 0;
char device, slice, event_set;  // their addresses are the handles

unsigned long long value_of(std::string_view name) {
  const auto* const found = std::find_if(kDefaults.begin(), kDefaults.end(),
                                         [name](const auto& entry) { return entry.first == name; });
  unsigned long long value = found->second;
  const double now_s = std::chrono::duration<double>(Clock::now() - opened).count();
  std::istringstream entries(script);
  for (std::string entry; std::getline(entries, entry, ',');) {
    const std::size_t equals = entry.find('='), at = entry.find('@');
    if (entry.substr(0, equals) != name) continue;
    const double from_s = at == std::string::npos ? 0 : std::strtod(&entry[at + 1], nullptr);
    if (now_s >= from_s) value = std::strtoull(&entry[equals + 1], nullptr, 10);
  }
  return value;
}

int report(std::string_view name, unsigned* value) {
  *value = static_cast<unsigned>(value_of(name));
  return value_of("mute") == 0 ? kSuccess : kGpuIsLost;
}

int report_mode(std::string_view name, unsigned* current, unsigned* pending) {
  *pending = static_cast<unsigned>(value_of(name));
  return report(name, current);
}

}  // namespace

extern "C" {

void fusegate_fake_nvml_pretend(const char* given) { script = given; }

int nvmlInit_v2() {
  if (const char* const given = std::getenv("FUSEGATE_FAKE_NVML")) script = given;
  opened = Clock::now();
  reported_xid = 0;
  return kSuccess;
}
int nvmlShutdown() { return kSuccess; }

int nvmlSystemGetDriverVersion(char* version, unsigned length) {
  std::strncpy(version, "580.0", length);
  return kSuccess;
}

int nvmlDeviceGetHandleByUUID(const char* uuid, void** handle) {
  if (value_of("lost") != 0) return kGpuIsLost;
  const bool is_of_slice = std::string_view(uuid).substr(0, 4) == "MIG-";
  if (is_of_slice != (value_of("slice") != 0)) return kNotFound;
  *handle = is_of_slice ? &slice : &device;
  return kSuccess;
}
int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void*, void** handle) {
  *handle = &device;
  return kSuccess;
}

int nvmlDeviceGetPowerManagementLimit(void*, unsigned* mw) { return report("power_limit_mw", mw); }
int nvmlDeviceGetMaxClockInfo(void*, unsigned kind, unsigned* mhz) {
  return report(kind == 2 ? "max_memory_clock_mhz" : "max_sm_clock_mhz", mhz);
}
int nvmlDeviceGetClockInfo(void*, unsigned, unsigned* mhz) { return report("sm_clock_mhz", mhz); }
int nvmlDeviceGetApplicationsClock(void*, unsigned, unsigned* mhz) {
  return report("application_clock_mhz", mhz);
}
int nvmlDeviceGetTemperature(void*, unsigned, unsigned* celsius) {
  return report("temperature_c", celsius);
}
int nvmlDeviceGetPersistenceMode(void*, unsigned* mode) { return report("persistence", mode); }
int nvmlDeviceGetEccMode(void*, unsigned* current, unsigned* pending) {
  return report_mode("ecc", current, pending);
}
int nvmlDeviceGetMigMode(void*, unsigned* current, unsigned* pending) {
  return report_mode("mig", current, pending);
}
int nvmlDeviceGetCurrentClocksEventReasons(void*, unsigned long long* bits) {
  *bits = value_of("clock_reasons");
  return kSuccess;
}
int nvmlDeviceGetTotalEccErrors(void*, unsigned type, unsigned, unsigned long long* count) {
  *count = value_of(type == 0 ? "corrected" : "uncorrected");
  return kSuccess;
}
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* mj) {
  *mj = value_of("energy_mj");
  return kSuccess;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, void*) {
  return report("processes", count);
}

int nvmlEventSetCreate(void** set) {
  *set = &event_set;
  return kSuccess;
}
int nvmlEventSetFree(void*) { return kSuccess; }
int nvmlDeviceRegisterEvents(void*, unsigned long long, void*) { return kSuccess; }
// event: as nvml.cc's EventData.
int nvmlEventSetWait_v2(void*, void* event, unsigned) {
  struct Event {
    void* device;
    unsigned long long type;
    unsigned long long data;
  };
  const unsigned long long xid = value_of("xid");
  if (xid == reported_xid) return kTimeout;
  reported_xid = xid;
  *static_cast<Event*>(event) = {&device, 0x8, xid};
  return kSuccess;
}

}  // extern "C"
