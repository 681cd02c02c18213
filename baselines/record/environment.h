// What must match for two runs to be comparable: device, driver, cuda, cublas,
// power_limit_w, max_sm_clock_mhz, ecc, mig, ... on a GPU; device, isa, threads, onednn, cycles on
// a CPU. A field is a string, a number or a boolean. What may differ (host name, the card's UUID,
// the date) is provenance (process.h).
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace fusegate::baselines {

using Environment = std::map<std::string, nlohmann::json>;

inline constexpr std::string_view kAbsent = "(absent)";
// What a process loads only where it measures over several ranks.
inline constexpr const char* kNccl = "nccl";
// On a CPU: the kind of its cycles, "cpu_cycles" or "cpu_time" (bench/machine/host_clock.h).
inline constexpr const char* kCpuCycles = "cycles";

// A suite's settings of the gate, in the protocol.
inline constexpr const char* kMinEffect = "min_effect";
inline constexpr const char* kAllow = "allow";
inline constexpr const char* kHostMinEffect = "host_min_effect";
inline constexpr const char* kHostMinNs = "host_min_ns";

struct EnvironmentDifference {
  std::string field;
  std::string baseline;  // kAbsent where the side has no such field
  std::string candidate;
};

// Whether Google Benchmark writes a field of this name about the machine or its library.
bool is_of_google_benchmark(std::string_view field);

// The fields that differ, by name. A number equals its text: custom context is text. A field of
// Google Benchmark differs only where both sides have it, as newer versions write more fields; its
// clock, which may be the momentary one, only by more than a tenth. NCCL likewise: of a suite's
// shards some have benchmarks over several ranks, and others none.
std::vector<EnvironmentDifference> environment_differences(const Environment& baseline,
                                                           const Environment& candidate);

// Whether a field of a protocol is a setting of the gate, which does not change how samples are
// taken.
bool is_of_gate(std::string_view protocol_field);

// The same for two protocols, as "protocol.idle_ns" and so on, but for is_of_gate(): samples taken
// in another way are not comparable. None where either run has no protocol.
std::vector<EnvironmentDifference> protocol_differences(const nlohmann::json& baseline,
                                                        const nlohmann::json& candidate);

// "NVIDIA H200" -> "nvidia-h200": lower case letters and digits, joined by single dashes.
std::string slug(std::string_view text);

// The slug of the environment's device, its folder in the store; "unknown-device" without a device.
std::string device_slug(const Environment& environment);

}  // namespace fusegate::baselines
