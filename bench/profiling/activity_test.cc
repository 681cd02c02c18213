// Constructed records, as a profiler may deliver them: no GPU.
#include "bench/profiling/activity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fusegate::bench {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t kBegan = 1'770'000'000'000'000'000;  // ns since 1970, as CUPTI counts

ActivityTime at(std::uint64_t start_ns, std::uint64_t duration_ns, std::uint32_t correlation) {
  return {kBegan + start_ns, kBegan + start_ns + duration_ns, correlation};
}

KernelActivity kernel(const std::string& name, const ActivityTime& time) {
  return {.name = name, .time = time};
}

Activity called(std::uint64_t launched_ns = 1'000'000) {
  return {.began = kBegan, .launched = kBegan + launched_ns};
}

const auto name_of = [](const auto& record) { return record.name; };
const auto stage_of = [](const auto& record) { return record.span.stage; };

template <typename Records, typename Get>
std::vector<std::string> each(const Records& records, const Get& get) {
  std::vector<std::string> all;
  for (const auto& record : records) all.push_back(get(record));
  return all;
}

TEST(AssembleProfile, PutsKernelsInOrderOfStartWhateverTheOrderOfRecords) {
  Activity activity = called();
  activity.kernels = {kernel("third", at(900, 10, 3)), kernel("first", at(100, 10, 1)),
                      kernel("second", at(500, 10, 2))};
  const baselines::CallProfile profile = assemble_profile(activity, {});
  EXPECT_THAT(each(profile.kernels, name_of), ElementsAre("first", "second", "third"));
}

TEST(AssembleProfile, CountsFromTheCallsStart) {
  Activity activity = called();
  activity.kernels = {kernel("k", at(7000, 2500, 1))};
  const baselines::CallProfile profile = assemble_profile(activity, {});
  EXPECT_DOUBLE_EQ(profile.kernels.at(0).span.start_ns, 7000);
  EXPECT_DOUBLE_EQ(profile.kernels.at(0).span.duration_ns, 2500);
}

// The GPU's clock is brought to the host's, which may err.
TEST(AssembleProfile, TakesAKernelThatSeemsToStartBeforeTheCall) {
  Activity activity = called();
  activity.kernels = {kernel("k", {kBegan - 200, kBegan + 300, 1})};
  const baselines::CallProfile profile = assemble_profile(activity, {});
  EXPECT_DOUBLE_EQ(profile.kernels.at(0).span.start_ns, -200);
  EXPECT_DOUBLE_EQ(profile.kernels.at(0).span.duration_ns, 500);
}

TEST(AssembleProfile, FindsStagesByCorrelation) {
  Activity activity = called();
  activity.kernels = {kernel("gemm", at(100, 10, 41)), kernel("reduce", at(120, 10, 42)),
                      kernel("gelu", at(200, 10, 43))};
  activity.memory_operations = {{.kind = "memset", .time = at(90, 5, 40), .bytes = 528}};
  activity.calls = {{.name = "cudaMemsetAsync_v3020", .time = at(1, 2, 40)},
                    {.name = "cudaLaunchKernelExC_v11060", .time = at(10, 2, 41)},
                    {.name = "cuLaunchKernelEx", .time = at(20, 2, 42)},
                    {.name = "cudaLaunchKernelExC_v11060", .time = at(30, 2, 43)}};
  activity.parts = {{43, 1}, {41, 0}, {40, 0}, {42, 0}};
  const baselines::CallProfile profile = assemble_profile(activity, {"gate_proj", "gelu"});
  EXPECT_THAT(each(profile.kernels, stage_of), ElementsAre("gate_proj", "gate_proj", "gelu"));
  EXPECT_THAT(each(profile.memory_operations, stage_of), ElementsAre("gate_proj"));
  EXPECT_THAT(each(profile.calls, stage_of),
              ElementsAre("gate_proj", "gate_proj", "gate_proj", "gelu"));
  EXPECT_EQ(profile.kernels[1].span.correlation, profile.calls[2].span.correlation);
}

TEST(AssembleProfile, KeepsWhatNoPartLaunchedWithoutAStage) {
  Activity activity = called();
  activity.kernels = {kernel("known", at(100, 10, 1)), kernel("unknown", at(200, 10, 99))};
  activity.parts = {{1, 0}, {7, 5}};  // and a part that there is not
  const baselines::CallProfile profile = assemble_profile(activity, {"addmm"});
  EXPECT_THAT(each(profile.kernels, stage_of), ElementsAre("addmm", ""));
}

// A library may fork: kernels of two streams run at the same time and are told apart by when they
// started, each in the stage of its own call.
TEST(AssembleProfile, MixesStreamsByStart) {
  Activity activity = called();
  activity.kernels = {kernel("a1", at(100, 400, 1)), kernel("a2", at(510, 50, 3)),
                      kernel("b1", at(150, 100, 2)), kernel("b2", at(260, 100, 4))};
  activity.parts = {{1, 0}, {3, 0}, {2, 1}, {4, 1}};
  const baselines::CallProfile profile = assemble_profile(activity, {"a", "b"});
  EXPECT_THAT(each(profile.kernels, name_of), ElementsAre("a1", "b1", "b2", "a2"));
  EXPECT_THAT(each(profile.kernels, stage_of), ElementsAre("a", "b", "b", "a"));
}

TEST(AssembleProfile, LeavesOutCallsBeforeAndAfterTheLaunch) {
  Activity activity = called(5000);
  activity.calls = {{.name = "cudaStreamSynchronize_v3020", .time = at(5100, 9000, 8)},
                    {.name = "cudaLaunchKernel_v7000", .time = at(4000, 900, 7)},
                    {.name = "cuCtxGetCurrent", .time = {kBegan - 50, kBegan - 40, 6}},
                    {.name = "without times", .time = {0, 0, 5}}};
  const baselines::CallProfile profile = assemble_profile(activity, {});
  EXPECT_THAT(each(profile.calls, name_of), ElementsAre("cudaLaunchKernel"));
}

TEST(AssembleProfile, NamesCallsAsTheyAreDeclared) {
  Activity activity = called();
  activity.calls = {
      {.name = "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v7000", .time = at(1, 1, 1)},
      {.name = "cudaStreamIsCapturing_ptsz_v10000", .time = at(2, 1, 2)},
      {.name = "cuMemAlloc_v2", .time = at(3, 1, 3)},
      {.name = "cudaGetDeviceProperties_v2_v12000", .time = at(4, 1, 4)}};
  const baselines::CallProfile profile = assemble_profile(activity, {});
  EXPECT_THAT(
      each(profile.calls, name_of),
      ElementsAre("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
                  "cudaStreamIsCapturing_ptsz", "cuMemAlloc_v2", "cudaGetDeviceProperties_v2"));
}

TEST(AssembleProfile, ReadsMangledNamesAndLeavesOthersWhole) {
  Activity activity = called();
  activity.kernels = {kernel("_ZN8fusegate4geluEPfi", at(1, 1, 1)),
                      kernel("nvjet_tst_128x160_64x4_1x2_h_bz_coopB_TNT", at(2, 1, 2))};
  const baselines::CallProfile profile = assemble_profile(activity, {});
  EXPECT_THAT(
      each(profile.kernels, name_of),
      ElementsAre("fusegate::gelu(float*, int)", "nvjet_tst_128x160_64x4_1x2_h_bz_coopB_TNT"));
}

TEST(AssembleProfile, KeepsWhatAKernelTakes) {
  Activity activity = called();
  activity.kernels = {{.name = "k",
                       .time = at(1, 1, 1),
                       .grid = {24, 64, 1},
                       .block = {384, 1, 1},
                       .registers = 168,
                       .static_shared_bytes = 16,
                       .dynamic_shared_bytes = 200000}};
  const baselines::LaunchedKernel kernel = assemble_profile(activity, {}).kernels.at(0);
  EXPECT_THAT(kernel.grid, ElementsAre(24, 64, 1));
  EXPECT_THAT(kernel.block, ElementsAre(384, 1, 1));
  EXPECT_EQ(kernel.registers, 168);
  EXPECT_EQ(kernel.static_shared_bytes, 16);
  EXPECT_EQ(kernel.dynamic_shared_bytes, 200000);
}

}  // namespace
}  // namespace fusegate::bench
