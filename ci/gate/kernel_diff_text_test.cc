#include "ci/gate/kernel_diff_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/gating/test_kernel_diff.h"

namespace fusegate::ci {
namespace {

using baselines::diff_of;
using baselines::gate;
using baselines::gate_of;
using baselines::GateResult;
using baselines::KernelDiff;
using baselines::kGelu;
using baselines::kReduce;
using baselines::kSmall;
using baselines::kSplit;
using baselines::ProcessSummary;
using baselines::run_of;
using baselines::Side;
using baselines::work_of_mlp;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

TEST(KernelDiffText, NamesTheKernelThatGotSlower) {
  Side slow{.slower = 0.05};
  slow.launches[2].duration_ns = 45e3;
  slow.launches[0].duration_ns = 50.1e3;
  const KernelDiff diff = diff_of(slow);
  EXPECT_EQ(kernel_diff_text(diff),
            "the same kernel, slower: cublas nvjet bf16 256x128x64 tn in down_proj took 40.00 us "
            "and takes 45.00 us, +12.50 %, 98.0 % of what all kernels grew by");
}

TEST(KernelDiffText, NamesTheKernelThatGotFaster) {
  Side fast{.slower = -0.05};
  fast.launches[1].duration_ns = 5e3;
  EXPECT_THAT(kernel_diff_text(diff_of(fast)),
              HasSubstr("the same kernel, faster: fusegate pointwise_kernel bf16, <Bf16, Gelu, "
                        "void*> in gelu took 10.00 us and takes 5.000 us, -50.00 %, 100.0 %"));
}

TEST(KernelDiffText, SaysThatAnotherKernelWasPicked) {
  Side other{.slower = 0.05};
  other.launches[2] = {kSmall, "down_proj", 45e3};
  const KernelDiff diff = diff_of(other);
  EXPECT_EQ(kernel_diff_text(diff),
            "different kernel in down_proj: tile 256x128x64 -> 128x128x64, stages 4 -> 6, cluster "
            "1x2 -> 2x1, flavour h bz coopA -> v bz");
}

TEST(KernelDiffText, TakesTheReductionOfSplitKForPartOfTheOtherKernel) {
  Side other{.slower = 0.05};
  other.launches[2] = {kSplit, "down_proj", 41e3};
  other.launches.push_back({kReduce, "down_proj", 4e3});
  const KernelDiff diff = diff_of(other);
  EXPECT_THAT(kernel_diff_text(diff), HasSubstr("split-K no -> yes"));
  EXPECT_THAT(kernel_diff_text(diff),
              HasSubstr("1 kernel more (cublas splitKreduce_kernel fp32 in down_proj)"));
}

TEST(KernelDiffText, NamesAnotherLaunch) {
  Side more{.slower = 0.05};
  more.launches.insert(more.launches.begin() + 1, {kGelu, "gelu", 5e3});
  const KernelDiff diff = diff_of(more);
  EXPECT_EQ(kernel_diff_text(diff),
            "1 kernel more (fusegate pointwise_kernel bf16, <Bf16, Gelu, void*> in gelu)");
}

TEST(KernelDiffText, NamesAnotherMemoryOperation) {
  Side more{.slower = 0.03};
  more.launches.insert(more.launches.begin(), {"", "", 3e3});
  const KernelDiff diff = diff_of(more);
  EXPECT_EQ(kernel_diff_text(diff), "1 memory operation more (0 -> 1)");
}

TEST(KernelDiffText, NamesTimeBetweenTheSameKernelsAlsoWhereTimeIsUnchanged) {
  Side host;
  host.launches[1].gap_ns += 15e3;
  EXPECT_EQ(kernel_diff_text(diff_of(host)),
            "the same kernels with 15.00 us more between them (4.004 us -> 19.00 us): the host "
            "launches them later; time is unchanged");
  host.slower = 0.1;
  EXPECT_THAT(
      kernel_diff_text(diff_of(host)),
      EndsWith("15.00 us more between them (4.004 us -> 19.00 us): the host launches them later"));
}

TEST(KernelDiffText, NamesKernelsThatOverlapByLess) {
  Side before, after;
  before.launches[1].gap_ns = -30e3;
  after.launches[1].gap_ns = -15e3;
  const GateResult result = gate(run_of(before), run_of(after), {});
  ASSERT_THAT(result.kernel_diffs, SizeIs(1));
  const KernelDiff& diff = result.kernel_diffs[0];
  EXPECT_THAT(kernel_diff_text(diff), HasSubstr("the same kernels overlap by "));
  EXPECT_THAT(kernel_diff_text(diff), Not(HasSubstr("the host")));
}

TEST(KernelDiffText, NamesAHostThatTakesTwiceAsLongToLaunch) {
  const auto diff_at = [](double host_ns) {
    Side host;
    host.host_ns = host_ns;
    const GateResult result = gate_of(host);
    return result.kernel_diffs.empty() ? KernelDiff() : result.kernel_diffs[0];
  };
  EXPECT_EQ(kernel_diff_text(diff_at(60e3)),
            "the same kernels: the host takes 60.00 us to launch them instead of 9.000 us; time is "
            "unchanged");
}

TEST(KernelDiffText, NamesALaterStart) {
  Side host;
  host.launches[0].gap_ns += 15e3;
  EXPECT_THAT(kernel_diff_text(diff_of(host)),
              HasSubstr("15.00 us more before the first (2.002 us -> 17.00 us): the host"));
}

TEST(KernelDiffText, NamesAnotherClock) {
  const GateResult result = baselines::gate_of_another_clock();
  ASSERT_TRUE(result.verdicts[1].reason.clock_moved);
  ASSERT_THAT(result.kernel_diffs, SizeIs(1));
  EXPECT_THAT(kernel_diff_text(result.kernel_diffs[0]),
              HasSubstr("the same kernels at a different clock: +2.00 % in time, "));
}

TEST(KernelDiffText, SaysWhereTheProfileDoesNotShowIt) {
  Side slow{.slower = 0.05};
  slow.launches[2].duration_ns += 500;  // of 5100
  const KernelDiff diff = diff_of(slow);
  EXPECT_THAT(kernel_diff_text(diff), HasSubstr("+500.0 ns in them, +5.100 us as timed"));
}

TEST(KernelDiffText, SaysThatTimeIsUnchanged) {
  Side other;
  other.launches[2] = {kSmall, "down_proj", 40e3};
  EXPECT_THAT(kernel_diff_text(diff_of(other)), HasSubstr("; time is unchanged"));
}

const Side kKnown{.work = work_of_mlp()};

TEST(KernelDiffText, SaysFirstWhatOfTheMachineCodeChanged) {
  Side slow{.slower = 0.05, .work = work_of_mlp()};
  slow.work[2].code = "0c";
  slow.work[2].instructions = 1310;
  slow.work[2].launch =
      "grid 192x1x1, block 128x1x1, 0 + 20480 B shared, 168 registers, 16 B local";
  EXPECT_EQ(kernel_diff_text(diff_of(slow, kKnown)),
            "down_proj: machine code of cublas nvjet bf16 256x128x64 tn changed: static shared "
            "memory 10,240 -> 20,480 B, registers 166 -> 168, local memory 0 -> 16 B, "
            "instructions 1,204 -> 1,310; the profiled calls do not show the change: +0 ns in "
            "them, +5.100 us as timed");
  slow.launches[2].duration_ns = 45e3;
  slow.launches[0].duration_ns = 50.1e3;
  EXPECT_THAT(kernel_diff_text(diff_of(slow, kKnown)),
              EndsWith("instructions 1,204 -> 1,310; it took 40.00 us and takes 45.00 us, "
                       "+12.50 %, 98.0 % of what all kernels grew by"));
}

TEST(KernelDiffText, SaysThatNothingElseOfTheMachineCodeChanged) {
  Side slow{.slower = 0.05, .work = work_of_mlp()};
  slow.work[1].code = "0c";
  EXPECT_THAT(kernel_diff_text(diff_of(slow, kKnown)),
              HasSubstr("gelu: machine code of fusegate pointwise_kernel bf16, <Bf16, Gelu, void*> "
                        "changed: 166 registers, 10,240 B static shared memory, 1,204 "
                        "instructions as before; the profiled calls do not show"));
}

TEST(KernelDiffText, SaysThatAKernelIsLaunchedWithOtherBlocks) {
  Side slow{.slower = 0.05, .work = work_of_mlp()};
  slow.work[1].launch = "grid 96x1x1, block 256x1x1, 0 + 10240 B shared, 166 registers, 0 B local";
  EXPECT_THAT(kernel_diff_text(diff_of(slow, kKnown)),
              HasSubstr("gelu: launch of fusegate pointwise_kernel bf16, <Bf16, Gelu, void*> "
                        "changed: grid 192 -> 96 blocks, block 128 -> 256 threads; the profiled"));
  slow.work[1].code = "0c";
  slow.work[1].arguments = "77c2";
  EXPECT_THAT(kernel_diff_text(diff_of(slow, kKnown)),
              HasSubstr("gelu: machine code and arguments of fusegate"));
}

TEST(KernelDiffText, NamesTheMostOfManyChangesAndTheKernelThatGotSlower) {
  Side slow{.slower = 0.05, .work = work_of_mlp()};
  for (auto& launch : slow.work) launch.arguments = "77c2";
  slow.work[2].code = "0c";
  slow.launches[0].duration_ns = 55e3;
  const std::string text = kernel_diff_text(diff_of(slow, kKnown));
  EXPECT_EQ(text.find("down_proj: machine code and arguments of cublas"), 0u) << text;
  EXPECT_THAT(text, HasSubstr("; gate_proj: arguments of cublas nvjet bf16 256x128x64 tn changed; "
                              "1 more changed; slower: cublas nvjet bf16 256x128x64 tn in "
                              "gate_proj took 50.00 us and takes 55.00 us"));
}

TEST(KernelDiffText, NamesAnotherKernelWithWhatItIsLaunchedWith) {
  Side other{.slower = 0.05, .work = work_of_mlp()};
  other.launches[2] = {kSmall, "down_proj", 45e3};
  other.work[2] = {.kernel = kSmall,
                   .code = "0d",
                   .launch =
                       "grid 192x1x1, block 256x1x1, 0 + 10240 B shared, 120 registers, "
                       "0 B local",
                   .arguments = "77c1"};
  EXPECT_EQ(kernel_diff_text(diff_of(other, kKnown)),
            "different kernel in down_proj: tile 256x128x64 -> 128x128x64, stages 4 -> 6, cluster "
            "1x2 -> 2x1, flavour h bz coopA -> v bz, block 128 -> 256 threads, registers 166 -> "
            "120");
}

TEST(KernelDiffText, SaysOnceThatALaunchIsThereOrGone) {
  Side fewer{.slower = -0.05, .work = work_of_mlp()};
  fewer.launches.erase(fewer.launches.begin() + 1);
  fewer.work.erase(fewer.work.begin() + 1);
  EXPECT_EQ(kernel_diff_text(diff_of(fewer, kKnown)),
            "1 kernel fewer (fusegate pointwise_kernel bf16, <Bf16, Gelu, void*> in gelu)");
}

TEST(KernelDiffText, NamesCodeChangesWithoutProfiles) {
  Side more{.slower = 0.05, .work = work_of_mlp()};
  more.work.push_back({.kernel = "memset", .launch = "4 x 1 elements of 1 B"});
  more.work[0].code = "0c";
  baselines::Run candidate = run_of(more);
  candidate.benchmarks[1].profile.reset();
  const GateResult result = gate(run_of(kKnown), candidate, {});
  ASSERT_THAT(result.kernel_diffs, SizeIs(1));
  EXPECT_EQ(kernel_diff_text(result.kernel_diffs[0]),
            "machine code of cublas nvjet bf16 256x128x64 tn changed: 166 registers, 10,240 B "
            "static shared memory, 1,204 instructions as before; memset added; a side has no "
            "profile to show its time");
}

TEST(KernelDiffText, SaysWhereItIsNotKnownWhetherMachineCodeChanged) {
  EXPECT_THAT(kernel_diff_text(diff_of({.slower = 0.05}, kKnown)),
              EndsWith("; whether their machine code changed is unknown: the candidate has no code "
                       "hashes"));
}

}  // namespace
}  // namespace fusegate::ci
