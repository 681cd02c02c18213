#include "ci/commands/measuring/machine_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "baselines/io/error.h"

namespace fusegate::ci {
namespace {

// A nightly run's files come to some tens of megabytes; a full disk ends it.
constexpr std::uintmax_t kEnoughFreeBytes = std::uintmax_t{1} << 30;

bool has(const DeviceFacts& device, baselines::Warning warning) {
  return std::find(device.warnings.begin(), device.warnings.end(), warning) !=
         device.warnings.end();
}

// advice: of what is not ok.
Check checked(std::string name, bool ok, std::string finding, const std::string& advice) {
  return {std::move(name), ok, std::move(finding), ok ? "" : advice};
}

Check check_warning(const DeviceFacts& device, baselines::Warning warning, std::string name,
                    const std::string& fine, const std::string& advice) {
  const bool ok = !has(device, warning);
  return checked(std::move(name), ok, ok ? fine : std::string(baselines::warning_sentence(warning)),
                 advice);
}

// Without NVML nothing was checked, and "none" would be wrong.
std::vector<Check> check_gpu_state(const DeviceFacts& device) {
  if (has(device, baselines::Warning::kNvmlMissing)) {
    return {check_warning(device, baselines::Warning::kNvmlMissing, "NVML", "",
                          "give the container the driver's utility libraries "
                          "(NVIDIA_DRIVER_CAPABILITIES=compute,utility)")};
  }
  std::vector<Check> checks{
      {"NVML", true, "limits, clocks and processes can be read", ""},
      check_warning(device, baselines::Warning::kOtherGpuProcess, "other GPU processes", "none",
                    "end them, or measure on a GPU of your own"),
      check_warning(
          device, baselines::Warning::kThrottled, "throttling", "none",
          "see nvidia-smi -q -d PERFORMANCE; let the card cool, and check its power supply"),
      check_warning(device, baselines::Warning::kUnlockedClocks, "clocks",
                    "only a measurement shows whether they change; a run file says so",
                    "lock them if you may: sudo nvidia-smi --lock-gpu-clocks=MHZ; otherwise a "
                    "verdict needs time "
                    "and cycles to agree, as by default"),
  };
  if (device.persistence) {
    checks.push_back(
        checked("persistence mode", *device.persistence,
                *device.persistence ? "on" : "off: the driver unloads between processes",
                "sudo nvidia-smi --persistence-mode=1"));
  }
  return checks;
}

// What an administrator sets, to compare with the machine of the baseline: where they differ, the
// gate says so and judges nothing.
std::vector<Check> check_settings(const DeviceFacts& device) {
  std::vector<Check> checks;
  const auto on_or_off = [](bool on) { return on ? "on" : "off"; };
  if (device.power_limit_w) {
    checks.push_back({"power limit", true, fmt::format("{:g} W", *device.power_limit_w), ""});
  }
  if (device.ecc) checks.push_back({"ECC", true, on_or_off(*device.ecc), ""});
  if (has(device, baselines::Warning::kMigSlice)) {
    checks.push_back(check_warning(device, baselines::Warning::kMigSlice, "MIG", "",
                                   "measure on a whole card, or compare slices with slices only"));
  } else if (device.mig) {
    checks.push_back({"MIG", true, on_or_off(*device.mig), ""});
  }
  return checks;
}

Check check_governor(const HostFacts& host) {
  const std::string seen = fmt::format("{}", fmt::join(host.governors, ", "));
  if (host.governors.empty()) return {"CPU governor", true, "not shown by this machine", ""};
  return checked("CPU governor", host.governors == std::set<std::string>{"performance"}, seen,
                 "sudo cpupower frequency-set --governor performance");
}

Check check_tool(const std::string& name, bool found, const std::string& advice) {
  return checked(name, found, found ? "found" : "missing", advice);
}

// name: not a std::string, in whose temporary g++ 13 sees what the result might dangle from.
const nlohmann::json& field(const std::string& source, const nlohmann::json& json, const char* name,
                            nlohmann::json::value_t type) {
  const auto found = json.find(name);
  if (found == json.end() || found->type() != type) {
    throw baselines::InputError(source, name, "missing or of another type");
  }
  return *found;
}

}  // namespace

DeviceFacts parse_device_facts(const std::string& source, const nlohmann::json& json) {
  using Type = nlohmann::json::value_t;
  if (!json.is_object())
    throw baselines::InputError(source, "--environment", "printed no JSON object");
  DeviceFacts facts;
  facts.is_gpu = field(source, json, "device_kind", Type::string) == "cuda";
  const auto& environment = field(source, json, "environment", Type::object);
  // Stays as it is where there is none of that type.
  const auto set = [](const nlohmann::json& object, const char* name, auto& fact) {
    using Value = typename std::remove_reference_t<decltype(fact)>::value_type;
    const nlohmann::json value = object.value(name, nlohmann::json());
    if (std::is_same_v<Value, bool> ? value.is_boolean() : value.is_number()) {
      fact = value.get<Value>();
    }
  };
  if (environment.contains("device") && environment["device"].is_string()) {
    facts.device = environment["device"];
  }
  set(environment, "ecc", facts.ecc);
  set(environment, "mig", facts.mig);
  set(environment, "power_limit_w", facts.power_limit_w);
  const auto machine = json.find("machine");
  if (machine != json.end() && machine->is_object()) {
    set(*machine, "persistence", facts.persistence);
  }
  facts.warnings = baselines::read_warnings(baselines::JsonField(json, source, ""));
  return facts;
}

Check no_program_check() {
  return {"benchmark program", false, "none is named: the GPU is not checked",
          "name yours: fusegate doctor --program build/my_bench"};
}

std::vector<Check> check_device(const DeviceFacts& device) {
  std::vector<Check> checks;
  const std::string name = device.device.empty() ? "an unnamed device" : device.device;
  if (device.is_gpu) {
    checks.push_back({"GPU", true, name, ""});
    const auto state = check_gpu_state(device);
    checks.insert(checks.end(), state.begin(), state.end());
    const auto settings = check_settings(device);
    checks.insert(checks.end(), settings.begin(), settings.end());
  } else {
    checks.push_back({"GPU", false, "none: suites are measured on the CPU, " + name,
                      "for GPU kernels, build with CUDA and run where nvidia-smi shows a GPU"});
  }
  checks.push_back(check_warning(device, baselines::Warning::kDebugLibrary, "build", "optimised",
                                 "build it with CMAKE_BUILD_TYPE=Release"));
  checks.push_back(check_warning(device, baselines::Warning::kDirtyTree, "source tree",
                                 "as committed",
                                 "commit, then build: a baseline must name what was measured"));
  return checks;
}

std::vector<Check> check_host(const HostFacts& host, bool has_gpu) {
  std::vector<Check> checks{
      // Half the cores busy already takes turns with a benchmark that uses them all.
      checked("host load", host.load <= 0.5 * host.cores,
              fmt::format("{:.2f} on {} cores", host.load, host.cores),
              "wait, or end what else is running"),
      check_governor(host),
      checked("disk", host.free_bytes >= kEnoughFreeBytes,
              fmt::format("{:.1f} GB free", host.free_bytes / 1e9),
              "free at least 1 GB: a run ends when the disk is full"),
      check_tool("git", host.has_git, "install git: runs then name their commit")};
  if (has_gpu) {
    checks.push_back(
        checked("MPS", !host.has_mps,
                host.has_mps ? "running: other processes' kernels may run at the same time as ours"
                             : "not running",
                "set CUDA_MPS_PIPE_DIRECTORY=/none, or run: echo quit | nvidia-cuda-mps-control"));
    checks.push_back(
        check_tool("nvidia-smi", host.has_nvidia_smi, "install the driver's utilities"));
    checks.push_back(check_tool("ncu", host.has_ncu,
                                "install Nsight Compute to look into a kernel that got slower"));
  }
  return checks;
}

}  // namespace fusegate::ci
