#include "baselines/record/load_run.h"
#include "ci/commands/command_test.h"

namespace fusegate::ci {
namespace {

using tests::write_script;

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// What is stored was measured by another driver, which made one of the benchmarks slower than here.
class ReplayTest : public SideBySideTest<ReplayRequest, replay_command> {
 protected:
  ReplayTest() {
    setenv("FUSEGATE_PYTHON", "/bin/false", 1);  // pages are drawn elsewhere
    request_.duet.judging.stores = {folder_.path() / "store"};
    request_.checkout = folder_.path() / "checkout";
    stored_.driver = "570.1";
    stored_.times[kLinear] *= 1.2;
    store();
    builds("echo '" + write_bench(folder_, "base-bench", {}) + "'");
  }
  ~ReplayTest() override { unsetenv("FUSEGATE_PYTHON"); }

  void store() {
    const baselines::Baseline baseline{
        {"somebody", "2026-11-21T00:00:00+00:00", "first"},
        baselines::load_run({write_run(folder_, "stored-run", stored_)})};
    baselines::write_atomically(folder_.path() / "store" / "nvidia-h200" / "smoke.json",
                                baselines::baseline_text(baseline));
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
};

TEST_F(ReplayTest, PassesWhereOnlyTheStoredFiguresAreOff) {
  EXPECT_EQ(run(), baselines::ExitCode::kNoRegression) << out_.str() << err_.str();
  EXPECT_EQ(baselines::read_file(folder_.path() / "built"), "0123456789abcdef\n");
  EXPECT_EQ(json()["counts"]["regression"], 0);
  const auto replay = json()["replay"];
  EXPECT_EQ(replay["environment_differences"][0]["field"], "driver");
  ASSERT_EQ(replay["rows"].size(), 2u);
  EXPECT_EQ(replay["rows"][0]["benchmark"], kLinear);
  EXPECT_NEAR(replay["rows"][0]["stored_to_replayed"].get<double>(), 1 / 1.2 - 1, 1e-3);
  EXPECT_EQ(replay["rows"][1]["moved"], false);
  EXPECT_THAT(out_.str(), HasSubstr("driver 570.1 to 580.159.04: 1 of 2 benchmarks changed"));
  EXPECT_THAT(baselines::read_file(*request_.duet.files.markdown),
              HasSubstr("the effect of card, driver"));
  EXPECT_TRUE(read_run_record(request_.duet.out / "base_again").finished);
}

TEST_F(ReplayTest, FailsWhatIsSlowerThanTheReplayed) {
  request_.duet.head = slowed_head();
  EXPECT_EQ(run(), baselines::ExitCode::kRegression) << out_.str() << err_.str();
  EXPECT_EQ(json()["counts"]["regression"], 1);
  EXPECT_EQ(json()["replay"]["rows"][0]["benchmark"], kLinear);
}

TEST_F(ReplayTest, OfIdenticalCodeItMeasuresControlsAndWhatTheStoredRunDidNotLaunch) {
  const FakeRunFile identified = thirty_identified();
  request_.duet.head = write_bench(folder_, "identified", {.file = identified});
  builds("echo '" + write_bench(folder_, "base-identified", {.file = identified}) + "'");
  stored_ = identified;
  stored_.codes["a29"] = "1e";
  store();
  EXPECT_EQ(run(), baselines::ExitCode::kNoRegression) << out_.str() << err_.str();
  EXPECT_THAT(out_.str(),
              HasSubstr("29 of 30 benchmarks run identical code: measuring the other 1, and "
                        "24 of the identical ones as controls"));
  EXPECT_EQ(json()["counts"]["identical"], 30);
  EXPECT_EQ(json()["replay"]["rows"].size(), 25u);
  EXPECT_EQ(json()["replay"]["rows"][0]["benchmark"], "a29");
}

TEST_F(ReplayTest, BothKeepTheChoicesOfTheBaseline) {
  const std::string report = "echo \"[$FUSEGATE_KEEP_CHOICES]\"";
  request_.duet.head = write_bench(folder_, "reporting", {.phase = 1, .more = report});
  builds("echo '" + write_bench(folder_, "base-reporting", {.more = report}) + "'");
  run();
  const std::string stored = (folder_.path() / "store/nvidia-h200/smoke.json").string();
  for (const char* program : {"base", "base_again", "head"}) {
    EXPECT_EQ(baselines::read_file(request_.duet.out / program / "1.log"), "[" + stored + "]\n")
        << program;
  }
}

TEST_F(ReplayTest, WhatCannotBeBuiltIsJudgedByFigures) {
  builds("echo 'does not build (the log: a.log)' >&2; exit 2");
  EXPECT_EQ(run(), baselines::ExitCode::kCouldNotJudge);  // the drivers differ
  EXPECT_THAT(err_.str(), HasSubstr("the baseline cannot be replayed: does not build (the log: "
                                    "a.log)"));
  EXPECT_TRUE(json()["replay"].is_null());
  EXPECT_THAT(json()["notes"].dump(), HasSubstr("a.log"));
  EXPECT_THAT(baselines::read_file(*request_.duet.files.markdown), HasSubstr("a.log"));
  EXPECT_FALSE(fs::exists(request_.duet.out / "base"));
  stored_ = {};
  store();
  request_.duet.out = folder_.path() / "same";
  EXPECT_EQ(run(), baselines::ExitCode::kNoRegression) << out_.str() << err_.str();
  request_.duet.out = folder_.path() / "slower";
  request_.duet.head = slowed_head();
  EXPECT_EQ(run(), baselines::ExitCode::kRegression) << out_.str() << err_.str();
}

TEST_F(ReplayTest, ABaselineOfADirtyTreeIsNotBuilt) {
  stored_.dirty = true;
  store();
  EXPECT_EQ(run(), baselines::ExitCode::kCouldNotJudge);
  EXPECT_THAT(err_.str(), HasSubstr("measured with uncommitted changes"));
  EXPECT_FALSE(fs::exists(folder_.path() / "built"));
}

TEST_F(ReplayTest, AProgramThatWasBuiltElsewhereIsTakenAsItIs) {
  request_.duet.base = write_bench(folder_, "elsewhere", {});
  EXPECT_EQ(run(), baselines::ExitCode::kNoRegression) << out_.str() << err_.str();
  EXPECT_FALSE(fs::exists(folder_.path() / "built"));
  EXPECT_EQ(read_run_record(request_.duet.out / "base").program, request_.duet.base);
}

TEST_F(ReplayTest, OneBaselineCanBeNamed) {
  const fs::path named = folder_.path() / "named.json";
  fs::rename(folder_.path() / "store" / "nvidia-h200" / "smoke.json", named);
  EXPECT_THAT(problem(), AllOf(HasSubstr("smoke"), HasSubstr("nothing to replay")));
  EXPECT_EQ(json()["exit_code"], 2);
  request_.duet.judging.baseline = {named};
  EXPECT_EQ(run(), baselines::ExitCode::kNoRegression) << out_.str() << err_.str();
  request_.duet.judging.baseline = {named, named};
  EXPECT_THAT(problem(), HasSubstr("one baseline can be replayed"));
  request_.duet.judging.baseline = {folder_.path() / "runs" / "head"};
  EXPECT_THAT(problem(), HasSubstr("runs/head"));
}

TEST_F(ReplayTest, SaysWhichSuiteAnOldProgramMeasures) {
  folder_.write("suites/smoke.json", R"({"sweeps": "new"})");  // beside the candidate
  const std::string bench = write_bench(folder_, "base-bench", {});
  builds("echo '" +
         write_script(folder_, "kept/fusegate_bench",
                      "case $* in *json*environment*) echo 'unknown key' >&2; exit 2 ;; "
                      "esac\nexec '" +
                          bench + "' \"$@\"") +
         "'");
  EXPECT_EQ(run(), baselines::ExitCode::kNoRegression) << out_.str() << err_.str();
  EXPECT_THAT(json()["notes"].dump(), HasSubstr("each measures its own"));
}

TEST_F(ReplayTest, IsInterruptedWhileItBuilds) {
  builds("kill -INT $PPID; sleep 60");
  EXPECT_EQ(run(), baselines::ExitCode::kCouldNotJudge);
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
