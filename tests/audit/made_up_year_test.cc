#include "tests/audit/made_up_year.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "baselines/changes/judge_nights.h"

namespace fusegate::baselines::audit {
namespace {

TEST(MadeUpYear, ShowsEachPlantedChangeAndNoOther) {
  Judged judged = judge_nights(made_up_year(), end_of_made_up_year());
  const auto creep = std::ranges::stable_partition(
      judged.changes, [](const ChangePoint& own) { return own.subject != kCreeping; });
  ASSERT_GE(creep.size(), 1u);
  EXPECT_LE(creep.size(), 2u);
  EXPECT_GE(creep.front().first_session, kCreepBegins);
  EXPECT_LT(creep.front().low, 0.001);
  EXPECT_EQ(creep.front().of_class, ChangeClass::kUnexplained);
  judged.changes.erase(creep.begin(), creep.end());

  const auto planted = planted_changes();
  ASSERT_EQ(judged.changes.size(), planted.size());
  for (std::size_t i = 0; i < planted.size(); ++i) {
    const ChangePoint& found = judged.changes[i];
    EXPECT_EQ(found.subject, planted[i].subject);
    EXPECT_EQ(found.first_session, planted[i].first_session) << found.subject;
    EXPECT_EQ(found.of_class, planted[i].of_class) << found.subject << ": " << found.reason;
    EXPECT_EQ(found.benchmarks.size(), planted[i].benchmarks) << found.subject;
    EXPECT_NEAR(found.effect, planted[i].effect, 0.003) << found.subject;
    EXPECT_LT(found.low, found.effect);
    EXPECT_GT(found.high, found.effect);
  }
}

TEST(MadeUpYear, ShowsWhatStoppedReporting) {
  const Judged judged = judge_nights(made_up_year(), end_of_made_up_year());
  ASSERT_EQ(judged.missing.size(), 3u);
  EXPECT_EQ(judged.missing[0].what, "nights");
  EXPECT_EQ(judged.missing[0].since, "2026-04-10");
  EXPECT_EQ(judged.missing[0].until, "2026-04-18");
  EXPECT_EQ(judged.missing[1].what, "card GPU-5");
  EXPECT_EQ(judged.missing[2].what, "benchmarks");
  EXPECT_EQ(judged.missing[2].benchmarks.size(), 4u);
}

}  // namespace
}  // namespace fusegate::baselines::audit
