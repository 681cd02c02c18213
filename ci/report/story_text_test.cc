#include "ci/report/story_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/comparing/gate.h"
#include "baselines/launches/test_profile.h"
#include "baselines/record/test_run.h"

namespace fusegate::ci {
namespace {

using baselines::BenchmarkSeries;
using baselines::gate;
using baselines::GateOptions;
using baselines::GateResult;
using baselines::InvocationSummary;
using baselines::KernelStory;
using baselines::Run;
using baselines::test_profile;
using baselines::test_run;
using baselines::test_series;
using baselines::TestLaunch;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr const char* kBig = "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT";
constexpr const char* kSmall = "nvjet_sm90_tst_128x128_64x6_2x1_v_bz_TNT";
constexpr const char* kSplit = "nvjet_sm90_tst_128x128_64x6_2x1_v_bz_splitK_TNT";
constexpr const char* kReduce =
    "void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16>(int)";
constexpr const char* kGelu =
    "void fusegate::(anonymous namespace)::pointwise_kernel<fusegate::Bf16, fusegate::Gelu, "
    "void*>(void*)";

const std::vector<TestLaunch> kMlp{
    {kBig, "gate_proj", 50e3}, {kGelu, "gelu", 10e3}, {kBig, "down_proj", 40e3}};

struct Side {
  std::vector<TestLaunch> launches = kMlp;
  double slower = 0;
  double clock_ghz = 2;
  double host_ns = 9000;
};

// Five invocations of one benchmark, and others beside it that stay as they are.
Run run_of(const Side& side) {
  std::vector<double> times{102000, 102050, 101950, 102020, 101980};
  for (double& time_ns : times) time_ns *= 1 + side.slower;
  BenchmarkSeries mlp = test_series("mlp", times, side.clock_ghz);
  mlp.profile = test_profile(side.launches);
  mlp.counters["host_ns"] = side.host_ns;
  return test_run({test_series("a", {1000, 1000.5, 999.5, 1000.2, 999.8}), mlp});
}

GateResult gate_of(const Side& candidate, const GateOptions& options = {}) {
  return gate(run_of({}), run_of(candidate), options);
}

KernelStory story_of(const Side& candidate) {
  const GateResult result = gate_of(candidate);
  EXPECT_THAT(result.stories, SizeIs(1));
  return result.stories.empty() ? KernelStory() : result.stories[0];
}

TEST(StoryText, TellsTheKernelThatGotSlower) {
  Side slow{.slower = 0.05};
  slow.launches[2].duration_ns = 45e3;
  slow.launches[0].duration_ns = 50.1e3;
  const KernelStory story = story_of(slow);
  EXPECT_EQ(story_text(story),
            "the same kernel, slower: cublas nvjet bf16 256x128x64 tn in down_proj took 40.00 us "
            "and takes 45.00 us, +12.50 %, 98 % of what all kernels grew by");
}

TEST(StoryText, TellsTheKernelThatGotFaster) {
  Side fast{.slower = -0.05};
  fast.launches[1].duration_ns = 5e3;
  EXPECT_THAT(story_text(story_of(fast)),
              HasSubstr("the same kernel, faster: fusegate pointwise_kernel bf16, <Bf16, Gelu, "
                        "void*> in gelu took 10.00 us and takes 5.00 us, -50.00 %, 100 %"));
}

TEST(StoryText, TellsThatAnotherKernelWasPicked) {
  Side other{.slower = 0.05};
  other.launches[2] = {kSmall, "down_proj", 45e3};
  const KernelStory story = story_of(other);
  EXPECT_EQ(story_text(story),
            "another kernel in down_proj: tile 256x128x64 -> 128x128x64, stages 4 -> 6, cluster "
            "1x2 -> 2x1, flavour h bz coopA -> v bz");
}

TEST(StoryText, TakesTheReductionOfSplitKForPartOfTheOtherKernel) {
  Side other{.slower = 0.05};
  other.launches[2] = {kSplit, "down_proj", 41e3};
  other.launches.push_back({kReduce, "down_proj", 4e3});
  const KernelStory story = story_of(other);
  EXPECT_THAT(story_text(story), HasSubstr("split-K no -> yes"));
  EXPECT_THAT(story_text(story),
              HasSubstr("1 kernel more (cublas splitKreduce_kernel fp32 in down_proj)"));
}

TEST(StoryText, TellsOfAnotherLaunch) {
  Side more{.slower = 0.05};
  more.launches.insert(more.launches.begin() + 1, {kGelu, "gelu", 5e3});
  const KernelStory story = story_of(more);
  EXPECT_EQ(story_text(story),
            "1 kernel more (fusegate pointwise_kernel bf16, <Bf16, Gelu, void*> in gelu)");
}

TEST(StoryText, TellsOfAnotherMemoryOperation) {
  Side more{.slower = 0.03};
  more.launches.insert(more.launches.begin(), {"", "", 3e3});
  const KernelStory story = story_of(more);
  EXPECT_EQ(story_text(story), "1 memory operation more (0 -> 1)");
}

TEST(StoryText, TellsOfTimeBetweenTheSameKernelsAlsoWhereTimeIsUnchanged) {
  Side host;
  host.launches[1].gap_ns += 15e3;
  KernelStory story = story_of(host);
  EXPECT_EQ(story_text(story),
            "the same kernels with 15.00 us more between them (4.00 us -> 19.00 us): the host; "
            "time is unchanged");
  host.slower = 0.1;
  story = story_of(host);
}

TEST(StoryText, TellsOfKernelsThatOverlapByLess) {
  Side before, after;
  before.launches[1].gap_ns = -30e3;
  after.launches[1].gap_ns = -15e3;
  const GateResult result = gate(run_of(before), run_of(after), {});
  ASSERT_THAT(result.stories, SizeIs(1));
  const KernelStory& story = result.stories[0];
  EXPECT_THAT(story_text(story), HasSubstr("the same kernels overlap by "));
  EXPECT_THAT(story_text(story), Not(HasSubstr("the host")));
}

TEST(StoryText, TellsOfAHostThatTakesTwiceAsLongToLaunch) {
  const auto story_at = [](double host_ns) {
    Side host;
    host.host_ns = host_ns;
    const GateResult result = gate_of(host);
    return result.stories.empty() ? KernelStory() : result.stories[0];
  };
  EXPECT_EQ(
      story_text(story_at(60e3)),
      "the same kernels: the host takes 60.00 us to launch them where it took 9.00 us; time is "
      "unchanged");
}

TEST(StoryText, TellsOfALaterStart) {
  Side host;
  host.launches[0].gap_ns += 15e3;
  EXPECT_THAT(story_text(story_of(host)),
              HasSubstr("15.00 us more before the first (2.00 us -> 17.00 us): the host"));
}

TEST(StoryText, TellsOfAnotherClock) {
  // 2 % slower in time at a clock that is 2 % lower.
  baselines::Run baseline = run_of({});
  baselines::Run candidate = run_of({.slower = 0.02, .clock_ghz = 2 / 1.02});
  for (baselines::Run* run : {&baseline, &candidate}) {
    for (InvocationSummary& summary : run->benchmarks[1].invocations) {
      summary.clock_fit = {
          .time_squares = 0.01, .clock_squares = 0.01, .products = -0.01, .degrees_of_freedom = 47};
    }
  }
  const GateResult result = gate(baseline, candidate, {});
  ASSERT_TRUE(result.verdicts[1].clock_moved);
  ASSERT_THAT(result.stories, SizeIs(1));
  EXPECT_THAT(story_text(result.stories[0]),
              HasSubstr("the same kernels at another clock: +2.00 % in time, "));
}

TEST(StoryText, SaysWhereTheProfileDoesNotTell) {
  Side slow{.slower = 0.05};
  slow.launches[2].duration_ns += 500;  // of 5100
  const KernelStory story = story_of(slow);
  EXPECT_THAT(story_text(story), HasSubstr("+0.50 us there, +5.10 us as timed"));
}

TEST(StoryText, SaysThatTimeIsUnchanged) {
  Side other;
  other.launches[2] = {kSmall, "down_proj", 40e3};
  EXPECT_THAT(story_text(story_of(other)), HasSubstr("; time is unchanged"));
}

}  // namespace
}  // namespace fusegate::ci
