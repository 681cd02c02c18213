#include "baselines/comparing/creep.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/comparing/gate.h"
#include "baselines/record/test_run.h"

namespace fusegate::baselines {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

// Four shapes of geglu/fused, slowed, and two others that stay.
fusegate::baselines::Run slowed(double factor) {
  fusegate::baselines::Run run;
  const auto add = [&](const std::string& name, double by) {
    run.benchmarks.push_back(
        test_series(name, {1000 * by, 1000.5 * by, 999.5 * by, 1000.2 * by, 999.8 * by}));
  };
  for (const int batch : {1, 4, 16, 64}) {
    add(fmt::format("geglu/fused/bf16/batch:{}/seq:128/dim:768/hidden:3072", batch), factor);
  }
  add("linear/addmm/bf16/batch:1/seq:128/dim:768/hidden:3072", 1);
  add("linear/addmm/bf16/batch:64/seq:128/dim:768/hidden:3072", 1);
  return run;
}

LoadedBaseline stored(double factor, double anchor_factor) {
  LoadedBaseline baseline{slowed(factor), Acceptance{"ada", "2026-11-01T00:00:00+00:00", "later"},
                          Baseline{}};
  baseline.anchor->run = slowed(anchor_factor);
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
  const GateResult result = gate(stored(1.018, 1), slowed(1.021), {});
  EXPECT_EQ(result.exit_code, ExitCode::kNoRegression);
  ASSERT_TRUE(result.creep.has_value());
  ASSERT_THAT(result.creep->slower, SizeIs(4));
  EXPECT_NEAR(result.creep->slower[0].effect, 0.021, 1e-4);
  EXPECT_THAT(result.creep->notes,
              ElementsAre("Since the anchor of 2026-10-01: 4 of geglu/fused/bf16 2.1 % slower."));
  EXPECT_THAT(result.notes, testing::IsSupersetOf(result.creep->notes));
}

TEST(Creep, IsNothingWhereTheBaselineShowsItToo) {
  const GateResult result = gate(stored(1, 1), slowed(1.021), {});
  EXPECT_EQ(result.exit_code, ExitCode::kRegression);
  EXPECT_THAT(result.creep->slower, IsEmpty());
  EXPECT_THAT(result.creep->notes, IsEmpty());
}

TEST(Creep, BeyondTheLimitIsARegression) {
  const GateResult within = gate(stored(1.018, 1), slowed(1.021), with_max_creep(0.021));
  EXPECT_EQ(within.exit_code, ExitCode::kNoRegression);
  const GateResult beyond = gate(stored(1.018, 1), slowed(1.021), with_max_creep(0.02));
  EXPECT_EQ(beyond.exit_code, ExitCode::kRegression);
  EXPECT_THAT(beyond.headline,
              StartsWith("4 of 6 benchmarks got slower by more than 2 % since the anchor of "
                         "2026-10-01, the most geglu/fused/bf16/batch:"));
  EXPECT_THAT(beyond.headline, HasSubstr("by 2.10 %. Against the baseline: No regression in 6"));
}

TEST(Creep, ARegressionAgainstTheBaselineKeepsItsHeadline) {
  const GateResult result = gate(stored(1.018, 1), slowed(1.05), with_max_creep(0.02));
  EXPECT_EQ(result.exit_code, ExitCode::kRegression);
  EXPECT_THAT(result.headline, Not(HasSubstr("anchor")));
}

TEST(Creep, AnAnchorOfAnotherEnvironmentIsNotedAndNotJudged) {
  LoadedBaseline baseline = stored(1.018, 1);
  baseline.anchor->run.environment = {{"driver", "570"}, {"cuda", "12"}};
  GateOptions options = with_max_creep(0.01);
  options.allow_environment_differences = true;  // speaks of the baseline, not of the anchor
  const GateResult result = gate(baseline, slowed(1.021), options);
  EXPECT_EQ(result.exit_code, ExitCode::kNoRegression);
  EXPECT_THAT(result.creep->slower, IsEmpty());
  EXPECT_THAT(result.creep->notes,
              ElementsAre("The anchor of 2026-10-01 cannot tell of creep: cuda is 12 there and "
                          "(absent) here, and 1 more differ. fusegate accept RUN --anchor replaces "
                          "it."));
}

TEST(Creep, SaysThatTheAnchorIsOfAnotherCard) {
  // Two cards differ by so much that only far more is certain.
  LoadedBaseline baseline = stored(4, 1);
  baseline.anchor->run.provenance.device_uuid = "GPU-1";
  fusegate::baselines::Run candidate = slowed(4);
  candidate.provenance.device_uuid = "GPU-2";
  EXPECT_THAT(gate(baseline, candidate, {}).creep->notes,
              ElementsAre(HasSubstr("2026-10-01, on another card: ")));
}

TEST(Creep, InTheSustainedRegimeIsThatOfCycles) {
  LoadedBaseline baseline = stored(1.018, 1);
  fusegate::baselines::Run candidate = slowed(1.021);
  const nlohmann::json protocol{{"regime", "sustained"}};
  baseline.run.provenance.protocol = baseline.anchor->run.provenance.protocol = protocol;
  candidate.provenance.protocol = protocol;
  for (BenchmarkSeries& series : candidate.benchmarks) {
    for (InvocationSummary& summary : series.invocations) summary.time_ns *= 0.9;  // a faster clock
  }
  const GateResult result = gate(baseline, candidate, with_max_creep(0.02));
  EXPECT_EQ(result.exit_code, ExitCode::kRegression);
  ASSERT_THAT(result.creep->slower, SizeIs(4));
  EXPECT_NEAR(result.creep->slower[0].effect, 0.021, 1e-4);
}

TEST(Creep, WithoutAnAnchorIsNotSpokenOf) {
  LoadedBaseline baseline = stored(1, 1);
  baseline.anchor.reset();
  EXPECT_FALSE(gate(baseline, slowed(1.021), {}).creep.has_value());
}

TEST(Creep, IsNotJudgedWhereNothingElseWas) {
  LoadedBaseline baseline = stored(1, 1);
  baseline.run.environment = {{"driver", "570"}};
  const GateResult result = gate(baseline, slowed(1.021), with_max_creep(0.01));
  EXPECT_EQ(result.exit_code, ExitCode::kCouldNotJudge);
  EXPECT_FALSE(result.creep.has_value());
}

}  // namespace
}  // namespace fusegate::baselines
