// The built program from end to end.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "baselines/io/file_io.h"
#include "ci/commands/program_test.h"
#include "ci/run/run_record.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kFused = "geglu/fused/bf16/batch:64/seq:128/dim:768/hidden:3072";

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
  FakeRunFile slowed;
  slowed.times[kFused] *= 1.05;
  const Ended measured =
      fusegate({"run", "--suite", "smoke", "--program", program("a", {}), "--out", path("base"),
                "--program", program("b", slowed), "--out", path("head")});
  EXPECT_EQ(measured.code, 0) << measured.err;
  const Ended gated = gate(path("head"));
  EXPECT_EQ(gated.code, 1) << gated.out << gated.err;
  const auto json = nlohmann::json::parse(baselines::read_file(path("gate.json")));
  EXPECT_EQ(json["exit_code"], 1);
  for (const auto& verdict : json["verdicts"]) {
    EXPECT_EQ(verdict["verdict"] == "regression", verdict["benchmark"] == kFused) << verdict;
    for (const char* key : {"effect_time", "effect_cycles", "baseline_ns", "candidate_ns"}) {
      EXPECT_TRUE(verdict[key].is_number()) << key;
    }
    EXPECT_TRUE(verdict["interval"]["low"].is_number());
  }
}

TEST_F(ProgramTest, FailsOnRequestWhatCreptSinceTheAnchor) {
  const auto accept = [&](double factor, const std::vector<std::string>& flags) {
    FakeRunFile file;
    file.times[kFused] *= factor;
    std::vector<std::string> arguments{"accept",   write_run(folder_, "accepted", file),
                                       "--reason", "a step",
                                       "--who",    "me",
                                       "--store",  path("store")};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const Ended ended = fusegate(arguments);
    EXPECT_EQ(ended.code, 0) << ended.err;
  };
  const auto gated = [&](const std::string& max_creep) {
    FakeRunFile file;
    file.times[kFused] *= 1.2;
    return fusegate({"gate", "--candidate", write_run(folder_, "head", file), "--store",
                     path("store"), "--max-creep", max_creep});
  };
  accept(1, {});
  accept(1.1995, {});
  EXPECT_EQ(gated("30%").code, 0);
  const Ended beyond = gated("10%");
  EXPECT_EQ(beyond.code, 1) << beyond.out << beyond.err;
  EXPECT_THAT(beyond.out, HasSubstr("by more than 10 % since the anchor of "));
  accept(1.1995, {"--anchor"});
  EXPECT_EQ(gated("10%").code, 0);
}

TEST_F(ProgramTest, ShowsARun) {
  write_run(folder_, "run", {});
  const Ended shown = fusegate({"show", path("run")});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("TFLOP/s"));
  EXPECT_THAT(shown.out, HasSubstr(kFused));
}

TEST_F(ProgramTest, ShowsWhatDidNotFinishByRequestAlone) {
  write_run(folder_, "run", {}, 2);
  const std::string third = folder_.write("run/3.json", run_file_text({.finished = false}));
  const Ended shown = fusegate({"show", path("run")});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr(": 2 processes on"));
  EXPECT_THAT(shown.out, HasSubstr("note: 1 process did not finish and is left out: " + third));
  expect_error(fusegate({"show", third}), {"no finished ", third});
  const Ended asked = fusegate({"show", "--unfinished", path("run")});
  EXPECT_THAT(asked.out, HasSubstr(": 3 processes on"));
  EXPECT_THAT(asked.out, HasSubstr("counts (--unfinished): " + third));
}

TEST_F(ProgramTest, ReportsInMarkdown) {
  write_run(folder_, "run", {});
  const Ended report = fusegate(
      {"report", "--candidate", path("run"), "--store", path("none"), "--title", "A title"});
  EXPECT_EQ(report.code, 0) << report.err;
  EXPECT_THAT(report.out, StartsWith("## A title\n"));
}

TEST_F(ProgramTest, ReportsAStoredBaselineByItself) {
  write_run(folder_, "run", {});
  ASSERT_EQ(fusegate({"accept", path("run"), "--store", path("store"), "--reason", "first"}).code,
            0);
  const std::string stored = path("store/nvidia-h200/smoke.json");
  const Ended report = fusegate({"report", "--candidate", stored, "--store", path("store")});
  EXPECT_EQ(report.code, 0) << report.err;
  EXPECT_THAT(report.out, HasSubstr(kFused));
  EXPECT_EQ(fusegate({"gate", "--candidate", stored, "--store", path("store")}).code, 2);
}

TEST_F(ProgramTest, ReportsPeersBesideOurs) {
  write_run(folder_, "run", {});
  FakeRunFile file;
  file.times = {{"geglu/liger/bf16/batch:64/seq:128/dim:768/hidden:3072", 25000}};
  write_run(folder_, "peers", file);
  file.driver = std::string("570.1");
  write_run(folder_, "elsewhere", file);
  const Ended report = fusegate(
      {"report", "--candidate", path("run"), "--store", path("none"), "--peers", path("peers")});
  EXPECT_EQ(report.code, 0) << report.err;
  EXPECT_THAT(report.out, HasSubstr("| 20.00 us | `fused` | 25.00 us | `liger` | 0.800 |"));
  EXPECT_THAT(report.out, HasSubstr("| 60.00 us | `addmm` | no peer |  | - |"));
  EXPECT_THAT(report.out, HasSubstr("no copy control in this run"));
  std::vector<std::string> elsewhere{"report",     "--candidate", path("run"),      "--store",
                                     path("none"), "--peers",     path("elsewhere")};
  expect_error(fusegate(elsewhere), {"environment.driver", "--allow-environment-difference"});
  elsewhere.push_back("--allow-environment-difference");
  const Ended allowed = fusegate(elsewhere);
  EXPECT_EQ(allowed.code, 0) << allowed.err;
  EXPECT_THAT(allowed.out, HasSubstr("warning: peers were measured in another environment"));
}

TEST_F(ProgramTest, ReportsTheBestOfSeveralPeersRuns) {
  write_run(folder_, "run", {});
  const std::string problem = "bf16/batch:64/seq:128/dim:768/hidden:3072";
  for (const auto& [name, time_ns] : {std::pair{"liger", 25000.0}, {"quack", 21000.0}}) {
    FakeRunFile file;
    file.times = {{fmt::format("geglu/{}/{}", name, problem), time_ns}};
    write_run(folder_, name, file);
  }
  const Ended report = fusegate({"report", "--candidate", path("run"), "--store", path("none"),
                                 "--peers", path("liger"), path("quack")});
  EXPECT_EQ(report.code, 0) << report.err;
  EXPECT_THAT(report.out, HasSubstr("| 20.00 us | `fused` | 21.00 us | `quack` | 0.952 |"));
  EXPECT_THAT(report.out, HasSubstr("| 20.00 us | 25.00 us | 21.00 us |"));
}

TEST_F(ProgramTest, ReportsInHtml) {
  if (output_of({python_program(), "-c", "import jinja2, matplotlib; print(1)"}).empty()) {
    GTEST_SKIP() << "no matplotlib and jinja2; pip install -r ci/requirements.txt";
  }
  FakeRunFile file;
  const std::string shape = "seq:128/dim:768/hidden:3072";
  file.times["geglu/unfused/bf16/batch:64/" + shape] = 30000;
  file.times["geglu/unfused/bf16/batch:8/" + shape] = 3000;
  file.times["geglu/fused/bf16/batch:8/" + shape] = 2000;
  write_run(folder_, "run", file);
  write_run(folder_, "base", file);
  const Ended report =
      fusegate({"report", "--baseline", path("base"), "--candidate", path("run"), "--html",
                path("pages/r.html"), "--svg", path("r.svg"), "--title", "A <title>"});
  EXPECT_EQ(report.code, 0) << report.err;
  const std::string page = baselines::read_file(path("pages/r.html"));
  EXPECT_THAT(page, StartsWith("<!doctype html>"));
  EXPECT_THAT(page, HasSubstr("<h1>A &lt;title&gt;</h1>"));
  EXPECT_THAT(page, HasSubstr("fused: 1.50 times as fast on average"));
  EXPECT_THAT(page, HasSubstr("</html>"));
  EXPECT_THAT(baselines::read_file(path("r.svg")), StartsWith("<svg "));
  FakeRunFile other;
  for (const char* kv : {"128", "512"}) {
    other.times[std::string("softmax/naive/fp16/kv:") + kv] = 2000;
    other.times[std::string("softmax/online/fp16/kv:") + kv] = 1000;
  }
  write_run(folder_, "other", other);
  EXPECT_EQ(fusegate({"report", "--candidate", path("other"), "--svg", path("o.svg")}).code, 0);
  EXPECT_THAT(baselines::read_file(path("o.svg")), StartsWith("<svg "));
}

TEST_F(ProgramTest, SaysWhichPythonPackagesAreMissing) {
  write_run(folder_, "run", {});
  // -S: without site packages, as a bare Python.
  const std::string bare = write_script(folder_, "python", "exec python3 -S -I \"$@\"\n");
  setenv("FUSEGATE_PYTHON", bare.c_str(), 1);
  const Ended report = fusegate(
      {"report", "--candidate", path("run"), "--store", path("none"), "--html", path("r.html")});
  setenv("FUSEGATE_PYTHON", "/nonexistent/python", 1);
  const Ended none = fusegate(
      {"report", "--candidate", path("run"), "--store", path("none"), "--html", path("r.html")});
  unsetenv("FUSEGATE_PYTHON");
  expect_error(report, {"--html", "jinja2"});
  expect_error(none, {"--html", "/nonexistent/python", "cannot be started"});
  EXPECT_FALSE(fs::exists(path("r.html")));
}

TEST_F(ProgramTest, ReportsThatNoPeerCouldBeMeasured) {
  setenv("FUSEGATE_PYTHON", "/nonexistent/python", 1);
  const Ended run = fusegate({"run", "--suite", "smoke", "--processes", "2", "--program",
                              program("bench", {}), "--out", path("run"), "--peers"});
  unsetenv("FUSEGATE_PYTHON");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("leaving peers out: "));
  const Ended report = fusegate({"report", "--candidate", path("run"), "--store", path("none"),
                                 "--peers", path("run-peers")});
  EXPECT_EQ(report.code, 0) << report.err;
  EXPECT_THAT(report.out, HasSubstr("no peer was measured: "));
}

TEST_F(ProgramTest, DoctorChecksTheMachine) {
  const std::string bench = write_script(folder_, "bench", R"sh(
      [ "$1" = --environment ] || exit 3
      echo '{"device_kind": "cpu", "environment": {"device": "Fake CPU"}, "machine": {}, "doubts": []}'
      )sh");
  const Ended healthy = fusegate({"doctor", "--program", bench});
  EXPECT_EQ(healthy.code, 0) << healthy.err;
  EXPECT_THAT(healthy.out, HasSubstr("Fake CPU"));
  EXPECT_THAT(healthy.out, HasSubstr("ok    git"));
}

TEST_F(ProgramTest, DoctorFindsAServiceThatSharesTheGpu) {
  const std::string bench = write_script(folder_, "bench", R"sh(
      echo '{"device_kind": "cuda", "environment": {"device": "NVIDIA H200"}, "machine": {}, "doubts": []}'
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
  const std::string bench = program("bench", {}, R"sh(
      if [ $process = 2 ]; then
        # From behind, once the sleep is there: a shell that is just starting it can lose a signal.
        (sleep 0.3; echo '@fusegate {"event":"benchmark","index":1,"total":2,"benchmark":"ready",
            "failure":"x"}' | tr -d '\n'; echo) &
        exec sleep 60
      fi)sh");
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
  FakeRunFile slowed;
  slowed.times[kFused] *= 1.05;
  const auto duet = [&](const std::string& head, const std::string& out) {
    return fusegate({"duet", "--suite", "smoke", "--base", base, "--head", head, "--out", path(out),
                     "--aa-history", path("aa.jsonl"), "--json", path("gate.json")});
  };
  const Ended same = duet(write_bench(folder_, "same", {.phase = 1}), "first");
  EXPECT_EQ(same.code, 0) << same.out << same.err;
  const Ended slower = duet(write_bench(folder_, "slower", {.file = slowed, .phase = 1}), "second");
  EXPECT_EQ(slower.code, 1) << slower.out << slower.err;
  EXPECT_THAT(slower.out, HasSubstr("so far 0 of 2 comparisons raised an alarm"));
  const auto json = nlohmann::json::parse(baselines::read_file(path("gate.json")));
  for (const auto& verdict : json["verdicts"]) {
    EXPECT_EQ(verdict["verdict"] == "regression", verdict["benchmark"] == kFused) << verdict;
  }
}

TEST_F(ProgramTest, DuetNamesWhatItCannotUse) {
  const std::string bench = program("bench", {});
  const std::string missing = path("missing");
  const auto duet = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"duet", "--suite", "smoke",     "--base",
                                       bench,  "--out",   path("duet")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fusegate(arguments);
  };
  expect_error(duet({"--head", bench, "--max-processes", "6"}), {"--max-processes", "6"});
  folder_.write("aa.jsonl", "{\"when\": 5}\n");
  expect_error(duet({"--head", bench, "--aa-history", path("aa.jsonl")}),
               {"aa.jsonl: line 1", "when"});
  const Ended not_there = duet({"--head", missing});
  EXPECT_EQ(not_there.code, 2);
  EXPECT_THAT(not_there.err, HasSubstr("fusegate: " + missing + ": cannot be started"));
}

TEST_F(ProgramTest, DuetKeepsWhatWasMeasuredWhenInterrupted) {
  const std::string head = program("head", {}, R"sh(
      if [ $process = 2 ]; then
        (sleep 0.3; echo '@fusegate {"event":"benchmark","index":1,"total":2,"benchmark":"ready",
            "failure":"x"}' | tr -d '\n'; echo) &
        exec sleep 60
      fi)sh");
  const Interrupts interrupts;
  const Ended ended = fusegate({"duet", "--suite", "smoke", "--base", program("base", {}), "--head",
                                head, "--out", path("duet"), "--json", path("gate.json")},
                               &interrupts);
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("fusegate: interrupted; 1 process finished, kept in "));
  EXPECT_FALSE(read_run_record(path("duet/head")).finished);
  EXPECT_EQ(nlohmann::json::parse(baselines::read_file(path("gate.json")))["exit_code"], 2);
}

}  // namespace
}  // namespace fusegate::ci
