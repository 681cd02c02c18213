#include "ci/report/story_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/gating/test_story.h"

namespace fusegate::ci {
namespace {

using baselines::gate;
using baselines::gate_of;
using baselines::GateResult;
using baselines::InvocationSummary;
using baselines::KernelStory;
using baselines::kGelu;
using baselines::kReduce;
using baselines::kSmall;
using baselines::kSplit;
using baselines::run_of;
using baselines::Side;
using baselines::story_of;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

TEST(StoryText, TellsTheKernelThatGotSlower) {
  Side slow{.slower = 0.05};
  slow.launches[2].duration_ns = 45e3;
  slow.launches[0].duration_ns = 50.1e3;
  const KernelStory story = story_of(slow);
  EXPECT_EQ(story_text(story),
            "the same kernel, slower: cublas nvjet bf16 256x128x64 tn in down_proj took 40.00 us "
            "and takes 45.00 us, +12.50 %, 98.0 % of what all kernels grew by");
}

TEST(StoryText, TellsTheKernelThatGotFaster) {
  Side fast{.slower = -0.05};
  fast.launches[1].duration_ns = 5e3;
  EXPECT_THAT(story_text(story_of(fast)),
              HasSubstr("the same kernel, faster: fusegate pointwise_kernel bf16, <Bf16, Gelu, "
                        "void*> in gelu took 10.00 us and takes 5.000 us, -50.00 %, 100.0 %"));
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
  EXPECT_EQ(story_text(story_of(host)),
            "the same kernels with 15.00 us more between them (4.004 us -> 19.00 us): the host; "
            "time is unchanged");
  host.slower = 0.1;
  EXPECT_THAT(story_text(story_of(host)),
              EndsWith("15.00 us more between them (4.004 us -> 19.00 us): the host"));
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
      "the same kernels: the host takes 60.00 us to launch them where it took 9.000 us; time is "
      "unchanged");
}

TEST(StoryText, TellsOfALaterStart) {
  Side host;
  host.launches[0].gap_ns += 15e3;
  EXPECT_THAT(story_text(story_of(host)),
              HasSubstr("15.00 us more before the first (2.002 us -> 17.00 us): the host"));
}

TEST(StoryText, TellsOfAnotherClock) {
  const GateResult result = baselines::gate_of_another_clock();
  ASSERT_TRUE(result.verdicts[1].clock_moved);
  ASSERT_THAT(result.stories, SizeIs(1));
  EXPECT_THAT(story_text(result.stories[0]),
              HasSubstr("the same kernels at another clock: +2.00 % in time, "));
}

TEST(StoryText, SaysWhereTheProfileDoesNotTell) {
  Side slow{.slower = 0.05};
  slow.launches[2].duration_ns += 500;  // of 5100
  const KernelStory story = story_of(slow);
  EXPECT_THAT(story_text(story), HasSubstr("+500.0 ns there, +5.100 us as timed"));
}

TEST(StoryText, SaysThatTimeIsUnchanged) {
  Side other;
  other.launches[2] = {kSmall, "down_proj", 40e3};
  EXPECT_THAT(story_text(story_of(other)), HasSubstr("; time is unchanged"));
}

}  // namespace
}  // namespace fusegate::ci
