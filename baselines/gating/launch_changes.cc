#include "baselines/gating/launch_changes.h"

#include <algorithm>
#include <utility>

#include "baselines/gating/kernel_pairs.h"

namespace fusegate::baselines {
namespace {

std::vector<StagedKernel> without_stages(const CallIdentity& identity) {
  std::vector<StagedKernel> result;
  for (const LaunchIdentity& launch : identity.launches) result.push_back({launch.kernel, ""});
  return result;
}

// Each kernel's stage is that of the profile's first one of its name that is not taken yet. Nothing
// where the profile lacks one: then it is of other calls.
std::optional<std::vector<StagedKernel>> with_stages(const CallIdentity& identity,
                                                     const std::optional<KernelProfile>& profile) {
  if (!profile) return std::nullopt;
  std::vector<StagedKernel> result = without_stages(identity);
  std::vector<bool> taken(profile->kernels.size(), false);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (identity.launches[i].code.empty()) continue;  // a memory operation
    std::size_t k = 0;
    while (k < taken.size() && (taken[k] || profile->kernels[k].name != result[i].name)) ++k;
    if (k == taken.size()) return std::nullopt;
    taken[k] = true;
    result[i].stage = profile->kernels[k].stage;
  }
  return result;
}

bool is_identical(const LaunchChange& change) {
  return !change.is_alone() && !change.code_changed() && !change.arguments_changed() &&
         change.before->launch == change.after->launch;
}

}  // namespace

std::vector<LaunchChange> launch_changes(const CallIdentity& before, const CallIdentity& after,
                                         const std::optional<KernelProfile>& profile_before,
                                         const std::optional<KernelProfile>& profile_after) {
  auto was = with_stages(before, profile_before), is = with_stages(after, profile_after);
  if (!was || !is) {
    was = without_stages(before);
    is = without_stages(after);
  }
  std::vector<LaunchChange> changes;
  for (AlignedKernels& aligned : align_kernels(*was, *is)) {
    LaunchChange change{.name_differences = std::move(aligned.differences)};
    if (aligned.before) change.before = before.launches[*aligned.before];
    if (aligned.after) change.after = after.launches[*aligned.after];
    change.stage = aligned.after ? (*is)[*aligned.after].stage : (*was)[*aligned.before].stage;
    if (is_identical(change)) continue;
    if (!change.is_alone()) change.facts = changed_facts(*change.before, *change.after);
    changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace fusegate::baselines
