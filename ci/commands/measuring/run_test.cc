#include <csignal>

#include "baselines/io/write_lock.h"
#include "baselines/record/load_run.h"
#include "ci/commands/measuring/measuring_test.h"
#include "ci/gate/aa_history.h"

namespace fusegate::ci {
namespace {

class RunCommandTest : public CommandTest<RunRequest, run_command> {
 protected:
  RunCommandTest() {
    request_.measuring.suite = "smoke";
    request_.processes.minimum = 3;
    request_.out = {folder_.path() / "run"};
    request_.aa_history = folder_.path() / "aa.jsonl";
    request_.programs = {program("bench", leave_)};
  }

  std::string program(const std::string& name, const std::string& body) {
    return write_script(folder_, name, std::string(kReadFlags) + body);
  }
  RunRecord record(const std::string& name = "run") {
    return read_run_record(folder_.path() / name);
  }

  // A piece of shell: measures well.
  const std::string leave_ =
      fmt::format("leave '{}' \"$out\"\n", folder_.write("prepared", run_file_text({})).string());
};

TEST_F(RunCommandTest, LeavesAFileALogAndARecord) {
  EXPECT_EQ(run(), kNoRegression);
  for (const char* name : {"1.json", "1.log", "2.json", "3.json", "run.json"}) {
    EXPECT_TRUE(fs::exists(folder_.path() / "run" / name)) << name;
  }
  EXPECT_EQ(record().planned_processes, 3);
  EXPECT_EQ(record().processes.size(), 3u);
  EXPECT_TRUE(record().finished);
  EXPECT_THAT(out_.str(), HasSubstr("3 processes of suite smoke in "));
}

TEST_F(RunCommandTest, TakesAProgramAFolderOrOneProgramForAll) {
  request_.out = {folder_.path() / "a", folder_.path() / "b"};
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_TRUE(fs::exists(folder_.path() / "b" / "3.json"));
  request_.out = {folder_.path() / "c", folder_.path() / "d"};
  request_.programs.push_back(program("another", leave_));
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_EQ(record("d").programs, request_.programs);
  EXPECT_EQ(record("d").program, request_.programs[1]);
}

TEST_F(RunCommandTest, RefusesFoldersAndProgramsThatDoNotPair) {
  request_.programs.push_back(request_.programs.front());
  EXPECT_THAT(problem(), HasSubstr("--program: 2 programs for 1 --out folder"));
  request_.out = {folder_.path() / "a", folder_.path() / "b" / ".." / "a"};
  EXPECT_THAT(problem(), HasSubstr("--out: given twice"));
  request_.out = {folder_.path() / "prepared"};
  request_.programs.pop_back();
  EXPECT_THAT(problem(), HasSubstr("not a folder"));
}

TEST_F(RunCommandTest, GoesOnAfterATimeout) {
  request_.measuring.timeout_s = 0.3;
  request_.programs = {program("hanging", leave_ + "[ $process = 1 ] && sleep 60\nexit 0")};
  EXPECT_EQ(run(), kCouldNotJudge);
  EXPECT_EQ(record().processes.size(), 3u);
  EXPECT_THAT(record().processes[0].failure, HasSubstr("stopped after"));
}

TEST_F(RunCommandTest, CountsProcessesWithFailedBenchmarks) {
  const FakeRunFile file{.failures = {{"a/b", "wrong results"}}};
  const auto failing = folder_.write("failing", run_file_text(file)).string();
  request_.programs = {program("bench2", "leave '" + failing + "' \"$out\"; exit 2")};
  EXPECT_EQ(run(), kCouldNotJudge);
  EXPECT_THAT(err_.str(), HasSubstr("fusegate: a/b: failed in 3 of 3 processes: wrong results"));
  EXPECT_THAT(err_.str(), Not(HasSubstr(".json: 1 benchmark failed")));
  EXPECT_THAT(out_.str(), EndsWith(", 3 of them failed\n"));
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
    request_.measuring.earlier = Earlier::kAddedTo;
    EXPECT_THAT(problem(), HasSubstr("writes into this folder now"));
    EXPECT_FALSE(fs::exists(folder_.path() / "run" / "run.json"));
  }
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_FALSE(fs::exists(folder_.path() / "run" / baselines::kLockSuffix));
}

TEST_F(RunCommandTest, AppendsWhereAsked) {
  run();
  request_.measuring.earlier = Earlier::kAddedTo;
  request_.processes.minimum = 2;
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_EQ(record().processes.size(), 5u);
  EXPECT_EQ(record().planned_processes, 5);
  EXPECT_EQ(record().processes.back().file, "5.json");
  EXPECT_THAT(out_.str(), HasSubstr("2 processes of suite smoke"));
  request_.measuring.suite = "pr";
  EXPECT_THAT(problem(), HasSubstr("run.json: suite: the folder has a run of \"smoke\""));
}

TEST_F(RunCommandTest, ExtendsWhatTheNamedBaselineLeavesUndecided) {
  request_.judging.baseline = {write_run(folder_, "base", {})};
  request_.programs = {write_bench(folder_, "noisy", {.noise = {{kFused, 0.05}}})};
  request_.processes.maximum = 5;
  EXPECT_EQ(run(), kNoRegression);
  ASSERT_EQ(record().processes.size(), 5u);
  EXPECT_FALSE(record().processes[2].extension);
  EXPECT_TRUE(record().processes[3].extension);
  EXPECT_EQ(record().planned_processes, 5);
  EXPECT_THAT(read_file(folder_.path() / "calls"),
              HasSubstr("noisy 5 .\n"));  // whole, as the baseline's processes were
}

TEST_F(RunCommandTest, ExtendsByTheStoredBaseline) {
  request_.judging.stores = {folder_.path() / "store"};
  accept(write_run(folder_, "base", {}), request_.judging.stores[0]);
  request_.programs = {write_bench(folder_, "slow", {.file = slowed(2)})};
  request_.processes.maximum = 9;
  EXPECT_EQ(run(), kNoRegression) << "run measures; what it found is for gate to say";
  EXPECT_EQ(record().processes.size(), 6u);
}

TEST_F(RunCommandTest, ExtendsNothingWithoutABaseline) {
  request_.processes.maximum = 9;
  EXPECT_EQ(run(), kNoRegression);
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
  request_.programs = {write_bench(folder_, "bench", {})};
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_THAT(out_.str(), HasSubstr("A/A: 2 benchmarks, none called; so far 0 of 1 comparison"));
  EXPECT_EQ(record().aa->benchmarks, 2);
  EXPECT_EQ(read_aa_history(*request_.aa_history)[0]["processes_a_side"], 2);
  request_.out = {folder_.path() / "again"};
  run();
  EXPECT_THAT(out_.str(), HasSubstr("so far 0 of 2 comparisons"));
  EXPECT_EQ(record("again").aa->comparisons, 2);
}

TEST_F(RunCommandTest, KeepsAnAaRunWhoseHalvesCannotBeCompared) {
  request_.processes.minimum = 4;
  request_.aa = true;
  request_.programs = {program("crashing", "[ $process = 1 ] || kill -SEGV $$\n" + leave_)};
  EXPECT_EQ(run(), kCouldNotJudge);
  EXPECT_THAT(err_.str(), HasSubstr("the A/A comparison is not recorded: A/A: "));
  EXPECT_FALSE(fs::exists(*request_.aa_history));
}

TEST_F(RunCommandTest, RefusesAnAaComparisonThatCouldShowNothing) {
  request_.aa = true;
  EXPECT_THAT(problem(), HasSubstr("--aa: needs --processes 4"));
  request_.out.push_back(folder_.path() / "b");
  EXPECT_THAT(problem(), HasSubstr("--aa: takes one --out folder"));
}

TEST_F(RunCommandTest, ShowsWhatAProgramNotesOnce) {
  request_.programs = {
      program("noting", R"(echo '@fusegate {"event":"note","text":"no suite names a/b"}')"
                        "\n" +
                            leave_)};
  run();
  const std::string note = "note: no suite names a/b\n";
  ASSERT_THAT(err_.str(), HasSubstr(note));
  EXPECT_EQ(err_.str().find(note), err_.str().rfind(note));
}

class RunPeersTest : public RunCommandTest {
 protected:
  RunPeersTest() {
    request_.peers = true;
    peers_are(leave_);
  }

  // In place of peers.py, and the shell in that of Python.
  void peers_are(const std::string& body) {
    const std::string note =
        fmt::format("echo \"$FUSEGATE_BENCH$FUSEGATE_KEEP_CHOICES: $*\" >> '{}'\n",
                    (folder_.path() / "asked").string());
    request_.peers_program = {"sh", program("peers.py", note + body)};
  }
  RunRecord peers() { return record("run-peers"); }
};

TEST_F(RunPeersTest, MeasuresThemAfterEachOfOurOwn) {
  request_.measuring.flags = {"--flag"};
  setenv("FUSEGATE_KEEP_CHOICES", "/ours", 1);  // which they do not get
  EXPECT_EQ(run(), kNoRegression);
  unsetenv("FUSEGATE_KEEP_CHOICES");
  const RunRecord ours = record();
  ASSERT_EQ(peers().processes.size(), 3u);
  EXPECT_TRUE(peers().finished);
  EXPECT_EQ(peers().session, ours.session);
  std::string expected;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(peers().processes[i].block, ours.processes[i].block);
    expected += fmt::format(
        "{}: --suite=smoke --out={}/{}.json --invocation={} --seed={} --progress --flag\n",
        ours.program, (folder_.path() / "run-peers").string(), i + 1, i + 1,
        ours.processes[i].seed);
  }
  EXPECT_EQ(read_file(folder_.path() / "asked"), expected);
  EXPECT_EQ(baselines::load_run({folder_.path() / "run-peers"}).session, ours.session);
  EXPECT_THAT(out_.str(), HasSubstr("3 processes of peers in "));
}

TEST_F(RunPeersTest, GoesOnWithoutThemWhereTheyCannotRun) {
  peers_are("echo 'no torch' >&2; exit 2");
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_EQ(record().processes.size(), 3u);
  EXPECT_EQ(peers().processes.size(), 1u) << "no other would fare better";
  EXPECT_THAT(err_.str(), HasSubstr("leaving peers out: sh: exit code 2: no torch\n"));
}

TEST_F(RunPeersTest, GoesOnWithoutPythonOrTheProgram) {
  request_.peers_program.python = "/nonexistent/python";
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_THAT(err_.str(), HasSubstr("leaving peers out: /nonexistent/python: cannot be started: "));
  request_.out = {folder_.path() / "second"};
  request_.peers_program.script = folder_.path() / "nothing.py";
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_THAT(err_.str(), HasSubstr("nothing.py does not exist\n"));
  EXPECT_EQ(record("second").processes.size(), 3u);
}

TEST_F(RunPeersTest, ReportsACrashAndTriesAgain) {
  peers_are("[ $process = 2 ] && kill -SEGV $$\n" + leave_);
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_EQ(peers().processes.size(), 3u);
  EXPECT_THAT(err_.str(), HasSubstr("peers 2: ended by signal 11"));
  EXPECT_THAT(out_.str(), HasSubstr("2 processes of peers in "));
}

TEST_F(RunPeersTest, EndsInOrderWhenInterruptedInTheirProcess) {
  peers_are(kInterruptedInTheSecond + leave_);
  EXPECT_EQ(run(), kCouldNotJudge);
  EXPECT_EQ(record().processes.size(), 2u);
  EXPECT_EQ(record().processes[1].failure, "");
  EXPECT_FALSE(record().finished);
  EXPECT_EQ(peers().processes[1].failure, "interrupted");
  EXPECT_FALSE(peers().finished);
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
  request_.out.push_back(folder_.path() / "b");
  EXPECT_THAT(problem(), HasSubstr("--peers: takes one --out folder"));
}

TEST_F(RunPeersTest, AddsToAFolderThatSharesNoSessionThen) {
  EXPECT_EQ(run(), kNoRegression);
  fs::remove_all(folder_.path() / "run");
  request_.measuring.earlier = Earlier::kAddedTo;  // ours starts afresh, theirs goes on
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_EQ(peers().processes.size(), 6u);
  EXPECT_NE(record().session, "");
  EXPECT_EQ(peers().session, "");
}

}  // namespace
}  // namespace fusegate::ci
