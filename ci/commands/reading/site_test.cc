#include "baselines/history/history.h"
#include "baselines/history/test_night.h"
#include "ci/commands/reading/command_test.h"

namespace fusegate::ci {
namespace {

class SiteCommandTest : public CommandTest<SiteRequest, site_command> {
 protected:
  SiteCommandTest() {
    request_.database = folder_.path() / "history.db";
    request_.out = folder_.path() / "pages";
  }
  std::string index() const { return read_file(request_.out / "index.html"); }
};

TEST_F(SiteCommandTest, WritesThePagesOfAHistory) {
  {
    baselines::History history(request_.database, baselines::DatabaseUse::kWrite);
    for (int night = 0; night < 3; ++night) history.add(baselines::test_night(night));
    history.add({.subject = baselines::test_night(0).benchmarks[0].name,
                 .first_session = "night 2",
                 .alarm_session = "night 2",
                 .effect = 0.05});
  }
  EXPECT_EQ(run(), kNoRegression) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("index.html: 3 nights\n"));
  EXPECT_THAT(index(),
              HasSubstr("1 change point was found in the last night, the largest +5.00 %"));
  EXPECT_FALSE(fs::exists(request_.out / "report.html"));
}

TEST_F(SiteCommandTest, ShowsTheLastNightsVerdictsAndItsReport) {
  baselines::Night night = baselines::test_night(0);
  night.benchmarks[0].name = kFused;
  baselines::History(request_.database, baselines::DatabaseUse::kWrite).add(night);
  request_.report.judging.baseline = {write_run(folder_, "base", {}, 4)};
  request_.report.judging.candidate = {write_run(folder_, "head", slowed(1.05), 4)};
  EXPECT_EQ(run(), kNoRegression) << err_.str();
  EXPECT_THAT(index(), HasSubstr("<strong>regression</strong>"));
  EXPECT_THAT(index(), HasSubstr("<a href=\"report.html\">"));
  EXPECT_THAT(read_file(request_.out / "report.html"), HasSubstr("href=\"index.html\""));
  std::string page;
  for (const auto& entry : fs::directory_iterator(request_.out / "b")) {
    if (entry.path().filename().string().starts_with("geglu-fused")) page = read_file(entry.path());
  }
  EXPECT_THAT(page, HasSubstr("<strong>regression</strong>"));
  EXPECT_THAT(page, HasSubstr("8 processes, "));
}

TEST_F(SiteCommandTest, NeedsAHistory) {
  EXPECT_THAT(problem(), HasSubstr("history.db"));
  EXPECT_FALSE(fs::exists(request_.out));
}

}  // namespace
}  // namespace fusegate::ci
