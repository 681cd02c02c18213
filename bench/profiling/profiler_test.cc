// Steps under a profiler that writes down what is done to it: no GPU.
#include "bench/profiling/profiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "bench/profiling/fake_profiler.h"
#include "kernels/contract/stage_marks.h"

namespace fusegate::bench {
namespace {

using testing::ElementsAre;

class RecordStepsTest : public testing::Test {
 protected:
  std::vector<RecordedStep> record(const TraceSchedule& schedule, const StepBorder& border = {}) {
    const auto attach = [this] { return std::make_unique<FakeProfiler>(log_); };
    return record_steps(schedule, attach, call_, border);
  }

  FakeProfilerLog log_;
  ProfiledCall call_{
      .parts = {{"one", [this] { log_.text += 'a'; }}, {"two", [this] { log_.text += 'b'; }}},
      .wait = [this] { log_.text += 'w'; }};
};

TEST_F(RecordStepsTest, LetsOnePassWarmsUpOneAndKeepsThree) {
  const auto steps = record(TraceSchedule());
  const std::string step = "0a.1b.wt";
  EXPECT_EQ(log_.text, "abw[" + step + step + step + step + "]");
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_THAT((std::vector{steps[0].step, steps[1].step, steps[2].step}), ElementsAre(2, 3, 4));
}

TEST_F(RecordStepsTest, MayKeepTheFirstStep) {
  record({.wait = 0, .warm_up = 0, .active = 1});
  EXPECT_EQ(log_.text, "[0a.1b.wt]");
}

TEST_F(RecordStepsTest, ReportsWhenPartsWereLaunchedAndWhenTheDeviceWasThrough) {
  const auto steps = record({.wait = 0, .warm_up = 0, .active = 1});
  const Activity& activity = steps.at(0).activity;  // the clock goes on by 10 ns at every reading
  EXPECT_EQ(activity.began, 1010);
  ASSERT_EQ(activity.spans.size(), 2u);
  EXPECT_EQ(activity.spans[0].span.start, 1020);
  EXPECT_EQ(activity.spans[0].span.end, 1030);
  EXPECT_EQ(activity.spans[1].span.end, 1050);
  EXPECT_EQ(activity.launched, 1060);
  EXPECT_EQ(activity.ended, 1070);
}

TEST_F(RecordStepsTest, KeepsWhatTheProfilerDeliversUnderNamesAsTheyAreDeclared) {
  using enum baselines::TraceCategory;
  const std::vector<std::tuple<std::string, baselines::TraceCategory, std::string>> cases{
      {"_ZN8fusegate4geluEPfi", kKernel, "fusegate::gelu(float*, int)"},
      {"nvjet_tst_128x160_64x4_1x2_h_bz_coopB_TNT", kKernel,
       "nvjet_tst_128x160_64x4_1x2_h_bz_coopB_TNT"},
      {"Memset (Device)", kMemset, "Memset (Device)"},
      {"cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v7000", kRuntimeCall,
       "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags"},
      {"cudaStreamIsCapturing_ptsz_v10000", kRuntimeCall, "cudaStreamIsCapturing_ptsz"},
      {"cuMemAlloc_v2", kDriverCall, "cuMemAlloc_v2"},
      {"cudaGetDeviceProperties_v2_v12000", kRuntimeCall, "cudaGetDeviceProperties_v2"}};
  for (const auto& [name, category, expected] : cases) {
    log_.records.trace.events.push_back({.name = name, .category = category});
  }
  const auto steps = record({.wait = 0, .warm_up = 1, .active = 2});
  ASSERT_EQ(steps.size(), 2u);
  for (const RecordedStep& step : steps) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      EXPECT_EQ(step.activity.trace.events.at(i).name, std::get<2>(cases[i]));
    }
  }
}

TEST_F(RecordStepsTest, CallsBackAroundTheStepsThatAreKept) {
  record({.wait = 1, .warm_up = 1, .active = 2}, [this](const Profiler&) { log_.text += '|'; });
  EXPECT_EQ(log_.text, "abw[0a.1b.wt|0a.1b.wt||0a.1b.wt|]");
}

TEST_F(RecordStepsTest, LeavesNothingAttachedWhereAPartThrows) {
  call_.parts[1].launch = [this] {
    if (log_.text.find('t') != std::string::npos) throw std::runtime_error("on purpose");
  };
  EXPECT_THROW(record(TraceSchedule()), std::runtime_error);
  EXPECT_EQ(log_.text, "aw[0a.1.wt0a.1.]");
}

TEST_F(RecordStepsTest, PassesOnWhyNothingCanBeRecorded) {
  const AttachProfiler refused = []() -> std::unique_ptr<Profiler> {
    throw ProfilerError(baselines::Warning::kProfilerRefused);
  };
  EXPECT_THAT(
      [&] { record_steps(TraceSchedule(), refused, call_); },
      testing::Throws<ProfilerError>(testing::AllOf(
          testing::Property(&ProfilerError::warning, baselines::Warning::kProfilerRefused),
          testing::Property(&std::exception::what, testing::HasSubstr("CUPTI may not be used")))));
}

TEST(ProfiledCall, RunsTheStagesUnderTheirNames) {
  const auto device = kernels::open_device("cpu");
  std::string text;
  kernels::PreparedKernel kernel;
  kernel.stages.resize(2);
  kernel.stages[0] = {.name = "gelu", .launch = [&] { text += 'g'; }, .choice = {}};
  kernel.stages[1] = {.name = "mul", .launch = [&] { text += 'm'; }, .choice = {}};
  const ProfiledCall call = profiled_call(kernel, *device);
  for (const ProfiledPart& part : call.parts) {
    text += part.stage + ": ";
    part.launch();
  }
  call.wait();
  EXPECT_EQ(text, "gelu: gmul: m");
}

class MarkedStagesTest : public RecordStepsTest {
 protected:
  // One step of a stage that launches everything, and of one that it only marks.
  Activity record_launch(std::function<void()> launch) {
    call_.parts = {{"whole", std::move(launch)}, {"declared", {}}};
    return record({.wait = 0, .warm_up = 0, .active = 1}).at(0).activity;
  }
  std::vector<std::string> recorded(const Activity& activity) {
    std::vector<std::string> stages;
    for (const PartSpan& span : activity.spans) stages.push_back(activity.stages.at(span.part));
    return stages;
  }
};

TEST_F(MarkedStagesTest, GoUnderTheirDeclarationsOrInOrderOfFirstAppearance) {
  const Activity activity = record_launch([this] {
    for (const char* name : {"b", "declared", "a", "b"}) {
      const kernels::StageMark mark(name);
      log_.text += name[0];
    }
  });
  EXPECT_EQ(log_.text, "[02b.1d.3a.2b..wt]");
  EXPECT_THAT(activity.stages, ElementsAre("whole", "declared", "b", "a"));
  EXPECT_THAT(recorded(activity), ElementsAre("whole", "b", "declared", "a", "b"));
  EXPECT_LT(activity.spans[0].span.start, activity.spans[1].span.start);
  EXPECT_GT(activity.spans[0].span.end, activity.spans[4].span.end) << "enclosed";
  EXPECT_EQ(activity.spans[1].span.end - activity.spans[1].span.start, 10);
}

TEST_F(MarkedStagesTest, GiveTheirNamesToWhatTheyLaunch) {
  using enum baselines::TraceCategory;
  log_.records.trace.events = {{"k", kKernel, 0, 5'000, 10, 7}, {"l", kKernel, 0, 6'000, 10, 8}};
  log_.records.parts = {{7, 2}, {8, 0}};
  const auto profile = assemble_profile(record_launch([] { const kernels::StageMark mark("m"); }));
  ASSERT_EQ(profile.kernels.size(), 2u);
  EXPECT_EQ(profile.kernels[0].span.stage, "m");
  EXPECT_EQ(profile.kernels[1].span.stage, "whole");
}

TEST_F(MarkedStagesTest, NestAndAreClosedAtTheLaunchsEnd) {
  const Activity activity = record_launch([] {
    kernels::StageListener::end();  // none is open
    kernels::StageListener::begin("outer");
    kernels::StageListener::begin("inner");
  });
  EXPECT_EQ(log_.text, "[023...wt]");
  EXPECT_THAT(recorded(activity), ElementsAre("whole", "outer", "inner"));
  for (const PartSpan& span : activity.spans) EXPECT_GT(span.span.end, span.span.start);
  EXPECT_THROW(record_launch([] {
                 kernels::StageListener::begin("open");
                 throw std::runtime_error("on purpose");
               }),
               std::runtime_error);
  EXPECT_TRUE(log_.text.ends_with("[02..]")) << log_.text;
}

TEST_F(MarkedStagesTest, AreNothingWhereNobodyListens) {
  record_launch([] {});
  const kernels::StageMark mark("outside");
  EXPECT_EQ(log_.text, "[0.wt]");
}

}  // namespace
}  // namespace fusegate::bench
