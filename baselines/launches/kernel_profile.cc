#include "baselines/launches/kernel_profile.h"

#include <algorithm>
#include <cmath>

#include "baselines/launches/largest_group.h"

namespace fusegate::baselines {
namespace {

using nlohmann::json;

bool launch_the_same(const KernelProfile& a, const KernelProfile& b) {
  return a.memory_operations == b.memory_operations &&
         std::ranges::equal(a.kernels, b.kernels,
                            [](const ProfiledKernel& left, const ProfiledKernel& right) {
                              return left.name == right.name && left.stage == right.stage;
                            });
}

KernelProfile medians(const std::vector<const KernelProfile*>& group) {
  KernelProfile merged;
  merged.memory_operations = group.front()->memory_operations;
  merged.memory_ns = median_over(group, [](const auto& profile) { return profile.memory_ns; });
  for (std::size_t i = 0; i < group.front()->kernels.size(); ++i) {
    ProfiledKernel kernel = group.front()->kernels[i];
    kernel.duration_ns =
        median_over(group, [i](const auto& profile) { return profile.kernels[i].duration_ns; });
    kernel.gap_ns =
        median_over(group, [i](const auto& profile) { return profile.kernels[i].gap_ns; });
    merged.kernels.push_back(std::move(kernel));
  }
  for (const KernelProfile* profile : group) {
    merged.gaps_ns.insert(merged.gaps_ns.end(), profile->gaps_ns.begin(), profile->gaps_ns.end());
    merged.leads_ns.insert(merged.leads_ns.end(), profile->leads_ns.begin(),
                           profile->leads_ns.end());
  }
  return merged;
}

std::vector<double> read_numbers(const JsonField& field) {
  std::vector<double> numbers;
  for (const JsonField& number : field.elements()) numbers.push_back(number.number());
  return numbers;
}

// A tenth of a nanosecond is finer than any clock of a GPU, and keeps a baseline's diff short.
// Large ones have no decimals, and ten times the largest double overflows.
double rounded(double value_ns) {
  return std::abs(value_ns) > 1e15 ? value_ns : std::round(10 * value_ns) / 10;
}

json rounded_list(const std::vector<double>& values) {
  json list = json::array();
  for (const double value : values) list.push_back(rounded(value));
  return list;
}

}  // namespace

KernelProfile kernel_profile(const CallProfile& call) {
  KernelProfile profile;
  const std::vector<GpuWork> work = gpu_work(call);
  double gaps_ns = 0;
  double gap_ns = 0;  // since the last kernel
  for (std::size_t i = 0; i < work.size(); ++i) {
    const auto& [span, kernel] = work[i];
    if (i > 0) gap_ns += span->start_ns - work[i - 1].span->end_ns();
    if (kernel != nullptr) {
      profile.kernels.push_back({kernel->name, span->stage, span->duration_ns, gap_ns});
      gaps_ns += gap_ns;
      gap_ns = 0;
    } else {
      ++profile.memory_operations;
      profile.memory_ns += span->duration_ns;
    }
  }
  profile.gaps_ns = {gaps_ns + gap_ns};
  profile.leads_ns = {work.empty() ? 0.0 : work.front().span->start_ns};
  return profile;
}

KernelProfile merge_profiles(const std::vector<KernelProfile>& profiles) {
  KernelProfile merged = medians(largest_group(profiles, launch_the_same));
  merged.processes = 0;
  for (const KernelProfile& profile : profiles) merged.processes += profile.processes;
  return merged;
}

KernelProfile read_stored_profile(const JsonField& field) {
  KernelProfile profile;
  for (const JsonField& kernel : field.at("kernels").elements()) {
    profile.kernels.push_back({.name = kernel.at("name").text(),
                               .stage = kernel.text_or_empty("stage"),
                               .duration_ns = kernel.at("duration_ns").number_from_zero(),
                               .gap_ns = kernel.at("gap_ns").number()});
  }
  profile.memory_operations = field.at("memory_operations").integer();
  profile.memory_ns = field.at("memory_ns").number_from_zero();
  profile.gaps_ns = read_numbers(field.at("gaps_ns"));
  const JsonField leads = field.at("leads_ns");
  profile.leads_ns = read_numbers(leads);
  if (profile.gaps_ns.empty()) field.at("gaps_ns").fail("must not be empty");
  if (profile.leads_ns.size() != profile.gaps_ns.size()) {
    leads.fail("must have as many elements as gaps_ns");
  }
  const auto processes = field.find("processes");
  profile.processes = (processes ? *processes : field.at("invocations")).integer();
  return profile;
}

json stored_profile_json(const KernelProfile& profile) {
  json kernels = json::array();
  for (const ProfiledKernel& kernel : profile.kernels) {
    kernels.push_back({{"name", kernel.name},
                       {"stage", kernel.stage},
                       {"duration_ns", rounded(kernel.duration_ns)},
                       {"gap_ns", rounded(kernel.gap_ns)}});
  }
  return {{"kernels", std::move(kernels)},
          {"memory_operations", profile.memory_operations},
          {"memory_ns", rounded(profile.memory_ns)},
          {"gaps_ns", rounded_list(profile.gaps_ns)},
          {"leads_ns", rounded_list(profile.leads_ns)},
          {"processes", profile.processes}};
}

}  // namespace fusegate::baselines
