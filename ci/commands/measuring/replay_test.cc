#include "baselines/record/load_run.h"
#include "ci/commands/measuring/measuring_test.h"

namespace fusegate::ci {
namespace {

// What is stored was measured by another driver, which made one of the benchmarks slower than here.
class ReplayTest : public SideBySideTest<ReplayRequest, replay_command> {
 protected:
  ReplayTest() {
    request_.duet.judging.stores = {folder_.path() / "store"};
    request_.checkout = folder_.path() / "checkout";
    stored_.driver = "570.1";
    stored_.times[kLinear] *= 1.2;
    store();
    builds("echo '" + write_bench(folder_, "base-bench", {}) + "'");
  }

  void store() {
    fs::remove_all(folder_.path() / "store");
    accept(write_run(folder_, "stored-run", stored_), folder_.path() / "store");
  }
  // By a script that notes its calls.
  void builds(const std::string& script) {
    write_script(folder_, "checkout/ci/pipelines/build_commit.sh",
                 "echo \"$1\" >>'" + (folder_.path() / "built").string() + "'\n" + script);
  }
  std::string slowed_head() {
    return write_bench(folder_, "slowed-bench", {.file = slowed(), .phase = 1});
  }

  FakeRunFile stored_;
  const fs::path stored_path_ = folder_.path() / "store/nvidia-h200/smoke.json";
};

TEST_F(ReplayTest, PassesWhereOnlyTheStoredFiguresAreOff) {
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_EQ(read_file(folder_.path() / "built"), "0123456789abcdef\n");
  EXPECT_EQ(json()["counts"]["regression"], 0);
  const auto replay = json()["replay"];
  EXPECT_EQ(replay["environment_differences"][0]["field"], "driver");
  ASSERT_EQ(replay["rows"].size(), 2u);
  EXPECT_EQ(replay["rows"][0]["benchmark"], kLinear);
  EXPECT_NEAR(replay["rows"][0]["stored_to_replayed"].get<double>(), 1 / 1.2 - 1, 1e-3);
  EXPECT_EQ(replay["rows"][1]["moved"], false);
  EXPECT_THAT(out_.str(), HasSubstr("driver 570.1 to 580.159.04: 1 of 2 benchmarks changed"));
  EXPECT_THAT(markdown(), HasSubstr("the effect of card, driver"));
  EXPECT_TRUE(record("base_again").finished);
}

TEST_F(ReplayTest, FailsWhatIsSlowerThanTheReplayed) {
  request_.duet.head = slowed_head();
  EXPECT_EQ(run(), kRegression);
  EXPECT_EQ(json()["counts"]["regression"], 1);
  EXPECT_EQ(json()["replay"]["rows"][0]["benchmark"], kLinear);
}

TEST_F(ReplayTest, OfIdenticalCodeItMeasuresControlsAndWhatTheStoredRunDidNotLaunch) {
  stored_ = thirty_identified();
  request_.duet.head = write_bench(folder_, "identified", {.file = stored_});
  builds("echo '" + write_bench(folder_, "base-identified", {.file = stored_}) + "'");
  stored_.codes["a29"] = "1e";
  store();
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_THAT(out_.str(),
              HasSubstr("29 of 30 benchmarks run identical code: measuring the other 1, and "
                        "24 of the identical ones as controls"));
  EXPECT_EQ(json()["counts"]["identical"], 30);
  EXPECT_EQ(json()["replay"]["rows"].size(), 25u);
  EXPECT_EQ(json()["replay"]["rows"][0]["benchmark"], "a29");
}

TEST_F(ReplayTest, BothKeepTheChoicesOfTheBaseline) {
  const std::string report = "echo \"[$FUSEGATE_KEEP_CHOICES]\"";
  request_.duet.head = head({.phase = 1, .more = report});
  builds("echo '" + write_bench(folder_, "base-reporting", {.more = report}) + "'");
  run();
  for (const char* program : {"base", "base_again", "head"}) {
    EXPECT_EQ(read_file(request_.duet.out / program / "1.log"), "[" + stored_path_.string() + "]\n")
        << program;
  }
}

TEST_F(ReplayTest, WhatCannotBeBuiltIsJudgedByFigures) {
  builds("echo 'does not build (the log: a.log)' >&2; exit 2");
  EXPECT_EQ(run(), kCouldNotJudge) << "the drivers differ";
  EXPECT_THAT(err_.str(), HasSubstr("the baseline cannot be replayed: does not build (the log: "
                                    "a.log)"));
  EXPECT_TRUE(json()["replay"].is_null());
  EXPECT_THAT(json()["notes"].dump(), HasSubstr("a.log"));
  EXPECT_THAT(markdown(), HasSubstr("a.log"));
  EXPECT_FALSE(fs::exists(request_.duet.out / "base"));
  stored_ = {};
  store();
  request_.duet.out = folder_.path() / "same";
  EXPECT_EQ(run(), kNoRegression);
  request_.duet.out = folder_.path() / "slower";
  request_.duet.head = slowed_head();
  EXPECT_EQ(run(), kRegression);
}

TEST_F(ReplayTest, ABaselineOfADirtyTreeIsNotBuilt) {
  stored_.dirty = true;
  store();
  EXPECT_EQ(run(), kCouldNotJudge);
  EXPECT_THAT(err_.str(), HasSubstr("measured with uncommitted changes"));
  EXPECT_FALSE(fs::exists(folder_.path() / "built"));
}

TEST_F(ReplayTest, AProgramThatWasBuiltElsewhereIsTakenAsItIs) {
  request_.duet.base = write_bench(folder_, "elsewhere", {});
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_FALSE(fs::exists(folder_.path() / "built"));
  EXPECT_EQ(record("base").program, request_.duet.base);
}

TEST_F(ReplayTest, OneBaselineCanBeNamed) {
  const fs::path named = folder_.path() / "named.json";
  fs::rename(stored_path_, named);
  EXPECT_THAT(problem(), AllOf(HasSubstr("smoke"), HasSubstr("nothing to replay")));
  EXPECT_EQ(json()["exit_code"], 2);
  request_.duet.judging.baseline = {named};
  EXPECT_EQ(run(), kNoRegression);
  request_.duet.judging.baseline = {named, named};
  EXPECT_THAT(problem(), HasSubstr("one baseline can be replayed"));
  request_.duet.judging.baseline = {folder_.path() / "runs" / "head"};
  EXPECT_THAT(problem(), HasSubstr("runs/head"));
}

TEST_F(ReplayTest, IsInterruptedWhileItBuilds) {
  builds("kill -INT $PPID; sleep 60");
  EXPECT_EQ(run(), kCouldNotJudge);
  EXPECT_THAT(json()["headline"].get<std::string>(), HasSubstr("interrupted"));
  EXPECT_FALSE(fs::exists(request_.duet.out));
}

TEST_F(ReplayTest, AProgramThatDoesNotRunIsNamed) {
  request_.duet.head = (folder_.path() / "missing").string();
  EXPECT_THAT(problem(), AllOf(HasSubstr("missing"), HasSubstr("cannot be started")));
  EXPECT_EQ(json()["exit_code"], 2);
}

}  // namespace
}  // namespace fusegate::ci
