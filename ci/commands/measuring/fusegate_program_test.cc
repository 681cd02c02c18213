// The built program from end to end.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "ci/commands/measuring/program_test.h"

namespace fusegate::ci {
namespace {

TEST_F(ProgramTest, MeasuresAcceptsAndPassesUnchangedCode) {
  const std::string bench = program("bench", {});
  const Ended first =
      fusegate({"run", "--suite", "smoke", "--program", bench, "--out", path("first")});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(fusegate({"accept", path("first"), "--reason", "first", "--who", "me", "--store",
                      path("store")})
                .code,
            0);
  FakeRunFile later;
  for (auto& [name, time_ns] : later.times) time_ns *= 1.0001;
  EXPECT_EQ(fusegate({"run", "--suite", "smoke", "--program", program("later", later), "--out",
                      path("second")})
                .code,
            0);
  const Ended gated = fusegate({"gate", "--candidate", path("second"), "--store", path("store")});
  EXPECT_EQ(gated.code, 0) << gated.out << gated.err;
  EXPECT_THAT(gated.out, StartsWith("No regression"));
}

TEST_F(ProgramTest, FailsSlowedCodeAndNamesItsBenchmarksAlone) {
  const Ended measured =
      fusegate({"run", "--suite", "smoke", "--program", program("a", {}), "--out", path("base"),
                "--program", program("b", slowed(1.05)), "--out", path("head")});
  EXPECT_EQ(measured.code, 0) << measured.err;
  const Ended gated = gate(path("head"));
  EXPECT_EQ(gated.code, 1) << gated.out << gated.err;
  expect_one_regression();
}

TEST_F(ProgramTest, ShowsARunAndWhatDidNotFinishByRequestAlone) {
  write_run(folder_, "run", {}, 2);
  const std::string third = folder_.write("run/3.json", run_file_text({.finished = false}));
  const Ended shown = fusegate({"show", path("run")});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("TFLOP/s"), HasSubstr(kFused)));
  EXPECT_THAT(shown.out, HasSubstr(": 2 processes on"));
  EXPECT_THAT(shown.out, HasSubstr("note: 1 process did not finish and is left out: " + third));
  expect_error(fusegate({"show", third}), {"no finished ", third});
  const Ended asked = fusegate({"show", "--unfinished", path("run")});
  EXPECT_THAT(asked.out, HasSubstr(": 3 processes on"));
  EXPECT_THAT(asked.out, HasSubstr("counts (--unfinished): " + third));
}

TEST_F(ProgramTest, ReportsInMarkdownARunOrAStoredBaselineByItself) {
  write_run(folder_, "run", {});
  const Ended of_run = report("run", {"--title", "A title"});
  EXPECT_EQ(of_run.code, 0) << of_run.err;
  EXPECT_THAT(of_run.out, StartsWith("## A title\n"));
  ASSERT_EQ(fusegate({"accept", path("run"), "--store", path("store"), "--reason", "first"}).code,
            0);
  const std::string stored = "store/nvidia-h200/smoke.json";
  const Ended of_stored = report(stored);
  EXPECT_EQ(of_stored.code, 0) << of_stored.err;
  EXPECT_THAT(of_stored.out, HasSubstr(kFused));
  EXPECT_EQ(fusegate({"gate", "--candidate", path(stored), "--store", path("store")}).code, 2);
}

TEST_F(ProgramTest, ReportsTheBestOfSeveralPeersRunsBesideOurs) {
  write_run(folder_, "run", {});
  FakeRunFile file;
  for (const auto& [name, time_ns] : {std::pair{"liger", 25000.0}, {"quack", 21000.0}}) {
    file.times = {
        {fmt::format("geglu/{}/bf16/batch:64/seq:128/dim:768/hidden:3072", name), time_ns}};
    write_run(folder_, name, file);
  }
  const Ended both = report("run", {"--peers", path("liger"), path("quack")});
  EXPECT_EQ(both.code, 0) << both.err;
  EXPECT_THAT(both.out, HasSubstr("| 20.00 us | `fused` | 21.00 us | `quack` | 0.952 |"));
  EXPECT_THAT(both.out, HasSubstr("| 20.00 us | 25.00 us | 21.00 us |"));
  EXPECT_THAT(both.out, HasSubstr("| 60.00 us | `addmm` | no peer |  | - |"));
  EXPECT_THAT(both.out, HasSubstr("no copy control in this run"));
  file.driver = "570.1";
  std::vector<std::string> elsewhere{"--peers", write_run(folder_, "elsewhere", file)};
  expect_error(report("run", elsewhere), {"environment.driver", "--allow-environment-difference"});
  elsewhere.push_back("--allow-environment-difference");
  const Ended allowed = report("run", elsewhere);
  EXPECT_EQ(allowed.code, 0) << allowed.err;
  EXPECT_THAT(allowed.out, HasSubstr("warning: peers were measured in another environment"));
}

TEST_F(ProgramTest, ReportsPeersOfTwoVersionsOfALibraryTogether) {
  write_run(folder_, "run", {});
  std::vector<std::string> flags{"--peers"};
  for (const auto& [version, name, time_ns] : {std::tuple{"2.11.0", "torch_eager", 25000.0},
                                               {"2.11.0", "torch_compile", 23000.0},
                                               {"2.15.0", "torch_compile-torch2.15", 22000.0}}) {
    FakeRunFile file;
    file.times = {
        {fmt::format("geglu/{}/bf16/batch:64/seq:128/dim:768/hidden:3072", name), time_ns}};
    nlohmann::json run = nlohmann::json::parse(run_file_text(file));
    run["context"]["fusegate"]["environment"]["torch"] = version;
    flags.push_back(folder_.write(std::string(name) + ".json", run.dump()));
  }
  const Ended all = report("run", flags);
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_THAT(all.out, HasSubstr("| 20.00 us | `fused` | 22.00 us | `torch_compile-torch2.15` |"));
  EXPECT_THAT(all.out, HasSubstr("| 23.00 us | 22.00 us | 25.00 us |"));
}

TEST_F(ProgramTest, ReportsInHtml) {
  FakeRunFile file;
  const std::string shape = "seq:128/dim:768/hidden:3072";
  file.times["geglu/unfused/bf16/batch:64/" + shape] = 30000;
  file.times["geglu/unfused/bf16/batch:8/" + shape] = 3000;
  file.times["geglu/fused/bf16/batch:8/" + shape] = 2000;
  write_run(folder_, "run", file);
  write_run(folder_, "base", file);
  const Ended drawn = report("run", {"--baseline", path("base"), "--html", path("pages/r.html"),
                                     "--svg", path("r.svg"), "--title", "A <title>"});
  EXPECT_EQ(drawn.code, 0) << drawn.err;
  const std::string page = read_file(path("pages/r.html"));
  EXPECT_THAT(page, StartsWith("<!doctype html>"));
  EXPECT_THAT(page, HasSubstr("<h1>A &lt;title&gt;</h1>"));
  EXPECT_THAT(page, HasSubstr("fused: 1.50 times as fast on average"));
  EXPECT_THAT(page, HasSubstr("</html>"));
  EXPECT_THAT(read_file(path("r.svg")), StartsWith("<svg "));
}

TEST_F(ProgramTest, ReportsThatNoPeerCouldBeMeasured) {
  setenv("FUSEGATE_PYTHON", "/nonexistent/python", 1);
  const Ended run = fusegate({"run", "--suite", "smoke", "--processes", "2", "--program",
                              program("bench", {}), "--out", path("run"), "--peers"});
  unsetenv("FUSEGATE_PYTHON");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("leaving peers out: "));
  const Ended reported = report("run", {"--peers", path("run-peers")});
  EXPECT_EQ(reported.code, 0) << reported.err;
  EXPECT_THAT(reported.out, HasSubstr("no peer was measured: "));
}

TEST_F(ProgramTest, DoctorChecksTheMachine) {
  const std::string bench = write_script(folder_, "bench", R"sh(
      [ "$1" = --environment ] || exit 3
      echo '{"device_kind": "cpu", "environment": {"device": "Fake CPU"}, "machine": {}, "warnings": []}'
      )sh");
  const Ended healthy = fusegate({"doctor", "--program", bench});
  EXPECT_EQ(healthy.code, 0) << healthy.err;
  EXPECT_THAT(healthy.out, HasSubstr("Fake CPU"));
  EXPECT_THAT(healthy.out, HasSubstr("ok    git"));
}

TEST_F(ProgramTest, DoctorFindsAServiceThatSharesTheGpu) {
  const std::string bench = write_script(folder_, "bench", R"sh(
      echo '{"device_kind": "cuda", "environment": {"device": "NVIDIA H200"}, "machine": {}, "warnings": []}'
      )sh");
  const auto warns = [&] {
    return fusegate({"doctor", "--program", bench}).out.find("warn  MPS") != std::string::npos;
  };
  EXPECT_FALSE(warns());
  const std::string service = path("nvidia-cuda-mps-control");
  fs::copy_file("/bin/sleep", service);
  const pid_t child = fork();
  if (child == 0) {
    execl(service.c_str(), service.c_str(), "60", nullptr);
    _exit(127);
  }
  bool seen = false;
  for (int look = 0; look < 100 && !seen; ++look) seen = warns();  // once it is that program
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(seen);
}

TEST_F(ProgramTest, DoctorEndsWithTwoWhereTheProgramCannotRun) {
  expect_error(fusegate({"doctor", "--program", path("missing")}),
               {"missing", "cannot be started"});
  const std::string broken = write_script(folder_, "broken", "echo 'no driver' >&2; exit 2\n");
  expect_error(fusegate({"doctor", "--program", broken}), {"broken", "exit code 2: no driver"});
  const std::string mute = write_script(folder_, "mute", "exit 0\n");
  expect_error(fusegate({"doctor", "--program", mute}), {"mute", "--environment"});
}

TEST_F(ProgramTest, KeepsWhatWasMeasuredWhenInterrupted) {
  const std::string bench =
      program("bench", {}, fmt::format("[ $process != 2 ] || {{ {}\n}}\n", kSaysReadyAndSleeps));
  const Interrupts interrupts;
  const Ended ended =
      fusegate({"run", "--suite", "smoke", "--program", bench, "--out", path("run")}, &interrupts);
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("fusegate: interrupted; 1 process finished, kept in "));
  const RunRecord record = read_run_record(path("run"));
  EXPECT_EQ(record.processes.size(), 2u);
  EXPECT_FALSE(record.finished);
  EXPECT_EQ(fusegate({"show", path("run") + "/1.json"}).code, 0);
}

TEST_F(ProgramTest, OneCrashLeavesTheOtherProcesses) {
  const std::string bench = program("bench", {}, "[ $process = 2 ] && kill -ABRT $$; exit 0");
  const Ended ended = fusegate(
      {"run", "--suite", "smoke", "--processes", "3", "--program", bench, "--out", path("run")});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("run/2.json: ended by signal 6"));
  EXPECT_TRUE(fs::exists(path("run") + "/3.json"));
}

TEST_F(ProgramTest, AFailedBenchmarkNeitherEndsTheRunNorPassesTheGate) {
  write_run(folder_, "base", {});
  FakeRunFile wrong;
  wrong.times.erase(kFused);
  wrong.failures = {{kFused, "relative error 0.3 exceeds 0.01"}};
  const Ended measured = fusegate({"run", "--suite", "smoke", "--processes", "2", "--program",
                                   program("bench", wrong, "exit 2"), "--out", path("run")});
  EXPECT_EQ(measured.code, 2);
  EXPECT_THAT(measured.err, HasSubstr("failed in 2 of 2 processes: relative error 0.3"));
  const Ended gated = gate(path("run"));
  EXPECT_EQ(gated.code, 2);
  EXPECT_THAT(gated.out, HasSubstr("relative error 0.3"));
}

TEST_F(ProgramTest, StopsAtOnceWhereNothingCanBeMeasured) {
  const std::string refusing =
      write_script(folder_, "refusing", "echo 'bench: suite: no such suite: odd' >&2; exit 2\n");
  expect_error(
      fusegate({"run", "--suite", "odd", "--program", path("missing"), "--out", path("a")}),
      {"missing"});
  const Ended refused =
      fusegate({"run", "--suite", "odd", "--program", refusing, "--out", path("b")});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err,
              HasSubstr("fusegate: " + refusing + ": exit code 2: bench: suite: no such"));
}

TEST_F(ProgramTest, DuetPassesUnchangedCodeAndFailsSlowedCode) {
  const std::string base = write_bench(folder_, "base-bench", {});
  const auto duet = [&](const FakeRunFile& head, const std::string& out) {
    return fusegate({"duet", "--suite", "smoke", "--base", base, "--head",
                     write_bench(folder_, "head-bench", {.file = head, .phase = 1}), "--out",
                     path(out), "--aa-history", path("aa.jsonl"), "--json", path("gate.json")});
  };
  const Ended same = duet({}, "first");
  EXPECT_EQ(same.code, 0) << same.out << same.err;
  const Ended slower = duet(slowed(1.05), "second");
  EXPECT_EQ(slower.code, 1) << slower.out << slower.err;
  EXPECT_THAT(slower.out, HasSubstr("so far 0 of 2 comparisons raised an alarm"));
  expect_one_regression();
}

}  // namespace
}  // namespace fusegate::ci
