// For tests: what a benchmark launches, made of numbers.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "baselines/launches/kernel_profile.h"

namespace fusegate::baselines {

// A kernel with, before it, a pause of the GPU; a memory operation where it has no name.
struct TestLaunch {
  std::string name;
  std::string stage;
  double duration_ns = 0;
  double gap_ns = 2000;
};

// details.profile of a run file, the first of them started after its own gap.
inline nlohmann::json test_profile_json(const std::vector<TestLaunch>& launches) {
  nlohmann::json kernels = nlohmann::json::array();
  nlohmann::json memory = nlohmann::json::array();
  double at_ns = 0;
  for (const TestLaunch& launch : launches) {
    at_ns += launch.gap_ns;
    nlohmann::json entry{{"stage", launch.stage},
                         {"start_ns", at_ns},
                         {"duration_ns", launch.duration_ns},
                         {"correlation", 1}};
    if (launch.name.empty()) {
      entry.update({{"kind", "memset"}, {"bytes", 64}});
      memory.push_back(std::move(entry));
    } else {
      entry.update({{"name", launch.name},
                    {"grid", {1, 1, 1}},
                    {"block", {128, 1, 1}},
                    {"registers", 32},
                    {"static_shared_bytes", 0},
                    {"dynamic_shared_bytes", 0}});
      kernels.push_back(std::move(entry));
    }
    at_ns += launch.duration_ns;
  }
  return {{"kernels", std::move(kernels)},
          {"memory_operations", std::move(memory)},
          {"calls", nlohmann::json::array()}};
}

// One a process, each with its pauses longer by 1 ns than the one before.
inline KernelProfile test_profile(std::vector<TestLaunch> launches, int processes = 5) {
  std::vector<KernelProfile> profiles;
  for (int i = 0; i < processes; ++i) {
    const nlohmann::json json = test_profile_json(launches);
    profiles.push_back(kernel_profile(parse_call_profile(JsonField(json, "test", "profile"))));
    for (TestLaunch& launch : launches) launch.gap_ns += 1;
  }
  return merge_profiles(profiles);
}

}  // namespace fusegate::baselines
