#include <cstdlib>

#include "baselines/record/load_run.h"
#include "ci/commands/measuring/measuring_test.h"
#include "ci/processes/cards.h"

namespace fusegate::ci {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// A host's nvidia-smi, in front of any other.
class FakeHost {
 public:
  explicit FakeHost(const baselines::ScratchFolder& folder) : path_(std::getenv("PATH")) {
    write_script(folder, "nvidia-smi", R"sh(
case $1 in
  -L) echo "GPU 0: NVIDIA H200 (UUID: GPU-a)"; echo "GPU 1: NVIDIA H200 (UUID: GPU-b)" ;;
  *) echo "GPU-a, 00000000:4E:00.0" ;;
esac
)sh");
    setenv("PATH", fmt::format("{}:{}", folder.path().string(), path_).c_str(), 1);
    unsetenv(kVisibleCards);
  }
  ~FakeHost() { setenv("PATH", path_.c_str(), 1); }
  FakeHost(const FakeHost&) = delete;  // the environment is one
  FakeHost& operator=(const FakeHost&) = delete;

 private:
  std::string path_;
};

// Thirty benchmarks, one of which is a control; a process takes seconds, and shards are few.
FakeRunFile suite_file(double slower = 1) {
  FakeRunFile file{.times = {{"copy", 5000}}, .controls = {{"copy"}}};
  file.protocol = {{"samples", 10}, {"batch_ns", 1e6}, {"idle_ns", 1e6}};
  for (int i = 1; i < 30; ++i) file.times[fmt::format("a{:02}", i)] = 20000;
  file.times["a07"] *= slower;
  return file;
}

constexpr const char* kDiesOnTheSecond = "[ \"$CUDA_VISIBLE_DEVICES\" = GPU-b ] && ";

class RunOnCardsTest : public CommandTest<RunRequest, run_command> {
 protected:
  RunOnCardsTest() {
    request_.measuring.suite = "smoke";
    request_.measuring.gpus = "all";
    request_.processes.minimum = 3;
    request_.out = {folder_.path() / "run"};
    program({});
  }

  void program(const std::string& before) {
    request_.programs = {write_bench(folder_, "bench", {.file = suite_file(), .before = before})};
  }
  fs::path shards() const { return request_.out.front() / "shards"; }
  baselines::Run measured() const { return baselines::load_run({request_.out.front()}); }

  const FakeHost host_{folder_};
};

TEST_F(RunOnCardsTest, IsOneRunOfAllCards) {
  EXPECT_EQ(run(), kNoRegression);
  const baselines::Run run = measured();
  EXPECT_THAT(run.benchmarks, SizeIs(30));
  EXPECT_THAT(run.cards, UnorderedElementsAre("GPU-a", "GPU-b"));
  EXPECT_THAT(run.left_out, IsEmpty());
  for (const auto& series : run.benchmarks) {
    const std::size_t cards = series.is_control ? 2 : 1;
    EXPECT_THAT(series.processes, SizeIs(3 * cards)) << series.name;
  }
  EXPECT_TRUE(read_run_record(request_.out.front()).finished);
  EXPECT_FALSE(fs::exists(shards()));
  EXPECT_THAT(out_.str(), HasSubstr("30 benchmarks of 2 shards, 6 processes on 2 cards\n"));
  EXPECT_THAT(err_.str(), AllOf(HasSubstr("GPU 0: process 3/3"), HasSubstr("GPU 1: process 3/3")));
}

TEST_F(RunOnCardsTest, TakesOneOfThem) {
  request_.measuring.gpus = "1";
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_THAT(measured().cards, UnorderedElementsAre("GPU-b"));
  EXPECT_THAT(problem(), HasSubstr("already has processes"));
}

TEST_F(RunOnCardsTest, WhatACardDiesOnIsMeasuredElsewhere) {
  for (const int processes : {1, 3}) {
    for (const std::string end : {"kill -KILL $$", "sleep 60", "exit 1", "exit 2"}) {
      const std::string which = fmt::format("{}, {}", end, processes);
      request_.out = {folder_.path() / ("run, " + which)};
      request_.processes.minimum = processes;
      request_.measuring.timeout_s = end == "sleep 60" ? 2 : 1800;
      program(kReadFlags.data() + fmt::format("[ -n \"$out\" ] && {}{}", kDiesOnTheSecond, end));
      EXPECT_EQ(run(), kNoRegression) << which;
      EXPECT_THAT(measured().benchmarks, SizeIs(30)) << which;
      EXPECT_THAT(measured().cards, UnorderedElementsAre("GPU-a")) << which;
      EXPECT_THAT(err_.str(), HasSubstr("GPU 1 is taken out, and shard ")) << which;
      // Every attempt of a process is kept, with its log.
      int failed = 0;
      for (const auto& kept : fs::directory_iterator(shards())) {
        EXPECT_THAT(kept.path().filename(), EndsWith("-failed-on-1"));
        EXPECT_TRUE(fs::exists(kept.path() / "1.log")) << which;
        ++failed;
      }
      EXPECT_EQ(failed, 1) << which;
    }
  }
}

TEST_F(RunOnCardsTest, WhatNoCardCanMeasureIsNamedAndTheOthersAreKept) {
  program("case $* in *a13*) kill -SEGV $$ ;; esac");
  const std::string what = problem();
  EXPECT_THAT(what, AllOf(HasSubstr("--gpus: GPU "), HasSubstr("ended by signal 11"),
                          HasSubstr("1 shard of 2 left"), HasSubstr("measure the rest")));
  EXPECT_TRUE(fs::exists(shards() / "plan.json"));
  EXPECT_FALSE(fs::exists(request_.out.front() / "run.json"));
  EXPECT_THAT(problem(), HasSubstr("has shards of a run that did not end"));
}

TEST_F(RunOnCardsTest, OneFailedProcessIsNoReason) {
  program(std::string(kReadFlags) + "[ \"$process\" = 2 ] && kill -SEGV $$");
  EXPECT_EQ(run(), kCouldNotJudge);
  EXPECT_THAT(measured().cards, SizeIs(2)) << err_.str();
}

TEST_F(RunOnCardsTest, AnInterruptEndsAllCards) {
  program(std::string(kReadFlags) +
          "[ \"$process\" = 2 ] && {\n"
          "[ \"$CUDA_VISIBLE_DEVICES\" = GPU-a ] && (sleep 0.3; kill -INT $PPID) &\nexec sleep 60; "
          "}\n");
  EXPECT_EQ(run(), kCouldNotJudge);
  EXPECT_THAT(err_.str(), HasSubstr("fusegate: interrupted; 2 shards of 2 left, 1, 2;"));
  for (const int shard : {1, 2}) {
    const RunRecord record = read_run_record(shards() / std::to_string(shard));
    EXPECT_FALSE(record.finished);
    EXPECT_EQ(record.processes.back().failure, "interrupted");
  }
}

TEST_F(RunOnCardsTest, RefusesWhatItCannotMeasureOn) {
  request_.measuring.gpus = "0,4";
  EXPECT_THAT(problem(), HasSubstr("--gpus: \"4\" is no GPU; nvidia-smi -L lists 0, 1"));
  request_.measuring.gpus = "all";
  request_.out.push_back(folder_.path() / "second");
  EXPECT_THAT(problem(), HasSubstr("--gpus: takes one --program and one --out folder"));
  request_.out.pop_back();
  program("echo 'no such suite' >&2; exit 2");
  EXPECT_THAT(problem(), HasSubstr("no such suite"));
  EXPECT_FALSE(fs::exists(request_.out.front()));
}

class DuetOnCardsTest : public SideBySideTest<DuetRequest, duet_command> {
 protected:
  DuetOnCardsTest() {
    request_.measuring.gpus = "0,1";
    request_.base = write_bench(folder_, "base-bench", {.file = suite_file()});
    request_.head = head({.file = suite_file(1.2), .phase = 1});
  }

  const FakeHost host_{folder_};
};

TEST_F(DuetOnCardsTest, BaseAndHeadOfABenchmarkShareACard) {
  FakeRunFile more = suite_file(1.2);
  more.times["new"] = 30000;
  request_.head = head({.file = more, .phase = 1});
  EXPECT_EQ(run(), kRegression);
  EXPECT_EQ(json()["counts"]["regression"], 1);
  EXPECT_EQ(json()["counts"]["new"], 1);
  EXPECT_EQ(json()["verdicts"].size(), 31u);
  EXPECT_EQ(json()["aa"]["processes_a_side"], 5);
  const baselines::Run base = baselines::load_run({request_.out / "base"});
  const baselines::Run head = baselines::load_run({request_.out / "head"});
  EXPECT_EQ(base.session, head.session);
  for (const auto& series : base.benchmarks) {
    if (series.is_control) continue;
    const auto card_of = [&](const baselines::Run& run) {
      return run.cards.at(find_series(run, series.name)->processes.front().card);
    };
    EXPECT_EQ(card_of(base), card_of(head)) << series.name;
  }
}

TEST_F(DuetOnCardsTest, TheVerdictsAreThoseOfOneCard) {
  const auto verdicts = [&](const std::string& gpus) {
    request_.measuring.gpus = gpus;
    request_.out = folder_.path() / ("runs" + gpus);
    run();
    std::map<std::string, std::string> found;
    const nlohmann::json gate = json();
    for (const auto& verdict : gate["verdicts"]) found[verdict["benchmark"]] = verdict["verdict"];
    return found;
  };
  const auto of_one = verdicts("");
  EXPECT_THAT(of_one, SizeIs(30));
  EXPECT_EQ(of_one.at("a07"), "regression");
  EXPECT_EQ(verdicts("all"), of_one);
}

TEST_F(DuetOnCardsTest, IdenticalCodeIsNotMeasured) {
  FakeRunFile file = suite_file();
  for (const auto& [name, time_ns] : file.times) file.codes[name] = "0f";
  request_.base = write_bench(folder_, "base-bench", {.file = file});
  request_.head = head({.file = file, .phase = 1});
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_EQ(json()["counts"]["identical"], 30);
}

TEST_F(DuetOnCardsTest, AnInterruptLeavesNoVerdict) {
  request_.head = head({.file = suite_file(), .phase = 1, .more = kInterruptedInTheSecond});
  EXPECT_EQ(run(), kCouldNotJudge);
  EXPECT_THAT(json()["headline"], HasSubstr("interrupted"));
}

}  // namespace
}  // namespace fusegate::ci
