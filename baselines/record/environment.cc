#include "baselines/record/environment.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

namespace fusegate::baselines {
namespace {

using Field = Environment::const_iterator;

constexpr std::string_view kClockField = "mhz_per_cpu";
// Where the CPU's nominal clock is unknown, Google Benchmark writes the momentary one.
constexpr double kClockTolerance = 0.1;

constexpr std::array<std::string_view, 7> kGoogleFields{
    kClockField, "num_cpus",        "cpu_scaling_enabled", "aslr_enabled",
    "caches",    "library_version", "library_build_type"};

std::string shown(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::optional<double> number_of(const nlohmann::json& value) {
  if (value.is_number()) return value.get<double>();
  const std::string text = shown(value);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size() && !text.empty();
  return is_whole ? std::optional(number) : std::nullopt;
}

bool same_value(const std::string& field, const nlohmann::json& a, const nlohmann::json& b) {
  if (a == b || shown(a) == shown(b)) return true;
  if (a.is_string() && b.is_string()) return false;
  const auto left = number_of(a);
  const auto right = number_of(b);
  if (!left || !right) return false;
  const double tolerance = field == kClockField ? kClockTolerance : 0;
  return std::abs(*left - *right) <= tolerance * std::max(std::abs(*left), std::abs(*right));
}

bool agree(const std::string& field, const Environment& baseline, const Environment& candidate) {
  const Field left = baseline.find(field);
  const Field right = candidate.find(field);
  if (left == baseline.end() || right == candidate.end())
    return field == kNccl || is_of_google_benchmark(field);
  return same_value(field, left->second, right->second);
}

std::string shown_in(const Environment& environment, const std::string& field) {
  const Field found = environment.find(field);
  return found == environment.end() ? std::string(kAbsent) : shown(found->second);
}

}  // namespace

bool is_of_google_benchmark(std::string_view field) {
  return std::ranges::find(kGoogleFields, field) != kGoogleFields.end();
}

std::vector<EnvironmentDifference> environment_differences(const Environment& baseline,
                                                           const Environment& candidate) {
  std::set<std::string> fields;
  for (const auto& [field, value] : baseline) fields.insert(field);
  for (const auto& [field, value] : candidate) fields.insert(field);
  std::vector<EnvironmentDifference> differences;
  for (const std::string& field : fields) {
    if (agree(field, baseline, candidate)) continue;
    differences.push_back({field, shown_in(baseline, field), shown_in(candidate, field)});
  }
  return differences;
}

bool is_of_gate(std::string_view protocol_field) {
  return protocol_field == kMinEffect || protocol_field == kAllow ||
         protocol_field == kHostMinEffect || protocol_field == kHostMinNs;
}

std::vector<EnvironmentDifference> protocol_differences(const nlohmann::json& baseline,
                                                        const nlohmann::json& candidate) {
  if (!baseline.is_object() || !candidate.is_object()) return {};
  if (baseline.empty() || candidate.empty()) return {};
  const auto fields = [](const nlohmann::json& protocol) {
    Environment environment;
    for (const auto& [field, value] : protocol.items()) {
      if (!is_of_gate(field)) environment["protocol." + field] = value;
    }
    return environment;
  };
  return environment_differences(fields(baseline), fields(candidate));
}

std::string slug(std::string_view text) {
  std::string result;
  for (const char c : text) {
    // std::isalnum depends on the locale.
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      result += upper ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!result.empty() && result.back() != '-') {
      result += '-';
    }
  }
  if (result.ends_with('-')) result.pop_back();
  return result;
}

std::string device_slug(const Environment& environment) {
  const auto device = environment.find("device");
  std::string result;
  if (device != environment.end() && device->second.is_string()) {
    result = slug(device->second.get_ref<const std::string&>());
  }
  return result.empty() ? "unknown-device" : result;
}

}  // namespace fusegate::baselines
