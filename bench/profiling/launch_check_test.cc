// Constructed profiles: no GPU.
#include "bench/profiling/launch_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fusegate::bench {
namespace {

using testing::ElementsAre;

std::vector<kernels::Stage> gelu_and_mul() {
  std::vector<kernels::Stage> stages(2);
  stages[0].name = "gelu";
  stages[0].choice = "a choice";
  stages[1].name = "mul";
  return stages;
}

baselines::CallProfile profile_of(const std::vector<std::pair<std::string, std::string>>& kernels) {
  baselines::CallProfile profile;
  for (const auto& [name, stage] : kernels) {
    profile.kernels.push_back({.name = name, .span = {.stage = stage}});
  }
  return profile;
}

TEST(SeenTrace, SortsWhatRanIntoStages) {
  baselines::CallProfile profile =
      profile_of({{"k_gelu", "gelu"}, {"k_mul", "mul"}, {"k_mul2", "mul"}});
  profile.memory_operations = {{.kind = "memset", .span = {.stage = "mul"}}};
  profile.calls = {{.name = "cudaLaunchKernel"}, {.name = "cudaMemsetAsync"}};
  const kernels::SeenTrace trace = seen_trace(profile, gelu_and_mul());
  ASSERT_EQ(trace.stages.size(), 2u);
  EXPECT_EQ(trace.stages[0].choice, "a choice");
  EXPECT_THAT(trace.stages[0].kernels, ElementsAre("k_gelu"));
  EXPECT_THAT(trace.stages[1].kernels, ElementsAre("k_mul", "k_mul2"));
  EXPECT_EQ(trace.stages[1].memory_operations, 1);
  EXPECT_THAT(*trace.calls, ElementsAre("cudaLaunchKernel", "cudaMemsetAsync"));
  EXPECT_TRUE(trace.stray_kernels.empty());
}

TEST(SeenTrace, KeepsWhatNoStageLaunchedApart) {
  baselines::CallProfile profile =
      profile_of({{"k_gelu", "gelu"}, {"stray", ""}, {"other", "elsewhere"}});
  profile.memory_operations = {{.kind = "memcpy"}};
  const kernels::SeenTrace trace = seen_trace(profile, gelu_and_mul());
  EXPECT_THAT(trace.stray_kernels, ElementsAre("stray", "other"));
  EXPECT_EQ(trace.stray_memory_operations, 1);
}

TEST(CheckTrace, SaysNothingWhereNothingIsDeclared) {
  EXPECT_FALSE(check_trace(kernels::Implementation{}, seen_trace({}, gelu_and_mul())).has_value());
}

TEST(CheckTrace, HoldsExpectedAgainstSeen) {
  kernels::Implementation implementation;
  implementation.expects = {{.stages = {{.name = "gelu", .kernels = {{"gelu", "k_gelu"}}},
                                        {.name = "mul", .kernels = {{"mul", "k_mul"}}}}}};
  const auto met =
      check_trace(implementation,
                  seen_trace(profile_of({{"k_gelu", "gelu"}, {"k_mul", "mul"}}), gelu_and_mul()));
  EXPECT_TRUE(met.value().met());
  const auto unmet =
      check_trace(implementation, seen_trace(profile_of({{"k_gelu", "gelu"}}), gelu_and_mul()));
  EXPECT_THAT(baselines::unmet_lines(unmet.value()),
              ElementsAre("mul: expected 1 mul, no memory operation, seen nothing"));
}

}  // namespace
}  // namespace fusegate::bench
