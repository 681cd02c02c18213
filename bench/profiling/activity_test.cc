// Constructed records, as a profiler may deliver them: no GPU.
#include "bench/profiling/activity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fusegate::bench {
namespace {

using baselines::TraceEvent;
using testing::ElementsAre;
using enum baselines::TraceCategory;

constexpr std::int64_t kBegan = 1'770'000'000'000'000'000;  // ns since 1970, as CUPTI counts

TraceEvent event(const std::string& name, baselines::TraceCategory category, std::int64_t start_ns,
                 std::int64_t duration_ns, std::int64_t correlation) {
  return {name, category, 0, kBegan + start_ns, duration_ns, correlation};
}

TraceEvent kernel(const std::string& name, std::int64_t start_ns, std::int64_t duration_ns,
                  std::int64_t correlation) {
  return event(name, kKernel, start_ns, duration_ns, correlation);
}

Activity called(std::vector<TraceEvent> events, std::int64_t launched_ns = 1'000'000) {
  Activity activity{.began = kBegan, .launched = kBegan + launched_ns};
  activity.trace.events = std::move(events);
  return activity;
}

const auto name_of = [](const auto& record) { return record.name; };
const auto stage_of = [](const auto& record) { return record.span.stage; };

template <typename Records, typename Get>
std::vector<std::string> each(const Records& records, const Get& get) {
  std::vector<std::string> all;
  for (const auto& record : records) all.push_back(get(record));
  return all;
}

// The GPU's clock is brought to the host's, which may err.
TEST(AssembleProfile, CountsFromTheCallsStartAlsoWhatSeemsToStartBefore) {
  const Activity activity = called({kernel("k", 7000, 2500, 1), kernel("early", -200, 500, 2)});
  const baselines::CallProfile profile = assemble_profile(activity);
  EXPECT_THAT(each(profile.kernels, name_of), ElementsAre("early", "k"));
  EXPECT_DOUBLE_EQ(profile.kernels[0].span.start_ns, -200);
  EXPECT_DOUBLE_EQ(profile.kernels[0].span.duration_ns, 500);
  EXPECT_DOUBLE_EQ(profile.kernels[1].span.start_ns, 7000);
  EXPECT_DOUBLE_EQ(profile.kernels[1].span.duration_ns, 2500);
}

TEST(AssembleProfile, FindsStagesByCorrelation) {
  Activity activity =
      called({kernel("gemm", 100, 10, 41), kernel("reduce", 120, 10, 42),
              kernel("gelu", 200, 10, 43), event("Memset (Device)", kMemset, 90, 5, 40),
              event("cudaMemsetAsync", kRuntimeCall, 1, 2, 40),
              event("cudaLaunchKernelExC", kRuntimeCall, 10, 2, 41),
              event("cuLaunchKernelEx", kDriverCall, 20, 2, 42),
              event("cudaLaunchKernelExC", kRuntimeCall, 30, 2, 43)});
  activity.trace.events[3].bytes = 528;
  activity.stages = {"gate_proj", "gelu"};
  activity.parts = {{43, 1}, {41, 0}, {40, 0}, {42, 0}};
  const baselines::CallProfile profile = assemble_profile(activity);
  EXPECT_THAT(each(profile.kernels, stage_of), ElementsAre("gate_proj", "gate_proj", "gelu"));
  ASSERT_THAT(each(profile.memory_operations, stage_of), ElementsAre("gate_proj"));
  EXPECT_EQ(profile.memory_operations[0].kind, "memset");
  EXPECT_EQ(profile.memory_operations[0].bytes, 528);
  EXPECT_THAT(each(profile.calls, stage_of),
              ElementsAre("gate_proj", "gate_proj", "gate_proj", "gelu"));
  EXPECT_EQ(profile.kernels[1].span.correlation, profile.calls[2].span.correlation);
}

TEST(AssembleProfile, KeepsWhatNoPartLaunchedWithoutAStage) {
  Activity activity = called({kernel("known", 100, 10, 1), kernel("unknown", 200, 10, 99)});
  activity.stages = {"addmm"};
  activity.parts = {{1, 0}, {7, 5}};  // and a part that there is not
  const baselines::CallProfile profile = assemble_profile(activity);
  EXPECT_THAT(each(profile.kernels, stage_of), ElementsAre("addmm", ""));
}

// A library may fork: kernels of two streams run at the same time and are distinguished by when
// they started, each in the stage of its own call. Records come in any order.
TEST(AssembleProfile, MixesStreamsByStart) {
  Activity activity = called({kernel("a1", 100, 400, 1), kernel("a2", 510, 50, 3),
                              kernel("b1", 150, 100, 2), kernel("b2", 260, 100, 4)});
  activity.stages = {"a", "b"};
  activity.parts = {{1, 0}, {3, 0}, {2, 1}, {4, 1}};
  const baselines::CallProfile profile = assemble_profile(activity);
  EXPECT_THAT(each(profile.kernels, name_of), ElementsAre("a1", "b1", "b2", "a2"));
  EXPECT_THAT(each(profile.kernels, stage_of), ElementsAre("a", "b", "b", "a"));
}

TEST(AssembleProfile, LeavesOutCallsBeforeAndAfterTheLaunch) {
  const Activity activity = called({event("cudaStreamSynchronize", kRuntimeCall, 5100, 9000, 8),
                                    event("cudaLaunchKernel", kRuntimeCall, 4000, 900, 7),
                                    event("cuCtxGetCurrent", kDriverCall, -50, 10, 6),
                                    event("without times", kDriverCall, -kBegan, 0, 5)},
                                   5000);
  const baselines::CallProfile profile = assemble_profile(activity);
  EXPECT_THAT(each(profile.calls, name_of), ElementsAre("cudaLaunchKernel"));
}

TEST(AssembleProfile, KeepsWhatAKernelTakes) {
  Activity activity = called({kernel("k", 1, 1, 1)});
  activity.trace.events[0].launch =
      baselines::LaunchShape{{24, 64, 1}, {384, 1, 1}, 168, 200'016, 16};
  const baselines::LaunchedKernel kernel = assemble_profile(activity).kernels.at(0);
  EXPECT_THAT(kernel.grid, ElementsAre(24, 64, 1));
  EXPECT_THAT(kernel.block, ElementsAre(384, 1, 1));
  EXPECT_EQ(kernel.registers, 168);
  EXPECT_EQ(kernel.static_shared_bytes, 16);
  EXPECT_EQ(kernel.dynamic_shared_bytes, 200'000);
}

}  // namespace
}  // namespace fusegate::bench
