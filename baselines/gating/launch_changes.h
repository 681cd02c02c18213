// What of a benchmark's work differs between two sides, launch by launch, as their identities show
// (call_identity.h). It says what the code asks for, where a profile says how long that took.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "baselines/launches/call_identity.h"
#include "baselines/launches/kernel_profile.h"
#include "baselines/launches/launch_facts.h"

namespace fusegate::baselines {

// Of a launch that both sides have, or one of them alone.
struct LaunchChange {
  std::optional<LaunchIdentity> before{};
  std::optional<LaunchIdentity> after{};
  std::string stage{};                          // empty where no profile shows it
  std::vector<std::string> name_differences{};  // of another kernel in its place, in words
  std::vector<LaunchFact> facts{};              // that differ

  bool is_alone() const { return !before || !after; }
  bool is_other() const { return !name_differences.empty() && code_changed(); }
  bool code_changed() const { return !is_alone() && before->code != after->code; }
  bool arguments_changed() const { return !is_alone() && before->arguments != after->arguments; }
  const LaunchIdentity& launch() const { return after ? *after : *before; }
};

// In the order of both sides; launches that are equal but for their names are none. Profiles give
// the stages, where both sides have one that launched these kernels.
std::vector<LaunchChange> launch_changes(const CallIdentity& before, const CallIdentity& after,
                                         const std::optional<KernelProfile>& profile_before,
                                         const std::optional<KernelProfile>& profile_after);

}  // namespace fusegate::baselines
