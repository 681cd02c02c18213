#include "ci/gate/kernel_diff_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/gating/test_kernel_diff.h"

namespace fusegate::ci {
namespace {

using baselines::diff_of;
using baselines::gate;
using baselines::GateResult;
using baselines::kGelu;
using baselines::kReduce;
using baselines::kSmall;
using baselines::kSplit;
using baselines::run_of;
using baselines::Side;
using baselines::work_of_mlp;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

const Side kKnown{.work = work_of_mlp()};

// What a candidate does otherwise, and what is said of it.
struct Case {
  double slower;
  void (*change)(Side& candidate);
  testing::Matcher<std::string> text;
};

void expect_texts(const Side& baseline, const std::vector<Case>& cases) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Side candidate = baseline;
    candidate.slower = cases[i].slower;
    cases[i].change(candidate);
    EXPECT_THAT(kernel_diff_text(diff_of(candidate, baseline)), cases[i].text) << "case " << i;
  }
}

TEST(KernelDiffText, NamesTheKernelThatChangedMost) {
  expect_texts(
      {},
      {{0.05,
        [](Side& side) {
          side.launches[2].duration_ns = 45e3;
          side.launches[0].duration_ns = 50.1e3;
        },
        "the same kernel, slower: cublas nvjet bf16 256x128x64 tn in down_proj took 40.00 us and "
        "takes 45.00 us, +12.50 %, 98.0 % of what all kernels grew by"},
       {-0.05, [](Side& side) { side.launches[1].duration_ns = 5e3; },
        HasSubstr("the same kernel, faster: fusegate pointwise_kernel bf16, <Bf16, Gelu, void*> in "
                  "gelu took 10.00 us and takes 5.000 us, -50.00 %, 100.0 %")},
       {0.05, [](Side& side) { side.launches[2].duration_ns += 500; },  // of 5100
        HasSubstr("+500.0 ns in them, +5.100 us as timed")}});
}

TEST(KernelDiffText, NamesOtherLaunches) {
  expect_texts(
      {},
      {{0.05,
        [](Side& side) {
          side.launches[2] = {kSmall, "down_proj", 45e3};
        },
        "different kernel in down_proj: tile 256x128x64 -> 128x128x64, stages 4 -> 6, cluster 1x2 "
        "-> 2x1, flavour h bz coopA -> v bz"},
       {0,
        [](Side& side) {
          side.launches[2] = {kSmall, "down_proj", 40e3};
        },
        HasSubstr("; time is unchanged")},
       // The reduction of split-K is part of the other kernel.
       {0.05,
        [](Side& side) {
          side.launches[2] = {kSplit, "down_proj", 41e3};
          side.launches.push_back({kReduce, "down_proj", 4e3});
        },
        AllOf(HasSubstr("split-K no -> yes"),
              HasSubstr("1 kernel more (cublas splitKreduce_kernel fp32 in down_proj)"))},
       {0.05,
        [](Side& side) {
          side.launches.insert(side.launches.begin() + 1, {kGelu, "gelu", 5e3});
        },
        "1 kernel more (fusegate pointwise_kernel bf16, <Bf16, Gelu, void*> in gelu)"},
       {0.03,
        [](Side& side) {
          side.launches.insert(side.launches.begin(), {"", "", 3e3});
        },
        "1 memory operation more (0 -> 1)"}});
}

TEST(KernelDiffText, NamesTimeAroundTheSameKernelsAlsoWhereTimeIsUnchanged) {
  expect_texts(
      {}, {{0, [](Side& side) { side.launches[1].gap_ns += 15e3; },
            "the same kernels with 15.00 us more between them (4.004 us -> 19.00 us): the host "
            "launches them later; time is unchanged"},
           {0.1, [](Side& side) { side.launches[1].gap_ns += 15e3; },
            EndsWith("15.00 us more between them (4.004 us -> 19.00 us): the host launches them "
                     "later")},
           {0, [](Side& side) { side.launches[0].gap_ns += 15e3; },
            HasSubstr("15.00 us more before the first (2.002 us -> 17.00 us): the host")},
           {0, [](Side& side) { side.host_ns = 60e3; },
            "the same kernels: the host takes 60.00 us to launch them instead of 9.000 us; time is "
            "unchanged"}});
  Side overlapping;
  overlapping.launches[1].gap_ns = -30e3;
  expect_texts(overlapping,
               {{0, [](Side& side) { side.launches[1].gap_ns = -15e3; },
                 AllOf(HasSubstr("the same kernels overlap by "), Not(HasSubstr("the host")))}});
}

TEST(KernelDiffText, NamesAnotherClock) {
  const GateResult result = baselines::gate_of_another_clock();
  ASSERT_TRUE(result.verdicts[1].reason.clock_moved);
  ASSERT_THAT(result.kernel_diffs, SizeIs(1));
  EXPECT_THAT(kernel_diff_text(result.kernel_diffs[0]),
              HasSubstr("the same kernels at a different clock: +2.00 % in time, "));
}

TEST(KernelDiffText, SaysFirstWhatOfTheMachineCodeChanged) {
  Side other = kKnown;
  other.slower = 0.05;
  other.work[2].code = "0c";
  other.work[2].instructions = 1310;
  other.work[2].launch =
      "grid 192x1x1, block 128x1x1, 0 + 20480 B shared, 168 registers, 16 B local";
  const std::string changed =
      "down_proj: machine code of cublas nvjet bf16 256x128x64 tn changed: static shared memory "
      "10,240 -> 20,480 B, registers 166 -> 168, local memory 0 -> 16 B, instructions 1,204 -> "
      "1,310; ";
  EXPECT_EQ(
      kernel_diff_text(diff_of(other, kKnown)),
      changed + "the profiled calls do not show the change: +0 ns in them, +5.100 us as timed");
  other.launches[2].duration_ns = 45e3;
  other.launches[0].duration_ns = 50.1e3;
  EXPECT_EQ(kernel_diff_text(diff_of(other, kKnown)),
            changed +
                "it took 40.00 us and takes 45.00 us, +12.50 %, 98.0 % of what all kernels grew "
                "by");
}

void use_other_blocks(Side& side) {
  side.work[1].launch = "grid 96x1x1, block 256x1x1, 0 + 10240 B shared, 166 registers, 0 B local";
}

TEST(KernelDiffText, SaysWhatOfAKernelChangedAndWhatDidNot) {
  expect_texts(
      kKnown,
      {{0.05, [](Side& side) { side.work[1].code = "0c"; },
        HasSubstr("gelu: machine code of fusegate pointwise_kernel bf16, <Bf16, Gelu, void*> "
                  "changed: 166 registers, 10,240 B static shared memory, 1,204 instructions as "
                  "before; the profiled calls do not show")},
       {0.05, use_other_blocks,
        HasSubstr("gelu: launch of fusegate pointwise_kernel bf16, <Bf16, Gelu, void*> changed: "
                  "grid 192 -> 96 blocks, block 128 -> 256 threads; the profiled")},
       {0.05,
        [](Side& side) {
          use_other_blocks(side);
          side.work[1].code = "0c";
          side.work[1].arguments = "77c2";
        },
        HasSubstr("gelu: machine code and arguments of fusegate")},
       // The most of many changes, and the kernel that got slower.
       {0.05,
        [](Side& side) {
          for (auto& launch : side.work) launch.arguments = "77c2";
          side.work[2].code = "0c";
          side.launches[0].duration_ns = 55e3;
        },
        AllOf(StartsWith("down_proj: machine code and arguments of cublas"),
              HasSubstr("; gate_proj: arguments of cublas nvjet bf16 256x128x64 tn changed; 1 more "
                        "changed; slower: cublas nvjet bf16 256x128x64 tn in gate_proj took 50.00 "
                        "us and takes 55.00 us"))},
       {0.05, [](Side& side) { side.work.clear(); },
        EndsWith("; whether their machine code changed is unknown: the candidate has no code "
                 "hashes")}});
}

TEST(KernelDiffText, SaysOnceThatALaunchIsAnotherOrGone) {
  expect_texts(
      kKnown,
      {{0.05,
        [](Side& side) {
          side.launches[2] = {kSmall, "down_proj", 45e3};
          side.work[2] = {.kernel = kSmall,
                          .code = "0d",
                          .launch =
                              "grid 192x1x1, block 256x1x1, 0 + 10240 B shared, 120 registers, 0 B "
                              "local",
                          .arguments = "77c1"};
        },
        "different kernel in down_proj: tile 256x128x64 -> 128x128x64, stages 4 -> 6, cluster 1x2 "
        "-> 2x1, flavour h bz coopA -> v bz, block 128 -> 256 threads, registers 166 -> 120"},
       {-0.05,
        [](Side& side) {
          side.launches.erase(side.launches.begin() + 1);
          side.work.erase(side.work.begin() + 1);
        },
        "1 kernel fewer (fusegate pointwise_kernel bf16, <Bf16, Gelu, void*> in gelu)"}});
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

}  // namespace
}  // namespace fusegate::ci
