#include "baselines/kernel_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "baselines/statistics.h"

namespace fusegate {
namespace {

using nlohmann::json;

// Something that the GPU did, a kernel or a memory operation.
struct Operation {
  double start_ns = 0;
  double duration_ns = 0;
  bool is_kernel = false;
  std::string name;
  std::string stage;
};

double time_ns(const JsonField& field) {
  const double value = field.number();
  if (!(value >= 0)) field.fail(fmt::format("must not be below zero, but is {}", value));
  return value;
}

Operation read_operation(const JsonField& field, bool is_kernel) {
  return {.start_ns = time_ns(field.at("start_ns")),
          .duration_ns = time_ns(field.at("duration_ns")),
          .is_kernel = is_kernel,
          .name = field.at(is_kernel ? "name" : "kind").text(),
          .stage = field.text_or_empty("stage")};
}

std::vector<Operation> read_operations(const JsonField& field) {
  std::vector<Operation> operations;
  for (const JsonField& kernel : field.at("kernels").elements()) {
    operations.push_back(read_operation(kernel, true));
  }
  if (const auto memory = field.find("memory_operations")) {
    for (const JsonField& operation : memory->elements()) {
      operations.push_back(read_operation(operation, false));
    }
  }
  std::ranges::stable_sort(operations, {}, &Operation::start_ns);
  return operations;
}

bool launch_the_same(const KernelProfile& a, const KernelProfile& b) {
  return a.memory_operations == b.memory_operations &&
         std::ranges::equal(a.kernels, b.kernels,
                            [](const ProfiledKernel& left, const ProfiledKernel& right) {
                              return left.name == right.name && left.stage == right.stage;
                            });
}

template <typename Value>
double median_of(const std::vector<const KernelProfile*>& group, Value value) {
  std::vector<double> values;
  for (const KernelProfile* profile : group) values.push_back(value(*profile));
  return median(std::move(values));
}

KernelProfile medians(const std::vector<const KernelProfile*>& group) {
  KernelProfile merged;
  merged.memory_operations = group.front()->memory_operations;
  merged.memory_ns = median_of(group, [](const auto& profile) { return profile.memory_ns; });
  for (std::size_t i = 0; i < group.front()->kernels.size(); ++i) {
    ProfiledKernel kernel = group.front()->kernels[i];
    kernel.duration_ns =
        median_of(group, [i](const auto& profile) { return profile.kernels[i].duration_ns; });
    kernel.gap_ns =
        median_of(group, [i](const auto& profile) { return profile.kernels[i].gap_ns; });
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
double rounded(double value_ns) { return std::round(10 * value_ns) / 10; }

json rounded_list(const std::vector<double>& values) {
  json list = json::array();
  for (const double value : values) list.push_back(rounded(value));
  return list;
}

}  // namespace

KernelProfile read_call_profile(const JsonField& field) {
  KernelProfile profile;
  const std::vector<Operation> operations = read_operations(field);
  double gaps_ns = 0;
  double gap_ns = 0;  // since the last kernel
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Operation& operation = operations[i];
    if (i > 0) {
      const Operation& before = operations[i - 1];
      gap_ns += operation.start_ns - (before.start_ns + before.duration_ns);
    }
    if (operation.is_kernel) {
      profile.kernels.push_back({operation.name, operation.stage, operation.duration_ns, gap_ns});
      gaps_ns += gap_ns;
      gap_ns = 0;
    } else {
      ++profile.memory_operations;
      profile.memory_ns += operation.duration_ns;
    }
  }
  profile.gaps_ns = {gaps_ns + gap_ns};
  profile.leads_ns = {operations.empty() ? 0.0 : operations.front().start_ns};
  return profile;
}

KernelProfile merge_profiles(const std::vector<KernelProfile>& profiles) {
  std::vector<std::vector<const KernelProfile*>> groups;
  int invocations = 0;
  for (const KernelProfile& profile : profiles) {
    invocations += profile.invocations;
    const auto same = std::ranges::find_if(
        groups, [&](const auto& group) { return launch_the_same(*group.front(), profile); });
    if (same == groups.end()) {
      groups.push_back({&profile});
    } else {
      same->push_back(&profile);
    }
  }
  KernelProfile merged = medians(
      *std::ranges::max_element(groups, {}, [](const auto& group) { return group.size(); }));
  merged.invocations = invocations;
  return merged;
}

KernelProfile read_stored_profile(const JsonField& field) {
  KernelProfile profile;
  for (const JsonField& kernel : field.at("kernels").elements()) {
    profile.kernels.push_back({.name = kernel.at("name").text(),
                               .stage = kernel.text_or_empty("stage"),
                               .duration_ns = time_ns(kernel.at("duration_ns")),
                               .gap_ns = kernel.at("gap_ns").number()});
  }
  profile.memory_operations = field.at("memory_operations").integer();
  profile.memory_ns = time_ns(field.at("memory_ns"));
  profile.gaps_ns = read_numbers(field.at("gaps_ns"));
  const JsonField leads = field.at("leads_ns");
  profile.leads_ns = read_numbers(leads);
  if (profile.gaps_ns.empty()) field.at("gaps_ns").fail("must not be empty");
  if (profile.leads_ns.size() != profile.gaps_ns.size()) {
    leads.fail("must have as many elements as gaps_ns");
  }
  profile.invocations = field.at("invocations").integer();
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
          {"invocations", profile.invocations}};
}

}  // namespace fusegate
