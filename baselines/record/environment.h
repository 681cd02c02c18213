// What must match for two runs to be comparable, as named fields: device, driver, cuda, cublas,
// power_limit_w, max_sm_clock_mhz, ecc, mig, ... on a GPU; device, isa, threads, onednn, cycles on
// a CPU. A field is a string, a number or a boolean. What may differ (host name, the card's UUID,
// the date) is provenance and stands elsewhere.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace fusegate::baselines {

using Environment = std::map<std::string, nlohmann::json>;

inline constexpr std::string_view kAbsent = "(absent)";
// Of a CPU: what its runs' cycles are, "cpu_cycles" or "cpu_time" (bench/machine/host_clock.h).
inline constexpr const char* kCpuCycles = "cycles";

// Of a protocol, what the suite sets for the gate.
inline constexpr const char* kMinEffect = "min_effect";
inline constexpr const char* kAllow = "allow";
inline constexpr const char* kHostMinEffect = "host_min_effect";
inline constexpr const char* kHostMinNs = "host_min_ns";

struct EnvironmentDifference {
  std::string field;
  std::string baseline;  // kAbsent where the side has no such field
  std::string candidate;
};

// Whether Google Benchmark itself writes a field of this name to say where it ran and what it is.
bool is_of_google_benchmark(std::string_view field);

// The fields in which the two differ, by name. A number and its text do not, as a program's own
// context is text alone. Of Google Benchmark's fields those do that both sides have, since the
// library writes more of them with every version; and its clock, which may be the moment's, by more
// than a tenth.
std::vector<EnvironmentDifference> environment_differences(const Environment& baseline,
                                                           const Environment& candidate);

// Whether a field of a protocol is what the gate goes by, such as the smallest effect. It says
// nothing of how samples were taken.
bool is_of_gate(std::string_view protocol_field);

// The same for two protocols as runs record them, as "protocol.idle_ns" and so on: samples that
// were taken in another way are another quantity. What is_of_gate() is no part of that. None where
// either run records no protocol.
std::vector<EnvironmentDifference> protocol_differences(const nlohmann::json& baseline,
                                                        const nlohmann::json& candidate);

// "NVIDIA H200" -> "nvidia-h200": lower case letters and digits, joined by single dashes.
std::string slug(std::string_view text);

// The slug of the environment's device, which is the device's folder in the store. "unknown-device"
// where the environment names none.
std::string device_slug(const Environment& environment);

}  // namespace fusegate::baselines
