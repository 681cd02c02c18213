#include "ci/commands/measuring/measuring_test.h"

namespace fusegate::ci {
namespace {

class CalibrateCommandTest : public CommandTest<CalibrateRequest, calibrate_command> {
 protected:
  CalibrateCommandTest() { request_.store = folder_.path() / "store"; }

  nlohmann::json stored(const std::string& suite = "smoke") {
    return json_in(request_.store / "nvidia-h200" / (suite + ".calibration.json"));
  }
};

TEST_F(CalibrateCommandTest, PrintsStoresAndWritesMarkdown) {
  request_.runs = {write_run(folder_, "a", {}, 10)};
  request_.markdown = folder_.path() / "c.md";
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_THAT(out_.str(), HasSubstr("Suite smoke: 10 processes on 1 card, 2 benchmarks."));
  EXPECT_THAT(out_.str(), HasSubstr("wrote " + request_.store.string()));
  EXPECT_THAT(read_file(*request_.markdown), HasSubstr("## Smallest detectable effect"));
  const nlohmann::json calibration = stored();
  const nlohmann::json& rule = calibration.at("rules").at(0);
  EXPECT_EQ(rule.at("min_effect"), 0.0015);
  EXPECT_EQ(rule.at("same_card").at("regressions").at("count"), 0);
  EXPECT_EQ(rule.at("same_card").at("regressions").at("of"), 1000);
  EXPECT_EQ(calibration.at("runs").at(0).at("commit"), "0123456789abcdef");
  EXPECT_EQ(calibration.at("date").get<std::string>().size(),
            std::string("2026-11-21T02:53:32+00:00").size());
}

TEST_F(CalibrateCommandTest, JudgesByTheSuitesOwnSmallestEffect) {
  request_.runs = {write_run(folder_, "a", {.protocol = {{"min_effect", 0.5}}})};
  run();
  EXPECT_EQ(stored().at("rules").at(0).at("min_effect"), 0.5);
}

TEST_F(CalibrateCommandTest, MeasuresWhereNoRunIsNamed) {
  request_.measuring.suite = "smoke";
  request_.program = write_bench(folder_, "bench", {});
  request_.processes = 4;
  request_.out = folder_.path() / "run";
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_TRUE(fs::exists(*request_.out / "second" / "2.json"));
  ASSERT_EQ(stored().at("runs").size(), 2u);
  EXPECT_EQ(stored().at("runs").at(1).at("processes"), 2);
}

TEST_F(CalibrateCommandTest, CalibratesNothingByAFailedRun) {
  request_.measuring.suite = "smoke";
  request_.program = write_script(folder_, "crashes", "kill -SEGV $$\n");
  request_.processes = 2;
  request_.out = folder_.path() / "run";
  EXPECT_THAT(problem(),
              HasSubstr("fusegate calibrate --run " + request_.out->string() + "/first --run "));
}

TEST_F(CalibrateCommandTest, LeavesNoFolderWhereNothingCouldBeMeasured) {
  request_.measuring.suite = "nope";
  request_.program = write_script(folder_, "refusing", "echo 'nope: no such suite' >&2; exit 2\n");
  request_.out = folder_.path() / "runs" / "now" / "calibration";
  EXPECT_THAT(problem(), HasSubstr("nope: no such suite"));
  EXPECT_FALSE(fs::exists(folder_.path() / "runs"));
  folder_.write("runs/other", "somebody's");
  EXPECT_THAT(problem(), HasSubstr("nope: no such suite"));
  EXPECT_TRUE(fs::exists(folder_.path() / "runs" / "other"));
  EXPECT_FALSE(fs::exists(folder_.path() / "runs" / "now"));
}

TEST_F(CalibrateCommandTest, TakesASuiteNameForRunsWithoutOne) {
  request_.runs = {write_run(folder_, "a", {.suite = ""})};
  EXPECT_THAT(problem(), HasSubstr("names no suite"));
  request_.measuring.suite = "mine";
  EXPECT_EQ(problem(), "none");
  EXPECT_EQ(stored("mine").at("suite"), "mine");
}

TEST_F(CalibrateCommandTest, SaysWhatIsWrong) {
  EXPECT_THAT(problem(), HasSubstr("--suite: say which suite"));
  const std::string run = write_run(folder_, "a", {});
  request_.runs = {run, run + "/../a"};
  EXPECT_THAT(problem(), HasSubstr("--run: named twice"));
  request_.runs = {run};
  request_.measuring.flags = {"--batch=8"};
  EXPECT_THAT(problem(), HasSubstr("--run: takes no flags behind --"));
  request_.runs = {folder_.path() / "missing"};
  request_.measuring.flags = {};
  EXPECT_THAT(problem(), HasSubstr("missing"));
  request_.runs = {write_run(folder_, "single", {}, 1)};
  EXPECT_THAT(problem(), HasSubstr("two processes on one card"));
}

}  // namespace
}  // namespace fusegate::ci
