#include "baselines/changes/judge_history.h"

#include <gtest/gtest.h>

#include "baselines/changes/test_nights.h"
#include "baselines/history/change_id.h"
#include "baselines/io/scratch_folder.h"

namespace fusegate::baselines {
namespace {

class JudgeHistoryTest : public testing::Test {
 protected:
  JudgeHistoryTest() : nights_(40) {
    nights_.step(3, 30, 0.02);
    for (std::size_t i = 0; i < nights_.nights.size(); ++i) {
      nights_.nights[i].session = fmt::format("night-{:02}", i);
    }
  }
  // Adds the nights up to that one, and judges.
  JudgedHistory judged_up_to(std::size_t night) {
    for (; added_ <= night; ++added_) EXPECT_TRUE(history_.add(nights_.nights[added_]));
    return judge_history(history_, nights_.nights[night].unix_s);
  }

  ScratchFolder folder_;
  TestNights nights_;
  History history_{folder_.path() / "history.db", DatabaseUse::kWrite};
  std::size_t added_ = 0;
};

TEST_F(JudgeHistoryTest, AddsEachChangeOnceAndKeepsWhatPeopleSaidOfIt) {
  EXPECT_TRUE(judged_up_to(29).fresh.empty());
  const JudgedHistory found = judged_up_to(31);
  ASSERT_EQ(found.fresh.size(), 1u);
  EXPECT_EQ(found.fresh[0].subject, TestNights::name(3));
  EXPECT_EQ(found.fresh[0].first_session, "night-30");
  const auto id = history_.change_points().at(0).id;
  history_.set_confirmation(id, Confirmation::kConfirmed);
  history_.set_is_true(id, true);

  EXPECT_TRUE(judged_up_to(39).fresh.empty());
  const auto stored = history_.change_points();
  ASSERT_EQ(stored.size(), 1u);
  EXPECT_EQ(stored[0].point.confirmation, Confirmation::kConfirmed);
  EXPECT_EQ(stored[0].point.is_true, true);
}

TEST_F(JudgeHistoryTest, NamesWhatIsMissingNow) {
  judged_up_to(20);
  constexpr std::int64_t kDay_s = 86'400;
  EXPECT_TRUE(missing_now(history_, nights_.nights[20].unix_s + kDay_s).empty());
  const auto missing = missing_now(history_, nights_.nights[20].unix_s + 4 * kDay_s);
  ASSERT_FALSE(missing.empty());
  EXPECT_EQ(missing[0].what, "nights");
  EXPECT_EQ(missing[0].since, "night-20");
  EXPECT_TRUE(judged_up_to(21).missing.empty()) << "the nights go on";
}

}  // namespace
}  // namespace fusegate::baselines
