#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/write_lock.h"
#include "ci/commands/commands.h"
#include "ci/run/run_record.h"
#include "tests/fakes/fake_bench.h"

namespace fusegate::ci {
namespace {

using tests::FakeBench;
using tests::FakeRunFile;
using tests::write_bench;
using tests::write_script;

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kFusedOfJob = "geglu/fused/bf16/batch:64/seq:128/dim:768/hidden:3072";

class JobCommandTest : public ::testing::Test {
 protected:
  JobCommandTest() {
    setenv("FUSEGATE_PYTHON", "/bin/false", 1);  // pages are drawn elsewhere
    request_.folder = folder_.path() / "kept";
    request_.judging.stores = {folder_.path() / "stored", request_.folder / "baselines"};
    request_.aa_history = folder_.path() / "aa.jsonl";
    request_.program = write_bench(folder_, "bench", {});
    request_.who = "somebody";
    request_.processes.minimum = 4;
  }
  ~JobCommandTest() override { unsetenv("FUSEGATE_PYTHON"); }

  baselines::ExitCode job() {
    out_.str("");
    err_.str("");
    Console console{out_, err_};
    return job_command(request_, console);
  }
  fs::path latest(const std::string& name) const {
    return request_.folder / "reports" / "latest" / name;
  }
  nlohmann::json verdict() const {
    return nlohmann::json::parse(baselines::read_file(latest("gate.json")));
  }
  // Of the last job's run of that name.
  RunRecord record(const std::string& run) const {
    const fs::path time = fs::read_symlink(request_.folder / "reports" / "latest");
    return read_run_record(request_.folder / "runs" / time / run);
  }
  // As where a baseline came from elsewhere.
  void forget_program() const { fs::remove_all(request_.folder / "programs"); }
  std::string slowed_bench() {
    FakeBench bench{.phase = 1};
    bench.file.times[kFusedOfJob] *= 1.2;
    return write_bench(folder_, "slowed", bench);
  }

  baselines::ScratchFolder folder_;
  JobRequest request_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(JobCommandTest, WhereNobodyHasABaselineTwoRunsAreMeasuredInTurnAndTheFirstIsKept) {
  EXPECT_EQ(job(), baselines::ExitCode::kNoRegression) << out_.str() << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("] measuring first and second: suite smoke, 4 processes each"));
  EXPECT_THAT(out_.str(), HasSubstr("] baseline: recorded "));
  EXPECT_THAT(out_.str(), HasSubstr("slowdowns above 0.5 % are ruled out in all"));
  EXPECT_TRUE(fs::exists(latest("gate.json")));
  EXPECT_TRUE(fs::exists(latest("gate.md")));
}

TEST_F(JobCommandTest, ABaselineThatItRecordedIsReplayedByTheProgramThatMadeIt) {
  job();
  const std::string made = baselines::read_file(request_.program);
  request_.program = slowed_bench();
  EXPECT_EQ(job(), baselines::ExitCode::kRegression) << out_.str() << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("] replaying the baseline: "));
  EXPECT_EQ(baselines::read_file(record("base").program), made);
  EXPECT_THAT(record("base").program, StartsWith(request_.folder.string()));
  EXPECT_EQ(verdict()["replay"]["rows"].size(), 2u);
  EXPECT_FALSE(fs::exists(folder_.path() / "checkout")) << "nothing was built";
}

TEST_F(JobCommandTest, TakesNewBenchmarksIntoTheBaselineOfThisMachine) {
  job();
  FakeBench more{.phase = 1};
  more.file.times["geglu/new/bf16/batch:64/seq:128/dim:768/hidden:3072"] = 30000;
  request_.program = write_bench(folder_, "more", more);
  EXPECT_EQ(job(), baselines::ExitCode::kNoRegression) << out_.str() << err_.str();
  EXPECT_EQ(verdict()["counts"]["new"], 1);
  EXPECT_THAT(out_.str(), HasSubstr("] recording the baseline of this machine again, with 1 new "
                                    "benchmark"));
  EXPECT_EQ(job(), baselines::ExitCode::kNoRegression) << out_.str() << err_.str();
  EXPECT_EQ(verdict()["counts"]["new"], 0);
  EXPECT_THAT(out_.str(), Not(HasSubstr("recording the baseline")));
}

TEST_F(JobCommandTest, WaitsUntilAnotherJobHasKeptItsProgram) {
  const fs::path theirs = request_.folder / "programs" / "local" / ".unfinished";
  fs::create_directories(theirs);
  std::optional<baselines::WriteLock> lock = baselines::WriteLock::of_file(theirs);
  auto mine = std::async(std::launch::async, [&] { return job(); });
  // Its program is what it keeps right after its baseline.
  using std::chrono::milliseconds;
  const fs::path baselines = request_.folder / "baselines";
  while (!fs::exists(baselines) && mine.wait_for(milliseconds(10)) != std::future_status::ready) {
  }
  EXPECT_EQ(mine.wait_for(milliseconds(500)), std::future_status::timeout);
  EXPECT_TRUE(fs::exists(theirs)) << "what the other one copies to";
  lock.reset();
  EXPECT_EQ(mine.get(), baselines::ExitCode::kNoRegression) << out_.str() << err_.str();
  EXPECT_FALSE(fs::exists(theirs));
}

TEST_F(JobCommandTest, ABaselineOfAnotherRunIsNotReplayedByTheKeptProgram) {
  job();
  FakeBench another{.phase = 1};
  another.file.date = "2026-11-22T10:00:00+00:00";
  request_.program = write_bench(folder_, "another", another);
  job();
  AcceptRequest accept;
  accept.runs = {request_.folder / "runs" /
                 fs::read_symlink(request_.folder / "reports" / "latest") / "head"};
  accept.reason = "another";
  accept.who = "somebody";
  accept.store = request_.folder / "baselines";
  Console console{out_, err_};
  accept_command(accept, console);
  request_.program = write_bench(folder_, "again", {.phase = 1});
  EXPECT_EQ(job(), baselines::ExitCode::kNoRegression) << out_.str() << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("] measuring first: "));
}

TEST_F(JobCommandTest, EachOfThoseThatStartAtOnceHasAFolderOfItsOwn) {
  request_.program = (folder_.path() / "missing").string();
  {
    std::vector<std::jthread> jobs;
    for (int i = 0; i < 6; ++i) {
      jobs.emplace_back([this] {
        std::ostringstream out;
        Console console{out, out};
        EXPECT_EQ(job_command(request_, console), baselines::ExitCode::kCouldNotJudge);
      });
    }
  }
  for (const char* kept : {"runs", "reports"}) {
    const fs::directory_iterator folders(request_.folder / kept);
    EXPECT_EQ(std::count_if(begin(folders), end(folders),
                            [](const auto& entry) { return !entry.is_symlink(); }),
              6)
        << kept;
  }
  EXPECT_EQ(verdict()["exit_code"], 2);
}

TEST_F(JobCommandTest, RemovesWhatAKilledOneLeftBehind) {
  const fs::path left = request_.folder / "runs" / "then" / "first" / ".1.json.fusegate-AbCdEf";
  folder_.write(fs::relative(left, folder_.path()).string(), "half");
  job();
  EXPECT_FALSE(fs::exists(left));
}

TEST_F(JobCommandTest, TheBaselineOfABusyMachineSaysSo) {
  job();
  EXPECT_THAT(out_.str(), Not(HasSubstr("busy machine")));
  fs::remove_all(request_.folder);
  FakeBench busy;
  busy.file.doubts = {"busy_host"};
  request_.program = write_bench(folder_, "busy", busy);
  job();
  EXPECT_THAT(out_.str(), HasSubstr("] the baseline is of a busy machine: Other work ran"));
}

TEST_F(JobCommandTest, WithABaselineWhoseProgramIsGoneItMeasuresOnce) {
  job();
  forget_program();
  request_.program = write_bench(folder_, "again", {.phase = 1});
  EXPECT_EQ(job(), baselines::ExitCode::kNoRegression) << out_.str() << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("] measuring first: "));
  EXPECT_THAT(out_.str(), HasSubstr("] baseline: kept "));
  EXPECT_THAT(out_.str(), Not(HasSubstr("second")));
}

TEST_F(JobCommandTest, WhereOnlyOtherDevicesHaveABaselineASecondRunFollows) {
  fs::create_directories(folder_.path() / "stored" / "other-device");
  baselines::write_atomically(folder_.path() / "stored" / "other-device" / "smoke.json", "{}");
  EXPECT_EQ(job(), baselines::ExitCode::kNoRegression) << out_.str() << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("] measuring first: "));
  EXPECT_THAT(out_.str(), HasSubstr("] measuring second: "));
}

TEST_F(JobCommandTest, ARegressionEndsWithOne) {
  job();
  request_.program = slowed_bench();
  EXPECT_EQ(job(), baselines::ExitCode::kRegression) << out_.str() << err_.str();
}

TEST_F(JobCommandTest, ARequiredBaselineIsNeverRecorded) {
  request_.require_baseline = true;
  EXPECT_EQ(job(), baselines::ExitCode::kCouldNotJudge);
  EXPECT_FALSE(fs::exists(request_.folder / "baselines"));
  EXPECT_EQ(verdict()["exit_code"], 2);
}

TEST_F(JobCommandTest, ARunThatFailsIsJudgedAndNeverPassesNorBecomesABaseline) {
  job();
  forget_program();
  fs::remove_all(folder_.path() / "aa.jsonl");
  FakeBench bench;
  bench.more = "case $out in */2.json) exit 3 ;; esac\n";
  request_.program = write_bench(folder_, "failing", bench);
  EXPECT_EQ(job(), baselines::ExitCode::kCouldNotJudge) << out_.str() << err_.str();
  EXPECT_THAT(err_.str(), HasSubstr("some processes failed"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("baseline: ")));
}

TEST_F(JobCommandTest, AProgramThatEndsWithZeroBeforeItFinishedIsNoBaseline) {
  FakeBench bench;
  bench.file.finished = false;
  request_.program = write_bench(folder_, "leaving", bench);
  EXPECT_EQ(job(), baselines::ExitCode::kCouldNotJudge) << out_.str() << err_.str();
  EXPECT_THAT(err_.str(), HasSubstr("1.json: ended with exit code 0 before it finished"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("baseline: ")));
  EXPECT_FALSE(fs::exists(request_.folder / "baselines"));
}

TEST_F(JobCommandTest, ARegressionStaysOneWhereARunFailed) {
  request_.processes.minimum = 5;
  job();
  forget_program();
  FakeBench bench{.phase = 1, .more = "[ $process != 2 ]"};
  bench.file.times[kFusedOfJob] *= 1.2;
  request_.program = write_bench(folder_, "failing", bench);
  EXPECT_EQ(job(), baselines::ExitCode::kRegression) << out_.str() << err_.str();
  EXPECT_THAT(err_.str(), HasSubstr("some processes failed"));
}

TEST_F(JobCommandTest, WhereNothingCanBeMeasuredTheFilesSayWhy) {
  const std::string well = request_.program;
  const std::string missing = (folder_.path() / "missing").string();
  for (const auto& [program, base] : {std::pair{missing, std::string()}, {missing, well}}) {
    request_.program = program;
    request_.base = base;
    EXPECT_EQ(job(), baselines::ExitCode::kCouldNotJudge);
    EXPECT_EQ(verdict()["exit_code"], 2);
    EXPECT_THAT(verdict()["headline"], HasSubstr("missing: cannot be started"));
    EXPECT_THAT(baselines::read_file(latest("gate.md")), HasSubstr("cannot be started"));
    EXPECT_THAT(err_.str(), HasSubstr("cannot be started"));
  }
}

TEST_F(JobCommandTest, APageThatCannotBeDrawnDoesNotChangeTheVerdict) {
  EXPECT_EQ(job(), baselines::ExitCode::kNoRegression);
  EXPECT_THAT(err_.str(), HasSubstr("no HTML report, which does not change the verdict"));
  request_.program = slowed_bench();
  EXPECT_EQ(job(), baselines::ExitCode::kRegression);
  EXPECT_THAT(err_.str(), HasSubstr("no HTML report, which does not change the verdict"));
}

TEST_F(JobCommandTest, ThePageIsDrawnOfTheVerdict) {
  const std::string python = write_script(folder_, "python", "cat\n");  // the document itself
  setenv("FUSEGATE_PYTHON", python.c_str(), 1);
  const auto page = [&] {
    return nlohmann::json::parse(baselines::read_file(latest("report.html")));
  };
  job();
  EXPECT_EQ(page()["title"], "fusegate report");
  EXPECT_THAT(page().dump(), HasSubstr("slowdowns above 0.5 % are ruled out in all"));
  EXPECT_THAT(out_.str(), HasSubstr("wrote "));
  request_.require_baseline = true;
  request_.judging.stores.clear();
  job();
  EXPECT_THAT(page().dump(), HasSubstr(kFusedOfJob));
  request_.require_baseline = false;
  request_.base = request_.program;
  job();
  EXPECT_EQ(page()["title"], "fusegate duet");
}

TEST_F(JobCommandTest, SplitsOneRunOfFourProcessesForItsAaComparison) {
  job();
  forget_program();
  EXPECT_FALSE(record("first").aa.has_value());  // two runs in turn
  request_.processes.minimum = 3;
  job();
  EXPECT_FALSE(record("first").aa.has_value());
  request_.processes.minimum = 4;
  job();
  EXPECT_THAT(out_.str(), HasSubstr("A/A: "));
  EXPECT_TRUE(record("first").aa.has_value());
  request_.judging.stores = {request_.folder = folder_.path() / "new"};
  job();
  EXPECT_FALSE(record("first").aa.has_value());  // two runs in turn, of four
  EXPECT_FALSE(record("second").aa.has_value());
}

TEST_F(JobCommandTest, WhatIsSuspiciousIsMeasuredAgainWhereItIsAllowed) {
  job();
  forget_program();
  request_.program = slowed_bench();
  job();
  EXPECT_EQ(record("first").processes.size(), 4u);
  request_.processes.maximum = 6;
  job();
  EXPECT_EQ(record("first").processes.size(), 6u);
  request_.base = request_.program;
  request_.program = write_bench(folder_, "slower", [] {
    FakeBench bench{.phase = 2};
    bench.file.times[kFusedOfJob] *= 2;
    return bench;
  }());
  job();
  EXPECT_EQ(record("head").processes.size(), 6u);
  request_.processes.maximum = 4;
  job();
  EXPECT_EQ(record("head").processes.size(), 4u);
}

// A suite of a CPU, in which kFused takes three times its 20 us in these processes of the second
// run.
FakeBench slow_in(const std::string& processes) {
  FakeBench bench;
  bench.file.protocol = {{"min_effect", 0.1}, {"allow", 0.2}};
  for (int i = 0; i < 24; ++i) bench.file.times[fmt::format("linear/addmm/{}", i)] = 60000;
  bench.more = "case $out in */second/" + processes + R"(.json)
    sed -i 's/"real_time":2/"real_time":6/g; s/"real_time":1/"real_time":5/g' "$out" ;;
esac)";
  return bench;
}

TEST_F(JobCommandTest, AFirstJobMeasuresAgainWhatOneSlowProcessLeavesUndecided) {
  request_.processes.minimum = 6;
  request_.program = write_bench(folder_, "disturbed", slow_in("4"));
  EXPECT_EQ(job(), baselines::ExitCode::kNoRegression) << out_.str() << err_.str();
  EXPECT_GT(record("second").processes.size(), 6u);
  EXPECT_EQ(record("first").processes.size(), record("second").processes.size());
  EXPECT_THAT(err_.str(), HasSubstr("extension 1: 1 of 26 benchmarks"));
}

TEST_F(JobCommandTest, AFirstJobThatMeasuresAgainStillFindsARegression) {
  request_.processes.minimum = 6;
  request_.program = write_bench(folder_, "slower", slow_in("*"));
  EXPECT_EQ(job(), baselines::ExitCode::kRegression) << out_.str() << err_.str();
  EXPECT_GT(record("second").processes.size(), 6u) << "it is confirmed";
}

TEST_F(JobCommandTest, AFirstJobMeasuresNothingAgainOnRequest) {
  request_.processes.minimum = request_.processes.maximum.emplace(6);
  request_.program = write_bench(folder_, "disturbed", slow_in("4"));
  EXPECT_EQ(job(), baselines::ExitCode::kCouldNotJudge) << out_.str() << err_.str();
  EXPECT_EQ(record("second").processes.size(), 6u);
}

TEST_F(JobCommandTest, ABudgetEndsTheMeasuring) {
  request_.measuring.budget_s = 1e-6;
  EXPECT_EQ(job(), baselines::ExitCode::kCouldNotJudge);
  EXPECT_EQ(record("second").processes.size(), 1u);
  request_.base = request_.program;
  EXPECT_EQ(job(), baselines::ExitCode::kCouldNotJudge);
  EXPECT_EQ(record("head").processes.size(), 1u);
}

TEST_F(JobCommandTest, ItsClockStartsOnRequest) {
  request_.started_s = 100;
  job();
  EXPECT_THAT(out_.str(), StartsWith("[ 100 s] measuring first and second"));
}

TEST_F(JobCommandTest, ABaseIsMeasuredSideBySide) {
  request_.base = write_bench(folder_, "base", {});
  request_.processes.minimum = 5;
  request_.program = slowed_bench();
  EXPECT_EQ(job(), baselines::ExitCode::kRegression) << out_.str() << err_.str();
  EXPECT_TRUE(fs::exists(latest("gate.json")));
  EXPECT_FALSE(fs::exists(request_.folder / "baselines"));
}

TEST_F(JobCommandTest, AReplayMeasuresTheProgramOfTheStoredBaseline) {
  request_.replay = true;
  request_.checkout = folder_.path() / "checkout";
  request_.processes.minimum = 5;
  EXPECT_EQ(job(), baselines::ExitCode::kNoRegression) << out_.str() << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("no baseline is stored that could be replayed"));
  EXPECT_EQ(record("second").processes.size(), 5u);
  forget_program();
  const std::string base = request_.program;
  fs::create_directories(folder_.path() / "checkout" / "ci" / "pipelines");
  write_script(folder_, "checkout/ci/pipelines/build_commit.sh", "echo '" + base + "'");
  request_.program = slowed_bench();
  EXPECT_EQ(job(), baselines::ExitCode::kRegression) << out_.str() << err_.str();
  EXPECT_EQ(record("base").program, base);
  EXPECT_EQ(verdict()["replay"]["rows"].size(), 2u);
}

TEST_F(JobCommandTest, WhatRunsTheBaselinesCodeIsNotMeasuredAndBecomesNoBaseline) {
  FakeBench identified{.file = {.times = {}}};
  for (int i = 1; i <= 30; ++i) {
    identified.file.times[fmt::format("a{:02}", i)] = 20000;
    identified.file.codes[fmt::format("a{:02}", i)] = "0f";
  }
  request_.program = write_bench(folder_, "identified", identified);
  EXPECT_EQ(job(), baselines::ExitCode::kNoRegression) << out_.str() << err_.str();
  EXPECT_THAT(out_.str(),
              Not(HasSubstr("benchmarks run identical code:")));  // the first run is a baseline
  forget_program();
  EXPECT_EQ(job(), baselines::ExitCode::kNoRegression) << out_.str() << err_.str();
  EXPECT_THAT(
      out_.str(),
      HasSubstr("30 of 30 benchmarks run identical code: measuring 24 of them as controls"));
  EXPECT_THAT(out_.str(), HasSubstr("note       6 of 30 benchmarks were not measured"));
  AcceptRequest accept;
  accept.runs = {request_.folder / "runs" /
                 fs::read_symlink(request_.folder / "reports" / "latest") / "first"};
  accept.reason = "none";
  accept.who = "somebody";
  accept.store = folder_.path() / "stored";
  Console console{out_, err_};
  EXPECT_THAT([&] { accept_command(accept, console); },
              testing::ThrowsMessage<baselines::InputError>(HasSubstr(
                  "6 of 30 benchmarks were not measured: identical code; --all measures ")));
  out_.str("");
  show_command(ShowRequest{.paths = accept.runs}, console);
  EXPECT_THAT(out_.str(), HasSubstr("note: 6 of 30 benchmarks were not measured"));
  request_.measuring.measures_all = true;
  identified.phase = 1;
  request_.program = write_bench(folder_, "again", identified);
  EXPECT_EQ(job(), baselines::ExitCode::kNoRegression) << out_.str() << err_.str();
  EXPECT_THAT(out_.str(), Not(HasSubstr("benchmarks run identical code:")));
}

TEST_F(JobCommandTest, FailsForHostTimesWhereAskedTo) {
  FakeRunFile file;
  for (const auto& [name, time_ns] : file.times) file.host_ns[name] = 9100;
  const std::string base = write_bench(folder_, "base-bench", {.file = file});
  file.host_ns[kFusedOfJob] = 29200;
  request_.program = write_bench(folder_, "head-bench", {.file = file, .phase = 1});
  request_.base = base;
  EXPECT_EQ(job(), baselines::ExitCode::kNoRegression) << out_.str() << err_.str();
  EXPECT_EQ(verdict()["host_times"]["changes"][0]["benchmark"], kFusedOfJob);
  request_.judging.fail_on_host = true;
  EXPECT_EQ(job(), baselines::ExitCode::kRegression) << out_.str() << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("1 benchmark takes the host longer to launch, the most "));
}

TEST_F(JobCommandTest, WhatFailsForKernelsNeedsProfiles) {
  request_.base = write_bench(folder_, "base-bench", {});
  request_.program = write_bench(folder_, "head-bench", {.phase = 1});
  request_.judging.fail_on_changed_kernels = true;
  EXPECT_EQ(job(), baselines::ExitCode::kCouldNotJudge) << out_.str() << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("a run has no profiles"));
}

}  // namespace
}  // namespace fusegate::ci
