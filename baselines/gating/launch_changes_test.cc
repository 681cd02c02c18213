#include "baselines/gating/launch_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/gating/test_kernel_diff.h"

namespace fusegate::baselines {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

CallIdentity mlp() { return {.launches = work_of_mlp(), .order = "5d"}; }

std::vector<LaunchChange> changes_to(const CallIdentity& after,
                                     const std::vector<TestLaunch>& launches_after = kMlp) {
  return launch_changes(mlp(), after, test_profile(kMlp), test_profile(launches_after));
}

TEST(LaunchChanges, AreNoneOfIdenticalCode) {
  CallIdentity renamed = mlp();
  for (LaunchIdentity& launch : renamed.launches) launch.kernel = "k";
  EXPECT_THAT(changes_to(mlp()), IsEmpty());
  EXPECT_THAT(changes_to(renamed), IsEmpty()) << "a kernel's name does not matter";
}

TEST(LaunchChanges, HaveTheStageAndWhatDiffers) {
  CallIdentity other = mlp();
  other.launches[2].code = "0c";
  other.launches[2].instructions = 1310;
  const auto changes = changes_to(other);
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].stage, "down_proj");
  EXPECT_TRUE(changes[0].code_changed());
  EXPECT_FALSE(changes[0].is_other());
  EXPECT_FALSE(changes[0].arguments_changed());
  ASSERT_THAT(changes[0].facts, SizeIs(1));
  EXPECT_EQ(changes[0].facts[0].what, "instructions");
}

TEST(LaunchChanges, ShowTheLaunchThatIsNewOrGone) {
  CallIdentity more = mlp();
  more.launches.insert(more.launches.begin(), {.kernel = "memset", .launch = "4 x 1 elements"});
  auto changes = changes_to(more);
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_FALSE(changes[0].before);
  EXPECT_EQ(changes[0].launch().kernel, "memset");
  CallIdentity fewer = mlp();
  fewer.launches.erase(fewer.launches.begin() + 1);
  changes = changes_to(fewer, {kMlp[0], kMlp[2]});
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_FALSE(changes[0].after);
  EXPECT_EQ(changes[0].stage, "gelu");
}

TEST(LaunchChanges, PutTheOtherKernelOfAStageInItsPlace) {
  CallIdentity other = mlp();
  other.launches[2].kernel = kSmall;
  other.launches[2].code = "0d";
  std::vector<TestLaunch> launches = kMlp;
  launches[2].name = kSmall;
  const auto changes = changes_to(other, launches);
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_TRUE(changes[0].is_other());
  EXPECT_EQ(changes[0].stage, "down_proj");
}

TEST(LaunchChanges, HaveNoStagesWhereAProfileIsOfOtherCalls) {
  CallIdentity other = mlp();
  other.launches[1].code = "0c";
  for (const auto& profile :
       {std::optional<KernelProfile>(), std::optional(test_profile({kMlp[0], kMlp[2]}))}) {
    const auto changes = launch_changes(mlp(), other, test_profile(kMlp), profile);
    ASSERT_THAT(changes, SizeIs(1));
    EXPECT_EQ(changes[0].stage, "");
    EXPECT_EQ(changes[0].launch().kernel, kGelu);
  }
}

}  // namespace
}  // namespace fusegate::baselines
