#include "baselines/gating/kernel_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "baselines/gating/test_kernel_diff.h"

namespace fusegate::baselines {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

TEST(KernelDiff, IsNoneWhereNothingChanged) { EXPECT_THAT(gate_of({}).kernel_diffs, IsEmpty()); }

TEST(KernelDiff, NamesTheKernelThatGotSlower) {
  Side slow{.slower = 0.05};
  slow.launches[2].duration_ns = 45e3;
  slow.launches[0].duration_ns = 50.1e3;
  EXPECT_EQ(diff_of(slow).kind, KernelCause::kSameKernels);
}

TEST(KernelDiff, NamesTheKernelThatGotFaster) {
  Side fast{.slower = -0.05};
  fast.launches[1].duration_ns = 5e3;
  EXPECT_EQ(diff_of(fast).kind, KernelCause::kSameKernels);
}

TEST(KernelDiff, ShowsThatAnotherKernelWasPicked) {
  Side other{.slower = 0.05};
  other.launches[2] = {kSmall, "down_proj", 45e3};
  EXPECT_EQ(diff_of(other).kind, KernelCause::kOtherKernel);
}

TEST(KernelDiff, TakesTheReductionOfSplitKForPartOfTheOtherKernel) {
  Side other{.slower = 0.05};
  other.launches[2] = {kSplit, "down_proj", 41e3};
  other.launches.push_back({kReduce, "down_proj", 4e3});
  EXPECT_EQ(diff_of(other).kind, KernelCause::kOtherKernel);
}

TEST(KernelDiff, ShowsAnotherLaunch) {
  Side more{.slower = 0.05};
  more.launches.insert(more.launches.begin() + 1, {kGelu, "gelu", 5e3});
  EXPECT_EQ(diff_of(more).kind, KernelCause::kLaunches);
}

TEST(KernelDiff, ShowsAnotherMemoryOperation) {
  Side more{.slower = 0.03};
  more.launches.insert(more.launches.begin(), {"", "", 3e3});
  EXPECT_EQ(diff_of(more).kind, KernelCause::kLaunches);
}

// The samples are graphs, in which no kernel waits for the host.
TEST(KernelDiff, ShowsTimeBetweenTheSameKernelsAlsoWhereTimeIsUnchanged) {
  Side host;
  host.launches[1].gap_ns += 15e3;
  KernelDiff diff = diff_of(host);
  EXPECT_EQ(diff.kind, KernelCause::kGaps);
  host.slower = 0.1;
  diff = diff_of(host);
  EXPECT_EQ(diff.kind, KernelCause::kGaps);
}

// On other H200s 13 to 95 of 107 identical benchmarks had other gaps, by their hosts.
TEST(KernelDiff, OfAnotherCardShowsTimeBetweenKernelsOnlyWhereTimeChanged) {
  Side host;
  host.launches[1].gap_ns += 15e3;
  const auto diffs_on = [&](const char* card) {
    auto baseline = run_of({}), candidate = run_of(host);
    baseline.cards = {"GPU-0"};
    candidate.cards = {card};
    return gate(baseline, candidate, {}).kernel_diffs;
  };
  EXPECT_THAT(diffs_on("GPU-0"), SizeIs(1));
  EXPECT_THAT(diffs_on("GPU-1"), IsEmpty());
}

TEST(KernelDiff, ShowsKernelsThatOverlapByLess) {
  Side before, after;
  before.launches[1].gap_ns = -30e3;
  after.launches[1].gap_ns = -15e3;
  const GateResult result = gate(run_of(before), run_of(after), {});
  ASSERT_THAT(result.kernel_diffs, SizeIs(1));
  const KernelDiff& diff = result.kernel_diffs[0];
  EXPECT_EQ(diff.kind, KernelCause::kGaps);
}

// A delay may hide behind kernels that still run.
TEST(KernelDiff, ShowsAHostThatTakesTwiceAsLongToLaunch) {
  const auto diff_at = [](double host_ns) {
    Side host;
    host.host_ns = host_ns;
    const GateResult result = gate_of(host);
    return result.kernel_diffs.empty() ? KernelDiff() : result.kernel_diffs[0];
  };
  EXPECT_EQ(diff_at(17e3).kind, KernelCause::kNothing);
  EXPECT_EQ(diff_at(60e3).kind, KernelCause::kGaps);
  EXPECT_EQ(diff_at(4e3).kind, KernelCause::kGaps);
}

TEST(KernelDiff, ShowsALaterStart) {
  Side host;
  host.launches[0].gap_ns += 15e3;
  EXPECT_TRUE(diff_of(host).leads_moved);
}

// Of 200 suites of unchanged code, with a host whose pauses vary by 10 %.
TEST(KernelDiff, IsSeldomReportedForAHostThatOnlyVaries) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal(0, 0.1);
  const auto pauses = [&] {
    std::vector<KernelProfile> profiles;
    for (int i = 0; i < 3; ++i) {
      std::vector<TestLaunch> launches = kMlp;
      for (TestLaunch& launch : launches) launch.gap_ns *= 1 + normal(random);
      const nlohmann::json json = test_profile_json(launches);
      profiles.push_back(kernel_profile(parse_call_profile(JsonField(json, "test", "profile"))));
    }
    return merge_profiles(profiles);
  };
  Verdict verdict;
  verdict.baseline.time_ns = 1000;
  verdict.kind = VerdictKind::kUnchanged;
  int reported = 0;
  for (int i = 0; i < 200 * 60; ++i) {
    BenchmarkSeries before, after;
    before.profile = pauses();
    after.profile = pauses();
    reported += explain(&before, &after, verdict, {.suite_size = 60}).kind != KernelCause::kNothing;
  }
  EXPECT_LE(reported, 12);  // 4 are to be expected: 0.01 a suite, of gaps and of the start
}

TEST(KernelDiff, LeavesAloneGapsThatDoNotExceedWhatMatters) {
  Side host;
  host.launches[1].gap_ns += 100;  // of 102 us, at 0.15 %
  EXPECT_THAT(gate_of(host).kernel_diffs, IsEmpty());
}

TEST(KernelDiff, ShowsAnotherClock) {
  const GateResult result = gate_of_another_clock();
  ASSERT_TRUE(result.verdicts[1].reason.clock_moved);
  ASSERT_THAT(result.kernel_diffs, SizeIs(1));
  EXPECT_EQ(result.kernel_diffs[0].kind, KernelCause::kClock);
}

TEST(KernelDiff, IsUnexplainedWhereTheProfileShowsNoCause) {
  Side slow{.slower = 0.05};
  slow.launches[2].duration_ns += 500;  // of 5100
  EXPECT_EQ(diff_of(slow).kind, KernelCause::kUnexplained);
}

TEST(KernelDiff, IsNotReportedWithoutProfiles) {
  baselines::Run baseline = run_of({});
  baseline.benchmarks[1].profile.reset();
  const baselines::Run candidate = run_of({.slower = 0.05});
  const GateResult result = gate(baseline, candidate, {});
  EXPECT_THAT(result.kernel_diffs, IsEmpty());
  const KernelDiff diff = explain(&baseline.benchmarks[1], &candidate.benchmarks[1],
                                  result.verdicts[1], {.suite_size = 2});
  EXPECT_EQ(diff.kind, KernelCause::kNoProfile);
}

// As where a kernel has one template argument more.
TEST(KernelDiff, TakesIdenticalCodeOfAnotherNameForTheSameKernel) {
  const Side before{.work = work_of_mlp()};
  Side renamed = before;
  renamed.launches[1].name = "void fusegate::gelu_kernel<void*, 64>(void*)";
  GateOptions options;
  options.fail_on_changed_kernels = true;
  const GateResult same = gate(run_of(before), run_of(renamed), options);
  EXPECT_EQ(same.verdicts[1].kind, VerdictKind::kIdentical);
  EXPECT_THAT(same.kernel_diffs, IsEmpty());
  EXPECT_EQ(same.exit_code, ExitCode::kNoRegression);
  renamed.work[1].code = "0c";
  EXPECT_EQ(gate(run_of(before), run_of(renamed), options).exit_code, ExitCode::kRegression);
}

// What each benchmark of a suite was without a cause for: its work differs, and its profile shows
// nothing.
TEST(KernelDiff, IsThatWorkDiffersWhereNoProfileShowsACause) {
  const Side before{.work = work_of_mlp()};
  Side slow{.slower = 0.05, .work = work_of_mlp()};
  EXPECT_EQ(gate(run_of(before), run_of(slow), {}).verdicts[1].kind, VerdictKind::kIdentical);
  slow.work[2].code = "0c";
  KernelDiff diff = diff_of(slow, before);
  EXPECT_EQ(diff.kind, KernelCause::kOtherWork);
  EXPECT_FALSE(diff.launches_changed());
  slow.work[2] = work_of_mlp()[2];
  slow.work[2].launch = "grid 192x1x1, block 256x1x1";
  EXPECT_EQ(diff_of(slow, before).kind, KernelCause::kOtherWork);
  slow.launches[2].duration_ns = 45e3;
  diff = diff_of(slow, before);
  EXPECT_EQ(diff.kind, KernelCause::kSameKernels);
  ASSERT_THAT(diff.work_changes, SizeIs(1));
  EXPECT_EQ(diff.work_changes[0].stage, "down_proj");
}

TEST(KernelDiff, IsThatWorkDiffersAlsoWithoutProfiles) {
  Side slow{.slower = 0.05, .work = work_of_mlp()};
  slow.work[2].code = "0c";
  baselines::Run baseline = run_of({.work = work_of_mlp()});
  baseline.benchmarks[1].profile.reset();
  const GateResult result = gate(baseline, run_of(slow), {});
  ASSERT_THAT(result.kernel_diffs, SizeIs(1));
  EXPECT_EQ(result.kernel_diffs[0].kind, KernelCause::kOtherWork);
}

TEST(KernelDiff, SaysWhyItIsNotKnownWhetherWorkDiffers) {
  const Side slow{.slower = 0.05, .work = work_of_mlp()};
  EXPECT_EQ(diff_of(slow).work_unknown, "the baseline has no code hashes");
  EXPECT_EQ(diff_of(slow).kind, KernelCause::kUnexplained);
  baselines::Run baseline = run_of({.work = work_of_mlp()});
  baseline.benchmarks[1].identity->unknown = "it differs from process to process";
  const GateResult result = gate(baseline, run_of(slow), {});
  ASSERT_THAT(result.kernel_diffs, SizeIs(1));
  EXPECT_EQ(result.kernel_diffs[0].work_unknown, "it differs from process to process");
  EXPECT_FALSE(result.kernel_diffs[0].work_changed());
}

TEST(KernelDiff, OfUnchangedTimeIsNoneWhereWorkAloneDiffers) {
  Side other{.work = work_of_mlp()};
  other.work[2].code = "0c";
  EXPECT_THAT(gate(run_of({.work = work_of_mlp()}), run_of(other), {}).kernel_diffs, IsEmpty());
}

// On another card also where the host launches it later.
TEST(KernelDiff, SaysThatWorkDiffersWhereItLooksSlower) {
  Side other{.slower = 0.05, .work = work_of_mlp()};
  other.work[2].code = "0c";
  other.launches[1].gap_ns += 15e3;
  auto baseline = run_of({.work = work_of_mlp()}), candidate = run_of(other);
  baseline.cards = {"GPU-0"};
  candidate.cards = {"GPU-1"};
  for (auto* run : {&baseline, &candidate}) {
    for (BenchmarkSeries& series : run->benchmarks) series.processes.resize(2);
  }
  const GateResult result = gate(baseline, candidate, {});
  ASSERT_TRUE(looks_slower(result.verdicts[1]));
  ASSERT_THAT(result.kernel_diffs, SizeIs(1));
  EXPECT_EQ(result.kernel_diffs[0].kind, KernelCause::kOtherWork);
}

Side changed_with_unchanged_time() {
  Side other;
  other.launches[2] = {kSmall, "down_proj", 40e3};
  return other;
}

TEST(Gate, ReportsAChangedKernelWithUnchangedTimeAndPasses) {
  const GateResult result = gate_of(changed_with_unchanged_time());
  EXPECT_EQ(result.exit_code, ExitCode::kNoRegression);
  ASSERT_THAT(result.kernel_diffs, SizeIs(1));
}

TEST(Gate, FailsOnAChangedKernelWhereAskedTo) {
  GateOptions options;
  options.fail_on_changed_kernels = true;
  EXPECT_EQ(gate_of({}, options).exit_code, ExitCode::kNoRegression);
  const GateResult result = gate_of(changed_with_unchanged_time(), options);
  EXPECT_EQ(result.exit_code, ExitCode::kRegression);
  EXPECT_EQ(result.causes.back(), GateCause::kOtherKernels);
  Side host;
  host.launches[1].gap_ns += 15e3;
  EXPECT_EQ(gate_of(host, options).exit_code, ExitCode::kNoRegression);
}

TEST(Gate, CannotJudgeChangedKernelsWithoutProfiles) {
  GateOptions options;
  options.fail_on_changed_kernels = true;
  baselines::Run plain = run_of({});
  plain.benchmarks[1].profile.reset();
  EXPECT_EQ(gate(plain, run_of({}), options).exit_code, ExitCode::kCouldNotJudge);
  EXPECT_EQ(gate(plain, run_of({.slower = 0.05}), options).exit_code, ExitCode::kRegression);
}

std::string paired(const std::vector<ProfiledKernel>& before,
                   const std::vector<ProfiledKernel>& after) {
  std::string text;
  for (const KernelPair& pair : pair_kernels(before, after)) {
    text += (pair.before ? pair.before->name : "-") + std::string(pair.is_other() ? "~" : "=") +
            (pair.after ? pair.after->name : "-") + " ";
  }
  return text;
}

TEST(PairKernels, KeepsTheOrderOfBothSides) {
  EXPECT_EQ(paired({{"a", "s"}, {"b", "s"}}, {{"a", "s"}, {"b", "s"}}), "a=a b=b ");
  EXPECT_EQ(paired({{"a", "s"}}, {{"x", "t"}, {"a", "s"}, {"y", "t"}}), "-=x a=a -=y ");
  EXPECT_EQ(paired({{"x", "t"}, {"a", "s"}}, {{"a", "s"}}), "x=- a=a ");
  EXPECT_EQ(paired({{"a", "s"}, {"b", "t"}}, {{"a", "s"}, {"c", "t"}}), "a=a b~c ");
  EXPECT_EQ(paired({}, {{"a", "s"}}), "-=a ");
}

TEST(PairKernels, PutsTheLikestKernelOfTheStageInItsPlace) {
  EXPECT_EQ(paired({{kBig, "s"}}, {{"helper", "s"}, {kSmall, "s"}}),
            std::string("-=helper ") + kBig + "~" + kSmall + " ");
}

TEST(PairKernels, DoesNotPairAcrossStages) {
  EXPECT_EQ(paired({{"a", "gate"}, {"b", "up"}}, {{"c", "up"}}), "a=- b~c ");
}

}  // namespace
}  // namespace fusegate::baselines
