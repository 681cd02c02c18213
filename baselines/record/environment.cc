#include "baselines/record/environment.h"

#include <set>

namespace fusegate::baselines {
namespace {

std::string shown(const Environment& environment, const std::string& field) {
  const auto found = environment.find(field);
  if (found == environment.end()) return std::string(kAbsent);
  return found->second.is_string() ? found->second.get<std::string>() : found->second.dump();
}

}  // namespace

std::vector<EnvironmentDifference> environment_differences(const Environment& baseline,
                                                           const Environment& candidate) {
  std::set<std::string> fields;
  for (const auto& [field, value] : baseline) fields.insert(field);
  for (const auto& [field, value] : candidate) fields.insert(field);
  std::vector<EnvironmentDifference> differences;
  for (const std::string& field : fields) {
    const auto left = baseline.find(field);
    const auto right = candidate.find(field);
    if (left != baseline.end() && right != candidate.end() && left->second == right->second) {
      continue;
    }
    differences.push_back({field, shown(baseline, field), shown(candidate, field)});
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
    // By hand and not by std::isalnum: the slug must not depend on the locale.
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
