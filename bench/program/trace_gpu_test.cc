// What --trace writes of calls on a GPU, read back and held against the profile of the same call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "baselines/io/file_io.h"
#include "baselines/io/scratch_folder.h"
#include "baselines/traces/owners.h"
#include "baselines/traces/reader.h"
#include "baselines/traces/summary.h"
#include "bench/measuring/session.h"
#include "bench/meters/meter_test_fixture.h"
#include "bench/program/tracing.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::bench {
namespace {

class TraceGpuTest : public MeterTest {
 protected:
  void SetUp() override {
    MeterTest::SetUp();
    if (IsSkipped()) return;
    try {
      meter_->attach_profiler();
    } catch (const ProfilerError& error) {
      ASSERT_NE(error.warning(), baselines::Warning::kProfileFailed);
      GTEST_SKIP() << error.what();
    }
    probe_.emplace(*device_);
    info_.seed = 1;
    choose_layout_kind(*device_, info_);
  }

  // The trace of the implementations, in this order, as it is read from what was written.
  void trace(const std::string& operation, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      plan_.benchmarks.push_back(
          {&implementation(operation, name),
           kernels::ladder_problem(1, 128, 768, 3072, kernels::Dtype::kBf16)});
    }
    const auto path = folder_.path() / "trace.json";
    ASSERT_EQ(record_trace(*device_, *meter_, plan_, *probe_, info_, path), Outcome::kComplete);
    text_ = baselines::read_file(path);
    trace_ = baselines::parse_trace(text_, path.string());
    owners_ = baselines::owners(trace_);
  }

  // What the profile pass reports about the same call.
  baselines::CallProfile profile(const PlannedBenchmark& benchmark) {
    const SessionContext context{*device_, *meter_, ballast(), info_.protocol, info_.seed};
    Session session(context, benchmark);
    const ProfileAttempt attempt = session.profile();
    if (!attempt.profile) throw ProfilerError(*attempt.warning);
    return *attempt.profile;
  }
  Ballast& ballast() { return ballast_.emplace(*device_, info_.seed); }

  // The names of what encloses the event, or launched it, from the inside out.
  std::vector<std::string> around(std::size_t event) const {
    std::vector<std::string> names;
    for (std::size_t o = owners_[event]; o != baselines::kNoEvent; o = owners_[o]) {
      names.push_back(trace_.events[o].name);
    }
    return names;
  }

  // Names of a step's kernels with the stages that they are of, in order of start.
  std::vector<std::string> kernels_of(const std::string& step) const {
    std::map<std::int64_t, std::string> by_start;
    for (std::size_t i = 0; i < trace_.events.size(); ++i) {
      const baselines::TraceEvent& event = trace_.events[i];
      if (event.category != baselines::TraceCategory::kKernel) continue;
      const std::vector<std::string> names = around(i);
      if (names.size() == 3 && names[2] == step) {
        by_start[event.start_ns] = names[0] + ": " + event.name;
      }
    }
    std::vector<std::string> names;
    for (const auto& [start_ns, name] : by_start) names.push_back(name);
    return names;
  }

  baselines::ScratchFolder folder_;
  std::optional<EnvironmentProbe> probe_;
  std::optional<Ballast> ballast_;
  ProcessInfo info_;
  Plan plan_;
  std::string text_;
  baselines::Trace trace_;
  std::vector<std::size_t> owners_;
};

TEST_F(TraceGpuTest, HasTheKernelsOfTheProfileInEachOfItsThreeSteps) {
  trace("geglu_mlp", {"unfused", "fused_pointwise"});
  EXPECT_EQ(baselines::summarize(trace_).steps, 6u);
  EXPECT_EQ(baselines::summarize(trace_).unowned, 0u);
  int step = 2;
  for (const PlannedBenchmark& benchmark : plan_.benchmarks) {
    std::vector<std::string> expected;
    for (const baselines::LaunchedKernel& kernel : profile(benchmark).kernels) {
      expected.push_back(kernel.span.stage + ": " + kernel.name);
    }
    EXPECT_GE(expected.size(), 3u) << "the products at least";
    for (int kept = 0; kept < 3; ++kept) {
      EXPECT_EQ(kernels_of("ProfilerStep#" + std::to_string(step + kept)), expected);
    }
    step += 5;
  }
}

TEST_F(TraceGpuTest, LaunchesEveryKernelFromACallWithinItsStage) {
  trace("geglu_mlp", {"unfused"});
  const std::string benchmark = plan_.benchmarks[0].name();
  int launches = 0;
  for (std::size_t i = 0; i < trace_.events.size(); ++i) {
    const baselines::TraceEvent& event = trace_.events[i];
    if (!baselines::is_call(event.category) || event.name.find("LaunchKernel") == std::string::npos)
      continue;
    ++launches;
    std::vector<std::string> names = around(i);
    // A runtime's call may enclose the driver's.
    while (!names.empty() && names.front().find("LaunchKernel") != std::string::npos) {
      names.erase(names.begin());
    }
    ASSERT_EQ(names.size(), 3u) << event.name << ": stage, benchmark, step";
    EXPECT_EQ(names[1], benchmark);
    EXPECT_THAT(names[2], testing::StartsWith("ProfilerStep#"));
  }
  EXPECT_GE(launches, 3 * 5);
}

TEST_F(TraceGpuTest, KeepsEveryCallWithinTheRangeThatItBeganIn) {
  trace("geglu_mlp", {"unfused"});
  int enclosed = 0;
  for (std::size_t i = 0; i < trace_.events.size(); ++i) {
    const baselines::TraceEvent& event = trace_.events[i];
    if (baselines::is_gpu_work(event.category) || owners_[i] == baselines::kNoEvent) continue;
    ++enclosed;
    const baselines::TraceEvent& owner = trace_.events[owners_[i]];
    EXPECT_LE(event.end_ns(), owner.end_ns()) << event.name << " in " << owner.name;
  }
  EXPECT_GE(enclosed, 3 * (1 + 5 + 5)) << "benchmark, stages and launches";
}

TEST_F(TraceGpuTest, PutsHostAndGpuOnOneAxis) {
  trace("geglu_mlp", {"unfused"});
  int kernels = 0;
  for (std::size_t i = 0; i < trace_.events.size(); ++i) {
    const baselines::TraceEvent& kernel = trace_.events[i];
    if (kernel.category != baselines::TraceCategory::kKernel) continue;
    ++kernels;
    std::size_t step = owners_[i];
    while (owners_[step] != baselines::kNoEvent) step = owners_[step];
    EXPECT_GT(kernel.start_ns, trace_.events[step].start_ns);
    EXPECT_LT(kernel.end_ns(), trace_.events[step].end_ns()) << "a step ends when it is through";
    EXPECT_GT(kernel.duration_ns, 500) << "no kernel is as short";
    ASSERT_TRUE(kernel.launch.has_value());
    EXPECT_GT(kernel.launch->registers_per_thread, 0);
  }
  EXPECT_GE(kernels, 3 * 5);
}

TEST_F(TraceGpuTest, DrawsAnArrowToAllThatRanOnTheGpu) {
  trace("control_copy", {"memcpy"});
  const nlohmann::json written = nlohmann::json::parse(text_);
  std::map<std::string, int> phases;
  for (const auto& event : written.at("traceEvents")) ++phases[event.at("ph").get<std::string>()];
  EXPECT_EQ(baselines::summarize(trace_).memory_operations, 3u);
  EXPECT_EQ(phases["s"], 3);
  EXPECT_EQ(phases["f"], 3);
  EXPECT_THAT(text_, testing::HasSubstr("Memcpy DtoD (Device -> Device)"));
}

TEST_F(TraceGpuTest, ReadsTheClockAroundEachStepWhereNvmlReportsIt) {
  trace("linear", {"addmm"});
  if (!probe_->sm_clock_mhz()) GTEST_SKIP() << "NVML does not report the clock";
  ASSERT_EQ(trace_.counters.size(), 6u);
  for (const baselines::TraceCounter& clock : trace_.counters) {
    EXPECT_EQ(clock.name, "SM clock (MHz)");
    EXPECT_GT(clock.value, 100);
  }
}

}  // namespace
}  // namespace fusegate::bench
