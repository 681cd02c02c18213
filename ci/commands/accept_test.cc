#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <sstream>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/record/baseline.h"
#include "ci/commands/commands.h"
#include "tests/fakes/fake_program.h"

namespace fusegate::ci {
namespace {

using tests::FakeRunFile;
using tests::run_file_text;
using tests::write_run;

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class AcceptCommandTest : public ::testing::Test {
 protected:
  AcceptCommandTest() {
    request_.reason = "first on this driver";
    request_.who = "somebody";
    request_.store = folder_.path() / "store";
  }
  baselines::ExitCode accept(const FakeRunFile& file = {}, int processes = 5) {
    request_.runs = {write_run(folder_, "run", file, processes)};
    Console console{out_, err_};
    return accept_command(request_, console);
  }
  std::string problem(const FakeRunFile& file = {}, int processes = 5) {
    try {
      accept(file, processes);
    } catch (const baselines::InputError& error) {
      return error.what();
    }
    return "none";
  }
  fs::path stored(const std::string& suite = "smoke") const {
    return folder_.path() / "store" / "nvidia-h200" / (suite + ".json");
  }

  baselines::ScratchFolder folder_;
  AcceptRequest request_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(AcceptCommandTest, WarnsOfFewProcessesAndStoresThemAllTheSame) {
  EXPECT_EQ(accept({}, 3), baselines::ExitCode::kNoRegression);
  EXPECT_THAT(
      err_.str(),
      StartsWith("warning: The baseline has 3 processes on each card; at least 4 are needed "
                 "to report a regression. Re-record it: fusegate run --suite smoke --"));
  EXPECT_THAT(err_.str(), EndsWith(" 4 --all --out RUN && fusegate accept RUN --reason TEXT\n"));
  EXPECT_TRUE(fs::exists(stored()));
}

TEST_F(AcceptCommandTest, ShowOfAStoredBaselineOfFewProcessesSaysSo) {
  const auto shown = [&](const fs::path& path) {
    std::ostringstream out;
    Console console{out, out};
    show_command({.paths = {path}}, console);
    return out.str();
  };
  const std::string note = "note: The baseline has 3 processes on each card; at least 4 are needed";
  accept({}, 3);
  EXPECT_THAT(shown(stored()), HasSubstr(note));
  EXPECT_THAT(shown(request_.runs.front()), ::testing::Not(HasSubstr("are needed")))
      << "not accepted yet";
  folder_.write("run/4.json", run_file_text({}));
  request_.runs = {folder_.path() / "run"};
  Console console{out_, err_};
  accept_command(request_, console);
  EXPECT_THAT(shown(stored()), ::testing::Not(HasSubstr("are needed")));
}

TEST_F(AcceptCommandTest, WarnsOfNothingWhereThereAreFourProcesses) {
  accept({}, 4);
  EXPECT_EQ(err_.str(), "");
}

TEST_F(AcceptCommandTest, StoresTheRunWithWhoAndWhy) {
  EXPECT_EQ(accept(), baselines::ExitCode::kNoRegression);
  EXPECT_THAT(out_.str(), StartsWith("recorded " + stored().string() +
                                     ", also as anchor\nfinds slowdowns of 4."));
  EXPECT_THAT(out_.str(), HasSubstr(" in half of the benchmarks and 4."));
  EXPECT_THAT(out_.str(), ::testing::EndsWith(" in nine tenths, on this card\n"));
  const baselines::Baseline baseline = baselines::read_baseline(stored());
  EXPECT_EQ(baseline.acceptance.who, "somebody");
  EXPECT_EQ(baseline.acceptance.reason, "first on this driver");
  EXPECT_THAT(baseline.acceptance.when, StartsWith("20"));
  EXPECT_EQ(baseline.run.benchmarks.size(), 2u);
}

TEST_F(AcceptCommandTest, ALinkedBaselineStaysALink) {
  const fs::path kept = folder_.path() / "kept" / "h200.json";
  fs::create_directories(stored().parent_path());
  fs::create_directories(kept.parent_path());
  fs::create_symlink("../../kept/h200.json", stored());
  accept();  // it leads nowhere yet
  EXPECT_TRUE(fs::is_symlink(stored()));
  FakeRunFile second;
  second.date = "2026-11-22T02:53:32+00:00";
  accept(second);
  EXPECT_TRUE(fs::is_symlink(stored()));
  EXPECT_EQ(baselines::read_baseline(kept).run.provenance.date, second.date);
  EXPECT_FALSE(fs::is_symlink(baselines::anchor_path(stored())));
}

TEST_F(AcceptCommandTest, NeedsAReason) {
  request_.reason = " \n";
  EXPECT_THAT(problem(), StartsWith("--reason: "));
  EXPECT_FALSE(fs::exists(stored()));
}

TEST_F(AcceptCommandTest, RefusesARunThatIsNoBaselineAndSaysEveryReason) {
  FakeRunFile file;
  file.dirty = true;
  file.failures = {{"a/b", "wrong results"}};
  EXPECT_THAT(problem(file, 1), testing::AllOf(HasSubstr("a/b"), HasSubstr("uncommitted"),
                                               HasSubstr("fewer than two"), HasSubstr("--force")));
  EXPECT_FALSE(fs::exists(stored()));
  request_.force = true;
  EXPECT_EQ(accept(file, 1), baselines::ExitCode::kNoRegression);
  EXPECT_TRUE(fs::exists(stored()));
}

TEST_F(AcceptCommandTest, NeverAcceptsWhatDidNotFinish) {
  const std::string third = write_run(folder_, "run", {}, 3) + "/3.json";
  baselines::write_atomically(third, run_file_text({.finished = false}));
  request_.runs = {folder_.path() / "run"};
  Console console{out_, err_};
  try {
    accept_command(request_, console);
    ADD_FAILURE() << "accepted";
  } catch (const baselines::InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("not accepted: 1 process did not finish and is left out: " +
                                        third + " (--force"));
  }
  request_.force = true;
  accept_command(request_, console);
  EXPECT_THAT(err_.str(), HasSubstr("note: 1 process did not finish and is left out: " + third));
  const baselines::Baseline baseline = baselines::read_baseline(stored());
  EXPECT_EQ(baseline.run.benchmarks.at(0).processes.size(), 2u);
}

TEST_F(AcceptCommandTest, RefusesWhatSpoiltTheMeasurement) {
  EXPECT_THAT(problem({}, 1), HasSubstr("not accepted: fewer than two "));
  for (const auto& [doubt, reason] :
       std::vector<std::pair<std::string, std::string>>{{"throttled", "throttled"},
                                                        {"other_gpu_process", "another process"},
                                                        {"dirty_tree", "uncommitted changes"}}) {
    FakeRunFile file;
    file.doubts = {doubt};
    EXPECT_THAT(problem(file), HasSubstr("not accepted: ")) << doubt;
    EXPECT_THAT(problem(file), HasSubstr(reason)) << doubt;
  }
  FakeRunFile wrong;
  wrong.failures = {{"a/b", "relative error 0.3 exceeds 0.01"}};
  EXPECT_THAT(problem(wrong), HasSubstr("not accepted: benchmarks failed: a/b"));
  EXPECT_FALSE(fs::exists(stored()));
  EXPECT_FALSE(fs::exists(baselines::anchor_path(stored())));
}

TEST_F(AcceptCommandTest, TheFirstIsTheAnchorAndStaysIt) {
  accept();
  EXPECT_FALSE(fs::exists(baselines::anchor_path(stored())));
  out_.str("");
  request_.reason = "second";
  accept();
  EXPECT_THAT(out_.str(), StartsWith("recorded " + stored().string() + "\n"));
  EXPECT_EQ(baselines::read_baseline(stored()).acceptance.reason, "second");
  EXPECT_EQ(baselines::read_baseline(baselines::anchor_path(stored())).acceptance.reason,
            "first on this driver");
  request_.reason = "third";
  accept();
  EXPECT_EQ(baselines::read_baseline(baselines::anchor_path(stored())).acceptance.reason,
            "first on this driver");
}

TEST_F(AcceptCommandTest, ReplacesTheAnchorWhereAsked) {
  accept();
  request_.reason = "second";
  accept();
  EXPECT_TRUE(fs::exists(baselines::anchor_path(stored())));
  out_.str("");
  request_.reason = "cuBLAS 13.2";
  request_.replace_anchor = true;
  accept();
  EXPECT_THAT(out_.str(), HasSubstr(", also as anchor"));
  EXPECT_FALSE(fs::exists(baselines::anchor_path(stored())));
  EXPECT_EQ(baselines::read_baseline(stored()).acceptance.reason, "cuBLAS 13.2");
}

TEST_F(AcceptCommandTest, EverySuiteHasAnAnchorOfItsOwn) {
  accept();
  accept();
  request_.suite = "pr";
  accept();
  EXPECT_TRUE(fs::exists(baselines::anchor_path(stored())));
  EXPECT_FALSE(fs::exists(baselines::anchor_path(stored("pr"))));
}

TEST_F(AcceptCommandTest, StoresForAnotherSuiteWhereNamed) {
  request_.suite = "pr";
  accept();
  EXPECT_EQ(baselines::read_baseline(stored("pr")).run.provenance.suite, "pr");
}

TEST_F(AcceptCommandTest, NeedsASuiteThatCanBeAFilesName) {
  FakeRunFile file;
  file.suite = "";
  EXPECT_THAT(problem(file), HasSubstr("context.fusegate.suite"));
  request_.suite = "../x";
  EXPECT_THAT(problem(), HasSubstr("cannot be a file's name"));
}

TEST_F(AcceptCommandTest, KeepsABaselineOfTheSameEnvironmentWhereAsked) {
  request_.if_missing = true;
  accept();
  EXPECT_THAT(out_.str(), StartsWith("recorded "));
  out_.str("");
  request_.reason = "second";
  accept();
  EXPECT_EQ(out_.str(), "kept " + stored().string() + "\n");
  EXPECT_EQ(baselines::read_baseline(stored()).acceptance.reason, "first on this driver");
  FakeRunFile other;
  other.driver = "999.0";
  accept(other);
  EXPECT_EQ(baselines::read_baseline(stored()).acceptance.reason, "second");
}

TEST_F(AcceptCommandTest, LooksInTheOtherStoresToo) {
  accept();
  request_.stores = {request_.store};
  request_.store = folder_.path() / "local";
  request_.if_missing = true;
  out_.str("");
  accept();
  EXPECT_THAT(out_.str(), StartsWith("kept "));
  EXPECT_FALSE(fs::exists(folder_.path() / "local"));
}

// As in a container: git knows nobody, and no variable names anybody.
TEST_F(AcceptCommandTest, FindsANameWithoutGitAndWithoutVariables) {
  for (const char* name : {"USER", "LOGNAME", "HOME", "XDG_CONFIG_HOME"}) unsetenv(name);
  setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
  setenv("GIT_DIR", folder_.path().c_str(), 1);
  request_.who = "";
  accept();
  const passwd* const login = getpwuid(geteuid());
  EXPECT_EQ(baselines::read_baseline(stored()).acceptance.who,
            login != nullptr ? login->pw_name : fmt::format("user {}", geteuid()));
}

}  // namespace
}  // namespace fusegate::ci
