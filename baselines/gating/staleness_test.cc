#include "baselines/gating/staleness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/record/test_run.h"

namespace fusegate::baselines {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Acceptance kAccepted{"ada", "2026-10-01T00:00:00+00:00", "first"};

fusegate::baselines::Run measured(const std::string& date,
                                  const std::vector<std::string>& names = {"a"}) {
  fusegate::baselines::Run run;
  for (const std::string& name : names) run.benchmarks.push_back(test_series(name, {1000, 1001}));
  run.provenance.date = date;
  return run;
}

TEST(StalenessOf, HasNoWarningForAFreshBaseline) {
  const auto run = measured("2026-10-31T00:00:00+00:00");
  const Staleness staleness = staleness_of(kAccepted, run, run, 30);
  EXPECT_EQ(staleness.age_days, 30);
  EXPECT_FALSE(staleness.too_old);
  EXPECT_THAT(staleness.libraries, IsEmpty());
}

TEST(StalenessOf, NotesAnOldBaseline) {
  const auto run = measured("2026-11-15T12:00:00+00:00");
  const Staleness staleness = staleness_of(kAccepted, run, run, 30);
  EXPECT_EQ(staleness.age_days, 45.5);
  EXPECT_TRUE(staleness.too_old);
  EXPECT_FALSE(staleness_of(kAccepted, run, run, 60).too_old);
}

TEST(StalenessOf, ARunFromBeforeTheAcceptanceIsNotStale) {
  const auto run = measured("2026-09-01T00:00:00+00:00");
  EXPECT_FALSE(staleness_of(kAccepted, run, run, 30).too_old);
}

TEST(StalenessOf, HasNoAgeWhereADateIsUnknown) {
  const auto run = measured("2026-10-31T00:00:00+00:00");
  const Staleness staleness = staleness_of({"ada", "in spring", "first"}, run, run, 30);
  EXPECT_FALSE(staleness.age_days.has_value());
  EXPECT_EQ(staleness.accepted, "in spring");
  EXPECT_FALSE(staleness_of(kAccepted, run, measured(""), 30).age_days.has_value());
}

TEST(StalenessOf, NamesTheLibrariesThatChanged) {
  auto baseline = measured("2026-10-02T00:00:00+00:00");
  auto candidate = baseline;
  baseline.environment = {{"driver", "580"}, {"cublas", "13.1"}, {"power_limit_w", 700}};
  candidate.environment = {{"driver", "590"}, {"cublas", "13.2"}, {"power_limit_w", 600}};
  const auto libraries = staleness_of(kAccepted, baseline, candidate, 30).libraries;
  ASSERT_EQ(libraries.size(), 2u);
  EXPECT_EQ(libraries[0].field, "cublas");
  EXPECT_EQ(libraries[1].candidate, "590");
}

TEST(StalenessOf, NamesTheBenchmarksThatOneSideLacks) {
  const std::string date = "2026-10-02T00:00:00+00:00";
  const auto baseline = measured(date, {"a", "gone"});
  const auto candidate = measured(date, {"a", "n1", "n2", "n3", "n4"});
  const Staleness staleness = staleness_of(kAccepted, baseline, candidate, 30);
  EXPECT_THAT(staleness.not_in_baseline, ElementsAre("n1", "n2", "n3", "n4"));
  EXPECT_THAT(staleness.not_in_candidate, ElementsAre("gone"));
}

}  // namespace
}  // namespace fusegate::baselines
