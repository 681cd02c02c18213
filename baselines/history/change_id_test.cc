#include "baselines/history/change_id.h"

#include <gtest/gtest.h>

namespace fusegate::baselines {
namespace {

TEST(ChangeId, StaysWhenAChangeIsDatedAnewAndDiffersFromEveryOther) {
  const ChangePoint point{
      .subject = "geglu/fused", .first_session = "n3", .alarm_session = "n5", .effect = 0.02};
  const std::string id = change_id(point);
  EXPECT_EQ(id.size(), 12u);
  ChangePoint other = point;
  other.first_session = "n4";
  other.effect = 0.03;
  EXPECT_EQ(change_id(other), id);
  other.alarm_session = "n6";
  EXPECT_NE(change_id(other), id);
  other = point;
  other.subject = "geglu/unfused";
  EXPECT_NE(change_id(other), id);
}

TEST(ChangeId, IsOfTheFirstNightWhereNothingSaysWhenItWasFound) {
  EXPECT_EQ(change_id({.subject = "a", .first_session = "n3"}),
            change_id({.subject = "a", .first_session = "n3", .alarm_session = "n3"}));
}

}  // namespace
}  // namespace fusegate::baselines
