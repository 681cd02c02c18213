#include "baselines/launches/call_identity.h"

#include <fmt/format.h>

#include <algorithm>

namespace fusegate::baselines {
namespace {

using nlohmann::json;

// Older files do not have it.
int instructions_of(const JsonField& launch) {
  const auto found = launch.find("instructions");
  if (!found) return 0;
  const int instructions = found->integer();
  if (instructions < 0) found->fail("must not be negative");
  return instructions;
}

bool same_launch(const LaunchIdentity& a, const LaunchIdentity& b) {
  return a.code == b.code && a.launch == b.launch && a.arguments == b.arguments;
}

}  // namespace

bool same_work(const CallIdentity& a, const CallIdentity& b) {
  return a.unknown.empty() && b.unknown.empty() && a.order == b.order &&
         std::ranges::equal(a.launches, b.launches, same_launch);
}

CallIdentity common_identity(const std::vector<CallIdentity>& identities) {
  const CallIdentity& first = identities.front();
  for (const CallIdentity& other : identities) {
    if (!other.unknown.empty()) return other;
    if (!same_work(first, other)) return {.unknown = "it differs from process to process"};
  }
  return first;
}

std::vector<std::string> identity_differences(const CallIdentity& before,
                                              const CallIdentity& after) {
  if (before.launches.size() != after.launches.size()) {
    const std::size_t n = after.launches.size();
    return {fmt::format("{} launch{}, before {}", n, n == 1 ? "" : "es", before.launches.size())};
  }
  std::vector<std::string> differences;
  for (std::size_t i = 0; i < before.launches.size(); ++i) {
    const LaunchIdentity& was = before.launches[i];
    const LaunchIdentity& is = after.launches[i];
    if (was.code != is.code) differences.push_back("other machine code: " + is.kernel);
    if (was.launch != is.launch) {
      differences.push_back(
          fmt::format("another launch: {}: {}, before {}", is.kernel, is.launch, was.launch));
    }
    if (was.arguments != is.arguments) differences.push_back("another argument: " + is.kernel);
  }
  if (before.order != after.order) differences.emplace_back("another order of the launches");
  return differences;
}

json identity_json(const CallIdentity& identity) {
  if (!identity.unknown.empty()) return {{"unknown", identity.unknown}};
  json launches = json::array();
  for (const LaunchIdentity& launch : identity.launches) {
    launches.push_back({{"kernel", launch.kernel},
                        {"code", launch.code},
                        {"launch", launch.launch},
                        {"arguments", launch.arguments}});
    if (launch.instructions > 0) launches.back()["instructions"] = launch.instructions;
  }
  return {{"launches", std::move(launches)}, {"order", identity.order}};
}

CallIdentity parse_identity(const JsonField& field) {
  CallIdentity identity{.unknown = field.text_or_empty("unknown")};
  if (!identity.unknown.empty()) return identity;
  identity.order = field.at("order").text();
  for (const JsonField& launch : field.at("launches").elements()) {
    identity.launches.push_back({.kernel = launch.at("kernel").text(),
                                 .code = launch.at("code").text(),
                                 .instructions = instructions_of(launch),
                                 .launch = launch.at("launch").text(),
                                 .arguments = launch.at("arguments").text()});
  }
  return identity;
}

}  // namespace fusegate::baselines
