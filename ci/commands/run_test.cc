#include "baselines/record/run.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <set>

#include "baselines/io/file_io.h"
#include "baselines/io/write_lock.h"
#include "baselines/record/load_run.h"
#include "ci/commands/command_test.h"
#include "ci/gate/aa_history.h"
#include "ci/run/run_record.h"
#include "tests/fakes/fake_bench.h"
#include "tests/fakes/fake_program.h"

namespace fusegate::ci {
namespace {

using tests::FakeRunFile;
using tests::kReadFlags;
using tests::run_file_text;
using tests::write_bench;
using tests::write_run;
using tests::write_script;

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class RunCommandTest : public CommandTest<RunRequest, run_command> {
 protected:
  RunCommandTest() {
    prepared_ = folder_.write("prepared", run_file_text({})).string();
    request_.measuring.suite = "smoke";
    request_.processes.minimum = 3;
    request_.out = {folder_.path() / "run"};
    request_.programs = {good_program()};
  }

  std::string good_program() { return program("bench", "leave '" + prepared_ + "' \"$out\"\n"); }
  // Reports that event of its progress, and measures well.
  std::string reporting(const std::string& event) {
    return program("reporting",
                   "echo '@fusegate " + event + "'\nleave '" + prepared_ + "' \"$out\"\n");
  }
  std::string program(const std::string& name, const std::string& body) {
    return write_script(folder_, name, std::string(kReadFlags) + body);
  }
  RunRecord record(const std::string& name = "run") {
    return read_run_record(folder_.path() / name);
  }

  std::string prepared_;
};

TEST_F(RunCommandTest, LeavesAFileALogAndARecord) {
  EXPECT_EQ(run(), baselines::ExitCode::kNoRegression);
  for (const char* name : {"1.json", "1.log", "2.json", "3.json", "run.json"}) {
    EXPECT_TRUE(fs::exists(folder_.path() / "run" / name)) << name;
  }
  EXPECT_EQ(record().planned_processes, 3);
  EXPECT_EQ(record().processes.size(), 3u);
  EXPECT_TRUE(record().finished);
  EXPECT_THAT(out_.str(), HasSubstr("3 processes of suite smoke in "));
}

TEST_F(RunCommandTest, GivesEveryProcessASeedOfItsOwn) {
  request_.measuring.seed = 5;
  run();
  std::set<std::uint64_t> seeds;
  for (const auto& process : record().processes) seeds.insert(process.seed);
  EXPECT_EQ(seeds.size(), 3u);
}

TEST_F(RunCommandTest, InterleavesSeveralPrograms) {
  const std::string note =
      "echo \"$0\" | sed 's#.*/##' >> '" + folder_.path().string() + "/order'\n";
  const std::string copy = "leave '" + prepared_ + "' \"$out\"\n";
  request_.programs = {program("A", note + copy), program("B", note + copy)};
  request_.out = {folder_.path() / "a", folder_.path() / "b"};
  EXPECT_EQ(run(), baselines::ExitCode::kNoRegression);
  const std::string order = baselines::read_file(folder_.path() / "order");
  EXPECT_TRUE(order.starts_with("A\nB\nB\nA\n") || order.starts_with("B\nA\nA\nB\n")) << order;
  EXPECT_EQ(record("a").processes.size(), 3u);
  EXPECT_EQ(record("b").programs, request_.programs);
  EXPECT_EQ(record("b").program, request_.programs[1]);
}

TEST_F(RunCommandTest, ComparesOneProgramWithItself) {
  request_.out = {folder_.path() / "a", folder_.path() / "b"};
  EXPECT_EQ(run(), baselines::ExitCode::kNoRegression);
  EXPECT_TRUE(fs::exists(folder_.path() / "b" / "3.json"));
}

TEST_F(RunCommandTest, RefusesFoldersAndProgramsThatDoNotPair) {
  request_.programs = {good_program(), good_program()};
  EXPECT_THAT(problem(), HasSubstr("--program: 2 programs for 1 --out folder"));
  request_.out = {folder_.path() / "a", folder_.path() / "b" / ".." / "a"};
  EXPECT_THAT(problem(), HasSubstr("--out: given twice"));
  request_.out = {prepared_};
  request_.programs = {good_program()};
  EXPECT_THAT(problem(), HasSubstr("not a folder"));
}

TEST_F(RunCommandTest, GoesOnAfterACrash) {
  request_.programs = {program("crashing", "leave '" + prepared_ +
                                               "' \"$out\"\n"
                                               "[ $process = 2 ] && kill -SEGV $$\n"
                                               "exit 0")};
  EXPECT_EQ(run(), baselines::ExitCode::kCouldNotJudge);
  EXPECT_EQ(record().processes.size(), 3u);
  EXPECT_EQ(record().processes[1].signal, SIGSEGV);
  EXPECT_TRUE(record().finished);
  EXPECT_THAT(err_.str(), HasSubstr("run/2.json: ended by signal 11"));
  EXPECT_THAT(err_.str(), Not(HasSubstr("run/1.json")));
}

TEST_F(RunCommandTest, GoesOnAfterATimeout) {
  request_.measuring.timeout_s = 0.3;
  request_.programs = {program("hanging", "leave '" + prepared_ +
                                              "' \"$out\"\n"
                                              "[ $process = 1 ] && sleep 60\n"
                                              "exit 0")};
  EXPECT_EQ(run(), baselines::ExitCode::kCouldNotJudge);
  EXPECT_EQ(record().processes.size(), 3u);
  EXPECT_THAT(record().processes[0].failure, HasSubstr("stopped after"));
}

TEST_F(RunCommandTest, GoesOnPastFailedBenchmarksAndCountsThem) {
  FakeRunFile file;
  file.failures = {{"a/b", "wrong results"}};
  const auto failing = folder_.write("failing", run_file_text(file)).string();
  request_.programs = {program("bench2", "leave '" + failing + "' \"$out\"; exit 2")};
  EXPECT_EQ(run(), baselines::ExitCode::kCouldNotJudge);
  EXPECT_EQ(record().processes.size(), 3u);
  EXPECT_THAT(err_.str(), HasSubstr("fusegate: a/b: failed in 3 of 3 processes: wrong results"));
  EXPECT_THAT(err_.str(), Not(HasSubstr(".json: 1 benchmark failed")));
  EXPECT_THAT(out_.str(), HasSubstr("3 processes of suite smoke in "));
  EXPECT_THAT(out_.str(), ::testing::EndsWith(", 3 of them failed\n"));
}

TEST_F(RunCommandTest, StopsAtOnceWhereTheSuiteIsUnknown) {
  request_.programs = {program("refusing", "echo 'suite: unknown' >&2; exit 2")};
  EXPECT_THAT(problem(), HasSubstr("refusing: exit code 2: suite: unknown"));
  EXPECT_EQ(record().processes.size(), 1u);
  EXPECT_FALSE(record().finished);
}

TEST_F(RunCommandTest, StopsAtOnceWhereTheProgramIsMissing) {
  request_.programs = {(folder_.path() / "missing").string()};
  EXPECT_THAT(problem(), HasSubstr("missing: cannot be started: No such file or directory"));
}

TEST_F(RunCommandTest, RefusesAFolderThatHoldsProcesses) {
  run();
  EXPECT_THAT(problem(), HasSubstr("already has processes"));
  EXPECT_EQ(record().processes.size(), 3u);
}

TEST_F(RunCommandTest, RefusesAFolderThatAnotherRunWritesTo) {
  {
    const auto other = baselines::WriteLock::of_folder(request_.out.front(), "--out");
    EXPECT_THAT(problem(), HasSubstr("run: --out: process "));
    request_.append = true;
    EXPECT_THAT(problem(), HasSubstr("writes into this folder now"));
    EXPECT_FALSE(fs::exists(folder_.path() / "run" / "run.json"));
  }
  EXPECT_EQ(run(), baselines::ExitCode::kNoRegression);
  EXPECT_FALSE(fs::exists(folder_.path() / "run" / baselines::kLockSuffix));
}

TEST_F(RunCommandTest, AppendsWhereAsked) {
  run();
  request_.append = true;
  request_.processes.minimum = 2;
  EXPECT_EQ(run(), baselines::ExitCode::kNoRegression);
  EXPECT_EQ(record().processes.size(), 5u);
  EXPECT_EQ(record().planned_processes, 5);
  EXPECT_EQ(record().processes.back().file, "5.json");
  EXPECT_THAT(out_.str(), HasSubstr("2 processes of suite smoke"));
  request_.measuring.suite = "pr";
  EXPECT_THAT(problem(), HasSubstr("run.json: suite: the folder has a run of \"smoke\""));
}

TEST_F(RunCommandTest, StartsNoRoundPastTheBudget) {
  request_.measuring.budget_s = 0.05;
  request_.out = {folder_.path() / "a", folder_.path() / "b"};
  request_.programs = {program("slow", "leave '" + prepared_ + "' \"$out\"; sleep 0.1")};
  EXPECT_EQ(run(), baselines::ExitCode::kNoRegression);
  EXPECT_EQ(record("a").processes.size(), 1u);
  EXPECT_EQ(record("b").processes.size(), 1u);  // a round is never cut in half
  EXPECT_THAT(out_.str(), HasSubstr("time budget"));
}

TEST_F(RunCommandTest, EndsInOrderWhenInterrupted) {
  request_.programs = {
      program("slow", "leave '" + prepared_ +
                          "' \"$out\"\n"
                          "[ $process = 2 ] && { (sleep 0.3; kill -INT $PPID) & exec sleep 60; }\n"
                          "exit 0")};
  EXPECT_EQ(run(), baselines::ExitCode::kCouldNotJudge);
  EXPECT_EQ(record().processes.size(), 2u);
  EXPECT_EQ(record().processes[1].failure, "interrupted");
  EXPECT_FALSE(record().finished);
  EXPECT_THAT(err_.str(), HasSubstr("interrupted; 1 process finished, kept in "));
  EXPECT_THAT(err_.str(), Not(HasSubstr("2.json")));
}

constexpr const char* kFusedOfRun = "geglu/fused/bf16/batch:64/seq:128/dim:768/hidden:3072";

TEST_F(RunCommandTest, ExtendsWhatTheNamedBaselineLeavesUndecided) {
  request_.judging.baseline = {write_run(folder_, "base", {})};
  request_.programs = {write_bench(folder_, "noisy", {.noise = {{kFusedOfRun, 0.05}}})};
  request_.processes.maximum = 5;
  EXPECT_EQ(run(), baselines::ExitCode::kNoRegression);
  ASSERT_EQ(record().processes.size(), 5u);
  EXPECT_FALSE(record().processes[2].extension);
  EXPECT_TRUE(record().processes[3].extension);
  EXPECT_EQ(record().planned_processes, 5);
  EXPECT_THAT(baselines::read_file(folder_.path() / "calls"),
              HasSubstr("noisy 5 .\n"));  // whole, as the baseline's processes were
}

TEST_F(RunCommandTest, ExtendsByTheStoredBaseline) {
  FakeRunFile slowed;
  slowed.times[kFusedOfRun] *= 2;
  const fusegate::baselines::Run stored = baselines::load_run({write_run(folder_, "base", {})});
  const baselines::Baseline baseline{{"me", "2026-11-21T00:00:00+00:00", "first"}, stored};
  request_.judging.stores = {folder_.path() / "store"};
  baselines::write_atomically(
      baselines::baseline_path(request_.judging.stores[0], stored.environment, "smoke"),
      baselines::baseline_text(baseline));
  request_.programs = {write_bench(folder_, "slow", {.file = slowed})};
  request_.processes.maximum = 9;
  EXPECT_EQ(run(),
            baselines::ExitCode::kNoRegression);  // run measures; what it found is for gate to say
  EXPECT_EQ(record().processes.size(), 6u);
  EXPECT_THAT(baselines::read_file(folder_.path() / "calls"), HasSubstr("slow 6 .\n"));
}

TEST_F(RunCommandTest, ExtendsNothingWithoutABaseline) {
  request_.processes.maximum = 9;
  EXPECT_EQ(run(), baselines::ExitCode::kNoRegression);
  EXPECT_EQ(record().processes.size(), 3u);
  EXPECT_THAT(err_.str(), HasSubstr("measuring no further: "));
  EXPECT_THAT(err_.str(), HasSubstr("no baseline of suite smoke is stored for nvidia-h200"));
}

TEST_F(RunCommandTest, RefusesABaselineThatIsNoneBeforeItMeasures) {
  request_.processes.maximum = 9;
  request_.judging.baseline = {folder_.path() / "missing"};
  EXPECT_THAT(problem(), HasSubstr("missing"));
  EXPECT_FALSE(fs::exists(folder_.path() / "run"));
}

TEST_F(RunCommandTest, ComparesTheHalvesOfAnAaRun) {
  request_.processes.minimum = 5;
  request_.aa = true;
  request_.aa_history = folder_.path() / "aa.jsonl";
  request_.programs = {write_bench(folder_, "bench", {})};
  EXPECT_EQ(run(), baselines::ExitCode::kNoRegression);
  EXPECT_THAT(out_.str(), HasSubstr("A/A: 2 benchmarks, none called; so far 0 of 1 comparison"));
  EXPECT_EQ(record().aa->benchmarks, 2);
  EXPECT_EQ(read_aa_history(*request_.aa_history)[0].processes_a_side, 2);
  request_.out = {folder_.path() / "again"};
  run();
  EXPECT_THAT(out_.str(), HasSubstr("so far 0 of 2 comparisons"));
  EXPECT_EQ(record("again").aa->comparisons, 2);
}

TEST_F(RunCommandTest, KeepsAnAaRunWhoseHalvesCannotBeCompared) {
  request_.processes.minimum = 4;
  request_.aa = true;
  request_.aa_history = folder_.path() / "aa.jsonl";
  request_.programs = {
      program("crashing", "[ $process = 1 ] || kill -SEGV $$\nleave '" + prepared_ + "' \"$out\"")};
  EXPECT_EQ(run(), baselines::ExitCode::kCouldNotJudge);
  EXPECT_THAT(err_.str(), HasSubstr("the A/A comparison is not recorded: A/A: "));
  EXPECT_FALSE(fs::exists(*request_.aa_history));
}

TEST_F(RunCommandTest, RefusesAnAaComparisonThatCouldShowNothing) {
  request_.aa = true;
  EXPECT_THAT(problem(), HasSubstr("--aa: needs --processes 4"));
  request_.processes.minimum = 4;
  request_.out = {folder_.path() / "a", folder_.path() / "b"};
  EXPECT_THAT(problem(), HasSubstr("--aa: takes one --out folder"));
}

TEST_F(RunCommandTest, ShowsFailuresAsTheyHappen) {
  request_.processes.minimum = 1;
  request_.programs = {
      reporting(R"({"event":"benchmark","index":1,"total":1,"benchmark":"a","failure":"threw"})")};
  run();
  EXPECT_THAT(err_.str(), HasSubstr("a failed: threw"));
}

TEST_F(RunCommandTest, ShowsWhatAProgramNotesOnce) {
  request_.processes.minimum = 2;
  request_.programs = {reporting(R"({"event":"note","text":"no suite names a/b"})")};
  run();
  const std::string note = "note: no suite names a/b\n";
  ASSERT_THAT(err_.str(), HasSubstr(note));
  EXPECT_EQ(err_.str().find(note), err_.str().rfind(note));
}

class RunPeersTest : public RunCommandTest {
 protected:
  RunPeersTest() {
    FakeRunFile file;
    file.times = {{"geglu/liger/bf16/batch:64/seq:128/dim:768/hidden:3072", 30000}};
    copy_ = fmt::format("leave '{}' \"$out\"\n",
                        folder_.write("peers-prepared", run_file_text(file)).string());
    request_.peers = true;
    peers_are(copy_);
  }

  // In place of peers.py, and the shell in that of Python.
  void peers_are(const std::string& body) {
    const std::string note =
        fmt::format("echo \"$FUSEGATE_BENCH: $*\" >> '{}'\n", (folder_.path() / "asked").string());
    request_.peers_program = {"sh", program("peers.py", note + body)};
  }

  std::string copy_;
};

TEST_F(RunPeersTest, MeasuresThemAfterEachOfOurOwn) {
  request_.measuring.flags = {"--flag"};
  EXPECT_EQ(run(), baselines::ExitCode::kNoRegression) << err_.str();
  const RunRecord ours = record();
  const RunRecord peers = record("run-peers");
  ASSERT_EQ(peers.processes.size(), 3u);
  EXPECT_TRUE(peers.finished);
  EXPECT_EQ(peers.session, ours.session);
  std::string expected;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(peers.processes[i].block, ours.processes[i].block);
    expected += fmt::format(
        "{}: --suite=smoke --out={}/{}.json --invocation={} --seed={} --progress --flag\n",
        ours.program, (folder_.path() / "run-peers").string(), i + 1, i + 1,
        ours.processes[i].seed);
  }
  EXPECT_EQ(baselines::read_file(folder_.path() / "asked"), expected);
  EXPECT_EQ(baselines::load_run({folder_.path() / "run-peers"}).session, ours.session);
  EXPECT_THAT(out_.str(), HasSubstr("3 processes of peers in "));
}

TEST_F(RunPeersTest, GoesOnWithoutThemWhereTheyCannotRun) {
  peers_are("echo 'no torch' >&2; exit 2");
  EXPECT_EQ(run(), baselines::ExitCode::kNoRegression);
  EXPECT_EQ(record().processes.size(), 3u);
  EXPECT_EQ(record("run-peers").processes.size(), 1u);  // no other would fare better
  EXPECT_THAT(err_.str(), HasSubstr("leaving peers out: sh: exit code 2: no torch\n"));
}

TEST_F(RunPeersTest, GoesOnWithoutPythonOrTheProgram) {
  request_.peers_program.python = "/nonexistent/python";
  EXPECT_EQ(run(), baselines::ExitCode::kNoRegression);
  EXPECT_THAT(err_.str(), HasSubstr("leaving peers out: /nonexistent/python: cannot be started: "));
  request_.out = {folder_.path() / "second"};
  request_.peers_program.script = folder_.path() / "nothing.py";
  EXPECT_EQ(run(), baselines::ExitCode::kNoRegression);
  EXPECT_THAT(err_.str(), HasSubstr("nothing.py does not exist\n"));
  EXPECT_EQ(record("second").processes.size(), 3u);
}

TEST_F(RunPeersTest, ReportsACrashAndTriesAgain) {
  peers_are("[ $process = 2 ] && kill -SEGV $$\n" + copy_);
  EXPECT_EQ(run(), baselines::ExitCode::kNoRegression);
  EXPECT_EQ(record("run-peers").processes.size(), 3u);
  EXPECT_THAT(err_.str(), HasSubstr("peers 2: ended by signal 11"));
  EXPECT_THAT(out_.str(), HasSubstr("2 processes of peers in "));
}

TEST_F(RunPeersTest, EndsInOrderWhenInterruptedInTheirProcess) {
  peers_are("[ $process = 2 ] && { (sleep 0.3; kill -INT $PPID) & exec sleep 60; }\n" + copy_);
  EXPECT_EQ(run(), baselines::ExitCode::kCouldNotJudge);
  EXPECT_EQ(record().processes.size(), 2u);
  EXPECT_EQ(record().processes[1].failure, "");
  EXPECT_FALSE(record().finished);
  EXPECT_EQ(record("run-peers").processes[1].failure, "interrupted");
  EXPECT_FALSE(record("run-peers").finished);
}

TEST_F(RunPeersTest, RefusesFoldersThatWouldMix) {
  request_.peers_out = folder_.path() / "run" / ".";
  EXPECT_THAT(problem(), HasSubstr("--peers-out: is the --out folder"));
  folder_.write("old/1.json", "{}");
  request_.peers_out = folder_.path() / "old";
  EXPECT_THAT(problem(), HasSubstr("--peers-out: the folder already has processes"));
  request_.peers = false;
  EXPECT_THAT(problem(), HasSubstr("--peers-out: needs --peers"));
  request_.peers = true;
  request_.out = {folder_.path() / "a", folder_.path() / "b"};
  EXPECT_THAT(problem(), HasSubstr("--peers: takes one --out folder"));
}

TEST_F(RunPeersTest, AddsToAFolderThatSharesNoSessionThen) {
  EXPECT_EQ(run(), baselines::ExitCode::kNoRegression);
  fs::remove_all(folder_.path() / "run");
  request_.append = true;  // ours starts afresh, theirs goes on
  EXPECT_EQ(run(), baselines::ExitCode::kNoRegression);
  EXPECT_EQ(record("run-peers").processes.size(), 6u);
  EXPECT_NE(record().session, "");
  EXPECT_EQ(record("run-peers").session, "");
}

}  // namespace
}  // namespace fusegate::ci
