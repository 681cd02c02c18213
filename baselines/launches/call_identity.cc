#include "baselines/launches/call_identity.h"

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

bool identical_code(const CallIdentity& a, const CallIdentity& b) {
  return a.unknown.empty() && b.unknown.empty() && a.order == b.order &&
         std::ranges::equal(a.launches, b.launches, same_launch);
}

CallIdentity common_identity(const std::vector<CallIdentity>& identities) {
  const CallIdentity& first = identities.front();
  for (const CallIdentity& other : identities) {
    if (!other.unknown.empty()) return other;
    if (!identical_code(first, other)) return {.unknown = "it differs from process to process"};
  }
  return first;
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
