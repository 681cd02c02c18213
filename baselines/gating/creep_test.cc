#include "baselines/gating/creep.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/gating/gate.h"
#include "baselines/record/test_run.h"

namespace fusegate::baselines {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Four shapes of geglu/fused, slowed, and others that stay.
baselines::Run with_slower_geglu(double factor) {
  baselines::Run run;
  const auto add = [&](const std::string& name, double by) {
    run.benchmarks.push_back(test_series(name, scaled(kQuiet, by)));
  };
  for (const int batch : {1, 4, 16, 64}) {
    add(fmt::format("geglu/fused/bf16/batch:{}/seq:128/dim:768/hidden:3072", batch), factor);
  }
  add("linear/addmm/bf16/batch:1/seq:128/dim:768/hidden:3072", 1);
  add("linear/addmm/bf16/batch:64/seq:128/dim:768/hidden:3072", 1);
  return on_still_machine(run);
}

LoadedBaseline stored(double factor, double anchor_factor) {
  LoadedBaseline baseline{with_slower_geglu(factor),
                          Acceptance{"ada", "2026-11-01T00:00:00+00:00", "later"}, Baseline{}};
  baseline.anchor->run = with_slower_geglu(anchor_factor);
  baseline.anchor->run.source = "smoke.anchor.json";
  baseline.anchor->acceptance = {"ada", "2026-10-01T00:00:00+00:00", "first"};
  return baseline;
}

GateOptions with_max_creep(double share) {
  GateOptions options;
  options.max_creep = share;
  return options;
}

TEST(Creep, IsSeenFromTheAnchorAlone) {
  const GateResult result = gate(stored(1.020, 1), with_slower_geglu(1.021), {});
  EXPECT_EQ(result.exit_code, ExitCode::kNoRegression);
  ASSERT_TRUE(result.creep.has_value());
  ASSERT_THAT(result.creep->slower, SizeIs(4));
  EXPECT_NEAR(result.creep->slower[0].estimates.effect, 0.021, 1e-4);
  EXPECT_EQ(result.creep->since, "2026-10-01T00:00:00+00:00");
  EXPECT_FALSE(result.creep->other_card);
}

TEST(Creep, IsNothingWhereTheWorkIsTheAnchorsStill) {
  LoadedBaseline baseline = stored(1.020, 1);
  fusegate::baselines::Run candidate = with_slower_geglu(1.021);
  for (std::size_t i = 0; i < 4; ++i) {
    BenchmarkSeries& before = baseline.anchor->run.benchmarks[i];
    before = doing(before, "0f");
    candidate.benchmarks[i] = doing(candidate.benchmarks[i], "0f");
  }
  EXPECT_THAT(gate(baseline, candidate, {}).creep->slower, IsEmpty());
}

TEST(Creep, IsNothingWhereTheBaselineShowsItToo) {
  const GateResult result = gate(stored(1, 1), with_slower_geglu(1.021), {});
  EXPECT_EQ(result.exit_code, ExitCode::kRegression);
  EXPECT_THAT(result.creep->slower, IsEmpty());
}

TEST(Creep, BeyondTheLimitIsARegression) {
  const GateResult within = gate(stored(1.020, 1), with_slower_geglu(1.021), with_max_creep(0.021));
  EXPECT_EQ(within.exit_code, ExitCode::kNoRegression);
  const GateResult beyond = gate(stored(1.020, 1), with_slower_geglu(1.021), with_max_creep(0.02));
  EXPECT_EQ(beyond.exit_code, ExitCode::kRegression);
  EXPECT_THAT(beyond.causes, ElementsAre(GateCause::kNoRegression, GateCause::kCrept));
}

TEST(Creep, ARegressionAgainstTheBaselineIsOneAlready) {
  const GateResult result = gate(stored(1.020, 1), with_slower_geglu(1.05), with_max_creep(0.02));
  EXPECT_EQ(result.exit_code, ExitCode::kRegression);
  EXPECT_THAT(result.causes, ElementsAre(GateCause::kSlower));
}

TEST(Creep, AnAnchorOfAnotherEnvironmentIsNotedAndNotJudged) {
  LoadedBaseline baseline = stored(1.020, 1);
  baseline.anchor->run.environment = {{"driver", "570"}, {"cuda", "12"}};
  GateOptions options = with_max_creep(0.01);
  options.allow_environment_differences = true;  // speaks of the baseline, not of the anchor
  const GateResult result = gate(baseline, with_slower_geglu(1.021), options);
  EXPECT_EQ(result.exit_code, ExitCode::kNoRegression);
  EXPECT_THAT(result.creep->slower, IsEmpty());
  EXPECT_THAT(result.creep->differences, SizeIs(2));
}

TEST(Creep, SaysThatTheAnchorIsOfAnotherCard) {
  // Two cards differ by so much that only far more is certain.
  LoadedBaseline baseline = stored(4, 1);
  baseline.anchor->run.provenance.device_uuid = "GPU-1";
  baselines::Run candidate = with_slower_geglu(4);
  candidate.provenance.device_uuid = "GPU-2";
  EXPECT_TRUE(gate(baseline, candidate, {}).creep->other_card);
}

TEST(Creep, InTheSustainedRegimeIsThatOfCycles) {
  LoadedBaseline baseline = stored(1.020, 1);
  baselines::Run candidate = with_slower_geglu(1.021);
  const nlohmann::json protocol{{"regime", "sustained"}};
  baseline.run.provenance.protocol = baseline.anchor->run.provenance.protocol = protocol;
  candidate.provenance.protocol = protocol;
  for (BenchmarkSeries& series : candidate.benchmarks) {
    for (ProcessSummary& summary : series.processes) summary.time_ns *= 0.9;  // a faster clock
  }
  const GateResult result = gate(baseline, candidate, with_max_creep(0.02));
  EXPECT_EQ(result.exit_code, ExitCode::kRegression);
  ASSERT_THAT(result.creep->slower, SizeIs(4));
  EXPECT_NEAR(result.creep->slower[0].estimates.effect, 0.021, 1e-4);
}

TEST(Creep, WithoutAnAnchorIsNotSpokenOf) {
  LoadedBaseline baseline = stored(1, 1);
  baseline.anchor.reset();
  EXPECT_FALSE(gate(baseline, with_slower_geglu(1.021), {}).creep.has_value());
}

TEST(Creep, IsNotJudgedWhereNothingElseWas) {
  LoadedBaseline baseline = stored(1, 1);
  baseline.run.environment = {{"driver", "570"}};
  const GateResult result = gate(baseline, with_slower_geglu(1.021), with_max_creep(0.01));
  EXPECT_EQ(result.exit_code, ExitCode::kCouldNotJudge);
  EXPECT_FALSE(result.creep.has_value());
}

}  // namespace
}  // namespace fusegate::baselines
