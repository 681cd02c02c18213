// The built program from end to end, with shell scripts in place of the benchmark program: what a
// pipeline relies on are its exit codes, its files and its one line of error.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>

#include "baselines/file_io.h"
#include "ci/fake_bench.h"
#include "ci/fake_program.h"
#include "ci/interrupts.h"
#include "ci/layout.h"
#include "ci/process.h"
#include "ci/run_record.h"

namespace fusegate {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* kFused = "geglu/fused/bf16/batch:64/seq:128/dim:768/hidden:3072";

struct Ended {
  int code = -1;
  std::string out;
  std::string err;
};

class ProgramTest : public ::testing::Test {
 protected:
  Ended fusegate(std::vector<std::string> arguments, const Interrupts* interrupts = nullptr) {
    arguments.insert(arguments.begin(), (own_folder() / "fusegate").string());
    Ended ended;
    ProcessRequest request;
    request.arguments = std::move(arguments);
    request.timeout_s = 120;
    request.grace_s = 60;
    request.interrupts = interrupts;
    request.on_line = [&](OutputStream stream, std::string_view line) {
      (stream == OutputStream::kOut ? ended.out : ended.err).append(line).push_back('\n');
      if (interrupts != nullptr && line.find("ready") != std::string_view::npos) raise(SIGINT);
    };
    const ProcessEnd end = run_process(request);
    ended.code = end.signal != 0 ? 128 + end.signal : end.exit_code;
    return ended;
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  // A program whose run files say that; slower for later invocations by a hair.
  std::string program(const std::string& name, const FakeRunFile& file,
                      const std::string& more = "") {
    const std::string prepared = write_run(folder_, name + "-prepared", file, 5);
    return write_script(
        folder_, name,
        fmt::format("{}cp \"{}/$(( (invocation - 1) % 5 + 1 )).json\" \"$out\"\n{}\n", kReadFlags,
                    prepared, more));
  }
  Ended gate(const std::string& candidate) {
    return fusegate({"gate", "--baseline", path("base"), "--candidate", candidate, "--json",
                     path("gate.json")});
  }
  // The error is one line that says what and where, and the code is 2.
  void expect_error(const Ended& ended, const std::vector<std::string>& parts) {
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, StartsWith("fusegate: "));
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
    for (const std::string& part : parts) EXPECT_THAT(ended.err, HasSubstr(part));
  }

  ScratchFolder folder_;
};

TEST_F(ProgramTest, MeasuresAcceptsAndPassesUnchangedCode) {
  const std::string bench = program("bench", {});
  const Ended first =
      fusegate({"run", "--suite", "smoke", "--program", bench, "--out", path("first")});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(fusegate({"accept", path("first"), "--reason", "first", "--who", "me", "--store",
                      path("store")})
                .code,
            0);
  EXPECT_EQ(fusegate({"run", "--suite", "smoke", "--program", bench, "--out", path("second")}).code,
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
  const auto json = nlohmann::json::parse(read_file(path("gate.json")));
  EXPECT_EQ(json["exit_code"], 1);
  for (const auto& verdict : json["verdicts"]) {
    EXPECT_EQ(verdict["verdict"] == "regression", verdict["benchmark"] == kFused) << verdict;
    for (const char* key : {"effect_time", "effect_cycles", "baseline_ns", "candidate_ns"}) {
      EXPECT_TRUE(verdict[key].is_number()) << key;
    }
    EXPECT_TRUE(verdict["interval"]["low"].is_number());
  }
}

TEST_F(ProgramTest, ToldToItFailsWhatCreptSinceTheAnchor) {
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
    file.times[kFused] *= 1.02;
    return fusegate({"gate", "--candidate", write_run(folder_, "head", file), "--store",
                     path("store"), "--max-creep", max_creep});
  };
  accept(1, {});
  accept(1.018, {});
  EXPECT_EQ(gated("3%").code, 0);
  const Ended beyond = gated("1%");
  EXPECT_EQ(beyond.code, 1) << beyond.out << beyond.err;
  EXPECT_THAT(beyond.out, HasSubstr("by more than 1 % since the anchor of "));
  accept(1.018, {"--anchor"});
  EXPECT_EQ(gated("1%").code, 0);
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
  const auto json = nlohmann::json::parse(read_file(path("gate.json")));
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
  expect_error(duet({"--head", bench, "--max-invocations", "6"}), {"--max-invocations", "6"});
  folder_.write("aa.jsonl", "{\"when\": 5}\n");
  expect_error(duet({"--head", bench, "--aa-history", path("aa.jsonl")}),
               {"aa.jsonl: line 1", "when"});
  const Ended not_there = duet({"--head", missing});
  EXPECT_EQ(not_there.code, 2);
  EXPECT_THAT(not_there.err, HasSubstr("fusegate: " + missing + ": cannot be started"));
}

TEST_F(ProgramTest, DuetKeepsWhatWasMeasuredWhenInterrupted) {
  const std::string head = program("head", {}, R"sh(
      if [ $invocation = 2 ]; then
        (sleep 0.3; echo '@fusegate {"event":"benchmark","index":1,"total":2,"benchmark":"ready",
            "failure":"x"}' | tr -d '\n'; echo) &
        exec sleep 60
      fi)sh");
  const Interrupts interrupts;
  const Ended ended = fusegate({"duet", "--suite", "smoke", "--base", program("base", {}), "--head",
                                head, "--out", path("duet"), "--json", path("gate.json")},
                               &interrupts);
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("fusegate: interrupted; 1 finished invocation kept in "));
  EXPECT_FALSE(read_run_record(path("duet/head")).finished);
  EXPECT_EQ(nlohmann::json::parse(read_file(path("gate.json")))["exit_code"], 2);
}

TEST_F(ProgramTest, ShowsARun) {
  write_run(folder_, "run", {});
  const Ended shown = fusegate({"show", path("run")});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("TFLOP/s"));
  EXPECT_THAT(shown.out, HasSubstr(kFused));
}

TEST_F(ProgramTest, ReportsInMarkdown) {
  write_run(folder_, "run", {});
  const Ended report = fusegate(
      {"report", "--candidate", path("run"), "--store", path("none"), "--title", "A title"});
  EXPECT_EQ(report.code, 0) << report.err;
  EXPECT_THAT(report.out, StartsWith("## A title\n"));
}

TEST_F(ProgramTest, ReportsInHtml) {
  if (output_of({python_program(), "-c", "import jinja2, matplotlib; print(1)"}).empty()) {
    GTEST_SKIP() << "no matplotlib and jinja2; pip install -r ci/requirements.txt";
  }
  FakeRunFile file;
  file.times["geglu/unfused/bf16/batch:64/seq:128/dim:768/hidden:3072"] = 30000;
  write_run(folder_, "run", file);
  const Ended report = fusegate({"report", "--baseline", path("run"), "--candidate", path("run"),
                                 "--html", path("pages/r.html"), "--title", "A <title>"});
  EXPECT_EQ(report.code, 0) << report.err;
  const std::string page = read_file(path("pages/r.html"));
  EXPECT_THAT(page, StartsWith("<!doctype html>"));
  EXPECT_THAT(page, HasSubstr("<h1>A &lt;title&gt;</h1>"));
  EXPECT_THAT(page, HasSubstr("fused: 1.50 times as fast on average"));
  EXPECT_THAT(page, HasSubstr("</html>"));
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
      if [ $invocation = 2 ]; then
        # From behind, once the sleep is there: a shell that is just starting it can lose a signal.
        (sleep 0.3; echo '@fusegate {"event":"benchmark","index":1,"total":2,"benchmark":"ready",
            "failure":"x"}' | tr -d '\n'; echo) &
        exec sleep 60
      fi)sh");
  const Interrupts interrupts;
  const Ended ended =
      fusegate({"run", "--suite", "smoke", "--program", bench, "--out", path("run")}, &interrupts);
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("fusegate: interrupted; 1 finished invocation kept in "));
  const RunRecord record = read_run_record(path("run"));
  EXPECT_EQ(record.invocations.size(), 2u);
  EXPECT_FALSE(record.finished);
  EXPECT_EQ(fusegate({"show", path("run") + "/1.json"}).code, 0);
}

TEST_F(ProgramTest, OneCrashLeavesTheOtherInvocations) {
  const std::string bench = program("bench", {}, "[ $invocation = 2 ] && kill -ABRT $$; exit 0");
  const Ended ended = fusegate(
      {"run", "--suite", "smoke", "--invocations", "3", "--program", bench, "--out", path("run")});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("run/2.json: ended by signal 6"));
  EXPECT_TRUE(fs::exists(path("run") + "/3.json"));
}

TEST_F(ProgramTest, AFailedBenchmarkNeitherEndsTheRunNorPassesTheGate) {
  write_run(folder_, "base", {});
  FakeRunFile wrong;
  wrong.times.erase(kFused);
  wrong.failures = {{kFused, "relative error 0.3 exceeds 0.01"}};
  const Ended measured = fusegate({"run", "--suite", "smoke", "--invocations", "2", "--program",
                                   program("bench", wrong, "exit 2"), "--out", path("run")});
  EXPECT_EQ(measured.code, 2);
  EXPECT_THAT(measured.err, HasSubstr("failed in 2 of 2 invocations: relative error 0.3"));
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

// --- Run files that cannot be judged: each ends with one line naming file and field. ---

TEST_F(ProgramTest, GateNamesWhatIsWrongInARunFile) {
  write_run(folder_, "base", {});
  const std::string good = run_file_text({});
  auto edited = [&](auto edit) {
    auto json = nlohmann::json::parse(good);
    edit(json);
    return json.dump();
  };
  auto with_time = [&](const nlohmann::json& time) {
    return edited([&](auto& json) { json["benchmarks"][0]["real_time"] = time; });
  };
  std::string not_a_number = with_time(12345678.0);
  not_a_number.replace(not_a_number.find("12345678.0"), 10, "NaN");
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", ""},
      {good.substr(0, good.size() / 2), ""},
      {"[]", ""},
      {"{}", ""},
      {not_a_number, ""},
      {with_time(-1.0), "real_time"},
      {with_time(0.0), "real_time"},
      {with_time("fast"), "real_time"},
      {with_time(nullptr), "real_time"},
      {edited([](auto& json) { json["benchmarks"][0].erase("real_time"); }), "real_time"},
      {edited([](auto& json) { json["benchmarks"][0].erase("name"); }), "name"},
      {edited([](auto& json) { json.erase("benchmarks"); }), "benchmarks"},
  };
  for (const auto& [text, field] : cases) {
    folder_.write("head/1.json", text);
    SCOPED_TRACE(text.substr(0, 60));
    expect_error(gate(path("head")), {"head/1.json", field});
    EXPECT_EQ(nlohmann::json::parse(read_file(path("gate.json")))["exit_code"], 2);
  }
}

TEST_F(ProgramTest, GateNamesAFolderWithoutAnyInvocation) {
  write_run(folder_, "base", {});
  fs::create_directories(path("empty"));
  expect_error(gate(path("empty")), {"empty", "no finished invocation"});
  expect_error(gate(path("missing")), {"missing"});
}

TEST_F(ProgramTest, GateNamesTheFieldInWhichEnvironmentsDiffer) {
  write_run(folder_, "base", {});
  FakeRunFile other;
  other.driver = "999.0";
  write_run(folder_, "head", other);
  const Ended gated = gate(path("head"));
  EXPECT_EQ(gated.code, 2);
  EXPECT_THAT(gated.out, HasSubstr("driver"));
  EXPECT_EQ(fusegate({"gate", "--baseline", path("base"), "--candidate", path("head"),
                      "--allow-environment-difference"})
                .code,
            0);
}

TEST_F(ProgramTest, GateTakesPlainGoogleBenchmarkFiles) {
  for (int i = 1; i <= 3; ++i) {
    for (const char* side : {"base", "head"}) {
      FakeRunFile file;
      file.times = {{"BM_copy/8", 1000.0 + i}};
      auto json = nlohmann::json::parse(run_file_text(file));
      json["context"].erase("fusegate");
      folder_.write(fmt::format("{}/{}.json", side, i), json.dump());
    }
  }
  const Ended gated = gate(path("head"));
  EXPECT_EQ(gated.code, 0) << gated.out << gated.err;
}

TEST_F(ProgramTest, SaysSoWhereAResultCannotBeWritten) {
  write_run(folder_, "base", {});
  write_run(folder_, "head", {});
  const auto gate_to = [&](const std::string& json) {
    return fusegate(
        {"gate", "--baseline", path("base"), "--candidate", path("head"), "--json", json});
  };
  expect_error(gate_to("/dev/full/x.json"), {"/dev/full"});
  const std::string redirected =
      write_script(folder_, "redirect",
                   fmt::format("exec '{}' show '{}' > /dev/full\n",
                               (own_folder() / "fusegate").string(), path("base")));
  Ended ended;
  ProcessRequest request;
  request.arguments = {redirected};
  request.on_line = [&](OutputStream, std::string_view line) {
    ended.err.append(line).push_back('\n');
  };
  ended.code = run_process(request).exit_code;
  expect_error(ended, {"standard output"});
}

}  // namespace
}  // namespace fusegate
