// Runs whose processes load together and measure in turn, of programs that write down what they do.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <csignal>
#include <cstdlib>
#include <set>
#include <sstream>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/record/load_run.h"
#include "baselines/record/program_variables.h"
#include "ci/run/measure_run.h"
#include "tests/fakes/fake_bench.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class LoadingTogetherTest : public ::testing::Test {
 protected:
  LoadingTogetherTest() {
    request_.options.suite = "smoke";
    request_.options.seed = 1;
    request_.processes = request_.max_processes = 3;
    request_.most_loading = 100;
    a_ = b_ = program();
    b_.file.codes["a"] = "1e";
    b_.before = "sleep 0.2\n" + b_.before;  // its loading is seen to be waited for
  }

  // Adds to "events": l when it has loaded, ( and ) around what it does in its turn.
  tests::FakeBench program(double load_s = 1, const std::string& word = "r") const {
    const std::string events = (folder_.path() / "events").string();
    tests::FakeBench bench{.file = {.times = {{"a", 1000}, {"b", 2000}},
                                    .codes = {{"a", "0f"}, {"b", "0f"}},
                                    .load_s = load_s}};
    bench.before = fmt::format(
        "{}case $* in *--identify=*) ;; *)\n{}printf l >> '{}'; await_turn {}\n{} esac\n",
        tests::kAwaitTurn, "echo $$ >> '" + (folder_.path() / "pids").string() + "'\n", events,
        word, "printf '(' >> '" + events + "' ;;");
    bench.more = "printf ')' >> '" + events + "'";
    return bench;
  }
  void load_and_end(tests::FakeBench& bench, int process, const std::string& script) const {
    bench.before =
        fmt::format("case $* in */{}.json\\ *) {} ;; esac\n", process, script) + bench.before;
  }

  static InterimAnalysis finding(baselines::VerdictKind kind) {
    return [kind] {
      std::vector<baselines::Verdict> verdicts(1);
      verdicts[0].benchmark = "a";
      verdicts[0].kind = kind;
      return verdicts;
    };
  }

  // Has every process take ten seconds for measuring, and loading_s for loading.
  void move_the_clock(int loading_s) {
    const std::string clock = (folder_.path() / "clock").string();
    for (tests::FakeBench* bench : {&a_, &b_}) {
      bench->more += fmt::format("; printf {:.>10} >> '{}'", "", clock);
      bench->before =
          fmt::format("case $* in *--identify=*) ;; *) printf '{:.>{}}' >> '{}' ;; esac\n", "",
                      loading_s, clock) +
          bench->before;
    }
  }

  RunResult measure(const InterimAnalysis& interim = {}) {
    request_.programs.clear();
    for (const auto& [name, bench] : {std::pair("A", &a_), std::pair("B", &b_)}) {
      request_.programs.push_back(
          {folder_.path() / name,
           tests::write_bench(folder_, fmt::format("bench-{}", name), *bench)});
    }
    Console console{out_, err_};
    const Comparisons comparisons = [this] {
      return std::vector<ComparedRuns>{{baselines::load_run({folder_.path() / "A"}),
                                        baselines::load_run({folder_.path() / "B"})}};
    };
    return measure_run(request_, {interim, comparisons}, console,
                       [this] { return static_cast<double>(text("clock").size()); });
  }
  std::string text(const std::string& name) const {
    const fs::path file = folder_.path() / name;
    return fs::exists(file) ? baselines::read_file(file) : "";
  }
  // Whom of the two was called with what, in which order, and what was kept of each.
  std::string history() const {
    std::string history = text("calls");
    for (const char* name : {"A", "B"}) {
      const RunRecord record = read_run_record(folder_.path() / name);
      history += fmt::format("{} {} {}\n", name, record.planned_processes, record.finished);
      for (const ProcessRecord& each : record.processes) {
        history += fmt::format("{} {} {} {} {} '{}'\n", each.file, each.seed, each.block,
                               each.extension, each.aa_half, each.failure);
      }
    }
    return history;
  }
  void start_again() {
    for (const char* name : {"A", "B", "calls", "events", "clock", "pids"}) {
      fs::remove_all(folder_.path() / name);
    }
    out_.str("");
    err_.str("");
  }
  // Names of what processes left, beside run.json and what identification leaves.
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const char* name : {"A", "B"}) {
      for (const auto& entry : fs::directory_iterator(folder_.path() / name)) {
        const std::string file = entry.path().filename();
        if (std::isdigit(file.front()) != 0) names.insert(name + ("/" + file));
      }
    }
    return names;
  }
  bool any_lives() const {
    std::istringstream pids(text("pids"));
    for (pid_t pid = 0; pids >> pid;) {
      if (kill(pid, 0) == 0) return true;
    }
    return false;
  }

  baselines::ScratchFolder folder_;
  MeasuringRequest request_;
  tests::FakeBench a_;
  tests::FakeBench b_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(LoadingTogetherTest, OneMeasuresAtATimeOnceAllHaveLoaded) {
  measure();
  EXPECT_EQ(text("events"), "llllll()()()()()()");
  EXPECT_THAT(err_.str(), HasSubstr("loading 6 processes together\n"));
  start_again();
  request_.most_loading = 5;  // two rounds
  measure();
  EXPECT_EQ(text("events"), "llll()()()()ll()()");
  const std::string said = "loading 4 processes together\n";
  EXPECT_THAT(err_.str(), HasSubstr(said));
  EXPECT_THAT(err_.str(), Not(HasSubstr("loading 2")));
}

TEST_F(LoadingTogetherTest, AllElseIsAsIfTheyLoadedOneByOne) {
  request_.max_processes = 5;
  const InterimAnalysis undecided = finding(baselines::VerdictKind::kInconclusive);
  for (const bool is_aa : {false, true}) {
    request_.is_aa = is_aa;
    a_.file.load_s = 0.9;
    start_again();
    measure(undecided);
    EXPECT_THAT(text("events"), Not(HasSubstr("ll")));
    const std::string one_by_one = history();
    a_.file.load_s = 1;
    start_again();
    measure(undecided);
    EXPECT_THAT(text("events"), testing::EndsWith("ll()()ll()()")) << "extensions too";
    EXPECT_EQ(history(), one_by_one);
  }
}

TEST_F(LoadingTogetherTest, AUserCanForbidIt) {
  setenv(baselines::kTurnVariable, "", 1);
  measure();
  unsetenv(baselines::kTurnVariable);
  EXPECT_EQ(text("events"), "l()l()l()l()l()l()");
}

TEST_F(LoadingTogetherTest, WhereLoadingUsesTheGpuTheyGoOnOneByOne) {
  measure();
  const std::string together = history();
  start_again();
  b_.before = program(1, "u").before;
  measure();
  EXPECT_EQ(text("events"), "lllllll()l()l()l()l()l()");
  EXPECT_EQ(history(), together);
  const std::string said = "a program uses the GPU while it loads: measuring without";
  EXPECT_THAT(err_.str(), HasSubstr(said));
  EXPECT_EQ(err_.str().find(said), err_.str().rfind(said));
  EXPECT_FALSE(any_lives());
}

TEST_F(LoadingTogetherTest, OneThatDiesWhileItLoadsIsReportedInItsTurn) {
  load_and_end(b_, 2, "echo 'no module' >&2; exit 3");
  EXPECT_FALSE(measure().all_well);
  const auto processes = read_run_record(folder_.path() / "B").processes;
  ASSERT_THAT(processes, SizeIs(3));
  EXPECT_EQ(processes[1].failure, "exit code 3: no module");
  EXPECT_EQ(processes[1].exit_code, 3);
  EXPECT_EQ(processes[1].block, 2);
  EXPECT_EQ(processes[2].failure, "");
  EXPECT_EQ(text("B/2.log"), "no module\n");
  EXPECT_EQ(text("events"), "lllll()()()()()");
}

TEST_F(LoadingTogetherTest, AHopelessOneEndsTheRunAndTheOthers) {
  load_and_end(a_, 1, "echo 'no suite' >&2; exit 2");
  EXPECT_THROW(measure(), baselines::InputError);
  EXPECT_FALSE(any_lives());
}

TEST_F(LoadingTogetherTest, AnInterruptEndsThoseThatWait) {
  a_.more = "[ $process = 2 ] && { (sleep 0.2; kill -INT $PPID) & exec sleep 60; }\n" + a_.more;
  EXPECT_EQ(measure().end, RunEnd::kInterrupted);
  EXPECT_FALSE(any_lives());
  const auto a = read_run_record(folder_.path() / "A");
  const auto b = read_run_record(folder_.path() / "B");
  ASSERT_THAT(a.processes, SizeIs(2));
  EXPECT_EQ(a.processes[1].failure, "interrupted");
  EXPECT_FALSE(a.finished);
  for (const ProcessRecord& process : b.processes) EXPECT_EQ(process.failure, "");
  EXPECT_THAT(files(), SizeIs(2 * (a.processes.size() + b.processes.size())));
}

TEST_F(LoadingTogetherTest, AnInterruptWhileTheyLoadMeasuresNothing) {
  load_and_end(b_, 3, "(sleep 0.2; kill -INT $PPID) & exec sleep 60");
  EXPECT_EQ(measure().end, RunEnd::kInterrupted);
  EXPECT_FALSE(any_lives());
  EXPECT_THAT(text("events"), Not(HasSubstr("(")));
  EXPECT_THAT(read_run_record(folder_.path() / "A").processes, IsEmpty());
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(LoadingTogetherTest, ARoundThatDoesNotFitIsDropped) {
  move_the_clock(0);
  request_.options.budget_s = 50;  // two rounds take 40 s, a third would end after 60 s
  EXPECT_EQ(measure().end, RunEnd::kBudget);
  EXPECT_EQ(text("events"), "llllll()()()()");
  EXPECT_FALSE(any_lives());
  EXPECT_THAT(files(), SizeIs(8));
  // A regression is confirmed all the same, as if no other round had been drawn.
  request_.max_processes = 5;
  start_again();
  measure(finding(baselines::VerdictKind::kRegression));
  EXPECT_EQ(text("events"), "llllll()()()()ll()()ll()()");
  const std::string together = history();
  a_.file.load_s = 0;
  start_again();
  measure(finding(baselines::VerdictKind::kRegression));
  EXPECT_EQ(together, history());
}

TEST_F(LoadingTogetherTest, WhatIsLoadedIsExpectedToTakeItsMeasuringAlone) {
  move_the_clock(5);
  request_.options.budget_s = 90;  // 30 s of loading, and 20 s a round
  EXPECT_EQ(measure().end, RunEnd::kAll);
  start_again();
  request_.most_loading = 2;
  request_.options.budget_s = 59;  // a round takes 10 s and 20 s
  EXPECT_EQ(measure().end, RunEnd::kBudget);
  EXPECT_EQ(text("events"), "ll()()");
  start_again();
  request_.options.budget_s = 60;
  EXPECT_EQ(measure().end, RunEnd::kBudget);
  EXPECT_EQ(text("events"), "ll()()ll()()");
}

}  // namespace
}  // namespace fusegate::ci
