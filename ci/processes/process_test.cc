#include "ci/processes/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "baselines/io/file_io.h"
#include "tests/fakes/fake_program.h"

namespace fusegate::ci {
namespace {

using tests::FakeRunFile;
using tests::identities_text;
using tests::kReadFlags;
using tests::run_file_text;
using tests::write_script;

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ProcessTest : public ::testing::Test {
 protected:
  ProcessRequest request(const std::string& script) {
    ProcessRequest request;
    request.program = write_script(folder_, "bench", script);
    request.suite = "smoke";
    request.folder = folder_.path();
    request.number = 3;
    request.seed = 77;
    request.flags = {"--batch=8", "--name=with blank"};
    request.timeout_s = 30;
    return request;
  }
  // body: what the fake program does after it has read its flags.
  ProcessOutcome run(const std::string& body, double timeout_s = 30) {
    ProcessRequest process = request(std::string(kReadFlags) + body);
    process.timeout_s = timeout_s;
    return run_process(process, [&](const ProgressEvent& event) { events_.push_back(event); });
  }
  std::string log() const { return baselines::read_file(folder_.path() / "3.log"); }
  // A shell command that leaves that run file.
  std::string leave(const FakeRunFile& file) const {
    const auto prepared = folder_.write("prepared", run_file_text(file));
    return "leave '" + prepared.string() + "' \"$out\"\n";
  }

  baselines::ScratchFolder folder_;
  std::vector<ProgressEvent> events_;
};

TEST_F(ProcessTest, IsIdentifiedAnewWhereASuiteOrItsModelsChanged) {
  ProcessRequest asked = request("exit 0");
  std::filesystem::create_directories(folder_.path() / "suites" / "models");
  std::vector<std::string> questions{identification_question(asked)};
  for (const char* file : {"suites/smoke.json", "suites/models/a.json", "suites/models/b.json"}) {
    folder_.write(file, "{}");
    EXPECT_THAT(questions, Not(Contains(identification_question(asked)))) << file;
    questions.push_back(identification_question(asked));
  }
  EXPECT_EQ(identification_question(asked), questions.back());
}

TEST_F(ProcessTest, GivesTheProgramItsFlags) {
  run("for a in \"$@\"; do echo \"[$a]\"; done; exit 1");
  EXPECT_EQ(log(), "[--suite=smoke]\n[--out=" + (folder_.path() / "3.json").string() +
                       "]\n[--invocation=3]\n[--seed=77]\n[--progress]\n[--batch=8]\n"
                       "[--name=with blank]\n");
}

// Its output is ours whatever the user asks for.
TEST_F(ProcessTest, MeasuresAProgramOfGoogleBenchmark) {
  const std::string prepared = folder_.write("prepared", run_file_text({})).string();
  ProcessRequest plain = request(R"(
      for a in "$@"; do case $a in --benchmark_out=*) out=${a#*=} ;; esac; done
      echo "$@"
      echo 'BM_x/8       12 ns       12 ns     1000'
      cp ')" + prepared + "' \"$out\"\n");
  plain.flags = {"--benchmark_filter=x", "--benchmark_out=elsewhere"};
  plain.google_benchmark = GoogleBenchmark{{"BM_x/8", "BM_y"}};
  const ProcessOutcome outcome =
      run_process(plain, [&](const ProgressEvent& event) { events_.push_back(event); });
  EXPECT_EQ(outcome.record.failure, "");
  EXPECT_EQ(outcome.record.file, "3.json");
  EXPECT_THAT(log(), StartsWith("--benchmark_filter=x --benchmark_out=elsewhere --benchmark_out=" +
                                (folder_.path() / "3.json").string() +
                                " --benchmark_out_format=json\nBM_x/8 "));
  ASSERT_EQ(events_.size(), 1u);
  EXPECT_EQ(events_[0].benchmark, "BM_x/8");
  EXPECT_EQ(events_[0].index, 1);
  EXPECT_EQ(events_[0].total, 1) << "of what the filter leaves";
}

TEST_F(ProcessTest, IsHopelessWhereGoogleBenchmarkRefusesAFlag) {
  ProcessRequest plain = request(R"(
      echo 'Load Average: 1.00, 1.00, 1.00' >&2
      echo "bench: error: unrecognized command-line flag: --oops" >&2
      echo '***WARNING*** Library was built as DEBUG.' >&2
      exit 1)");
  plain.google_benchmark.emplace();
  const auto outcome = run_process(plain, [](const ProgressEvent&) {});
  EXPECT_TRUE(outcome.hopeless);
  EXPECT_EQ(outcome.record.failure,
            "exit code 1: bench: error: unrecognized command-line flag: --oops");
}

TEST_F(ProcessTest, SucceedsWithARunFile) {
  const auto outcome = run(leave({}));
  EXPECT_EQ(outcome.record.failure, "");
  EXPECT_EQ(outcome.record.file, "3.json");
  EXPECT_EQ(outcome.record.seed, 77u);
  EXPECT_FALSE(outcome.hopeless);
  EXPECT_TRUE(outcome.failed_benchmarks.empty());
}

TEST_F(ProcessTest, TakesEventsFromStandardOutputAndLogsTheRest) {
  run(leave({}) + R"(
      echo '@fusegate {"event":"start","total":2}'
      echo 'for people'
      echo '@fusegate {"event":"benchmark","index":1,"total":2,"benchmark":"a"}'
      echo '@fusegate {"event":"start","total":2}' >&2)");
  ASSERT_EQ(events_.size(), 2u);
  EXPECT_EQ(events_[1].benchmark, "a");
  EXPECT_THAT(log(), HasSubstr("for people"));
  EXPECT_THAT(log(), HasSubstr("@fusegate"));  // the one on standard error
}

TEST_F(ProcessTest, NamesTheSignalAndTheLastWordsOfACrashAndGoesOn) {
  auto outcome = run(leave({}) + "kill -SEGV $$");
  EXPECT_EQ(outcome.record.signal, SIGSEGV);
  EXPECT_THAT(outcome.record.failure, StartsWith("ended by signal 11"));
  EXPECT_FALSE(outcome.hopeless);
  outcome = run("echo 'check failed: x == y' >&2; kill -ABRT $$");
  EXPECT_EQ(outcome.record.failure, "ended by signal 6 (Aborted): check failed: x == y");
}

TEST_F(ProcessTest, DiedWhereItCrashedOrEveryBenchmarkFailed) {
  EXPECT_FALSE(run(leave({})).died);
  EXPECT_TRUE(run(leave({}) + "kill -SEGV $$").died);
  EXPECT_TRUE(run("exit 1").died);
  tests::FakeRunFile file{.failures = {{"a", "wrong results"}}};
  EXPECT_FALSE(run(leave(file) + "exit 2").died) << "others were measured";
  file.times.clear();
  EXPECT_TRUE(run(leave(file) + "exit 2").died);
}

TEST_F(ProcessTest, RemovesWhatAKilledProcessWasWriting) {
  run("touch \"${out%/*}/.3.json.fusegate-abc123\"; kill -KILL $$");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / ".3.json.fusegate-abc123"));
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "3.log"));
}

TEST_F(ProcessTest, StopsAtTheTimeLimit) {
  const auto outcome = run("echo 'x did not end' >&2; sleep 60", 0.3);
  EXPECT_THAT(outcome.record.failure, StartsWith("stopped after"));
  EXPECT_THAT(outcome.record.failure, EndsWith(": x did not end"));
  EXPECT_FALSE(outcome.hopeless);
}

TEST_F(ProcessTest, HasTheProgramGiveUpABenchmarkBeforeItsOwnTimeIsUp) {
  const std::string print = "echo \"patience: $FUSEGATE_STUCK_AFTER_S.\"; exit 1";
  run(print, 100);
  EXPECT_EQ(log(), "patience: 25.\n");
  run(print, 1800);
  EXPECT_EQ(log(), "patience: .\n") << "its own is shorter";
}

TEST_F(ProcessTest, ListsBenchmarksThatFailedButKeepsACrashAsTheReason) {
  FakeRunFile file;
  file.failures = {{"geglu/odd/bf16/batch:1/seq:1/dim:8/hidden:8", "wrong results"}};
  auto outcome = run(leave(file) + "exit 2");
  EXPECT_EQ(outcome.record.failure, "1 benchmark failed");
  EXPECT_TRUE(outcome.only_benchmarks_failed);
  ASSERT_EQ(outcome.failed_benchmarks.size(), 1u);
  EXPECT_EQ(outcome.failed_benchmarks.begin()->second, "wrong results");
  EXPECT_FALSE(outcome.hopeless);
  outcome = run(leave(file) + "kill -SEGV $$");
  EXPECT_THAT(outcome.record.failure, StartsWith("ended by signal"));
  EXPECT_FALSE(outcome.only_benchmarks_failed);
}

TEST_F(ProcessTest, IsHopelessWhereTheSuiteIsRefused) {
  const auto outcome = run("echo starting; echo 'fusegate_bench: suite: unknown: x' >&2; exit 2");
  EXPECT_TRUE(outcome.hopeless);
  EXPECT_EQ(outcome.record.failure, "exit code 2: fusegate_bench: suite: unknown: x");
}

TEST_F(ProcessTest, IsHopelessWhereTheProgramCannotRun) {
  EXPECT_TRUE(run("exec /nonexistent/library-loader").hopeless);
  ProcessRequest missing = request("");
  missing.program += "-missing";
  const auto outcome = run_process(missing, [](const ProgressEvent&) {});
  EXPECT_TRUE(outcome.hopeless);
  EXPECT_EQ(outcome.record.failure, "cannot be started: No such file or directory");
}

TEST_F(ProcessTest, DoesNotBelieveAGoodExitCodeWithoutAGoodRunFile) {
  EXPECT_EQ(run("exit 0").record.failure, "wrote no run file");
  EXPECT_THAT(run("echo '{\"context\": ' > \"$out\"").record.failure, HasSubstr("3.json"));
  FakeRunFile file;
  file.finished = false;
  EXPECT_EQ(run(leave(file) + "echo 'leaving now'; exit 0").record.failure,
            "ended with exit code 0 before it finished: leaving now");
  EXPECT_EQ(run(leave(file) + "exit 1").record.failure, "exit code 1");
  file.times.clear();
  EXPECT_EQ(run(leave(file)).record.failure, "ended with exit code 0 before it finished");
  file.finished = true;
  EXPECT_EQ(run(leave(file)).record.failure, "measured no benchmark");
}

class IdentificationTest : public ProcessTest {
 protected:
  IdentificationOutcome identify(const std::string& start, const std::string& body = "") {
    ProcessRequest question = request(start + std::string(kReadFlags) + body);
    question.environment = {{"KEPT", "this"}};
    return run_identification(question);
  }
};

TEST_F(IdentificationTest, GivesTheProgramTheSameFlagsAndEnvironmentAsProcesses) {
  const std::string answer =
      folder_.write("answer", identities_text({.codes = {{"a", "0f"}}})).string();
  const IdentificationOutcome outcome =
      identify("identities='" + answer + "'\nprintf '[%s]' \"$@\" \"$KEPT\"\n");
  ASSERT_TRUE(outcome.identities.has_value()) << outcome.failure;
  EXPECT_EQ(outcome.identities->benchmarks.at("a").launches.at(0).code, "0f");
  EXPECT_EQ(outcome.failure, "");
  const std::string out = (folder_.path() / "identities.json").string();
  EXPECT_EQ(
      baselines::read_file(folder_.path() / "identities.log"),
      "[--suite=smoke][--identify=" + out + "][--seed=77][--batch=8][--name=with blank][this]\n");
}

TEST_F(IdentificationTest, AProgramThatIsOlderThanTheQuestionDoesNotKnowHow) {
  const IdentificationOutcome outcome = identify("");
  EXPECT_FALSE(outcome.identities.has_value());
  EXPECT_FALSE(outcome.knows_how);
  EXPECT_THAT(outcome.failure, StartsWith("exit code 2: bench: --identify="));
}

TEST_F(IdentificationTest, AProgramThatFailsSaysWhy) {
  for (const auto& [script, failure] :
       {std::pair("echo 'no device' >&2; exit 2\n", "exit code 2: no device"),
        std::pair("exit 0\n", "wrote no identities.json")}) {
    const IdentificationOutcome outcome = identify(script);
    EXPECT_TRUE(outcome.knows_how);
    EXPECT_EQ(outcome.failure, failure);
  }
}

TEST_F(IdentificationTest, WhereSingleBenchmarksFailTheOthersAreIdentified) {
  FakeRunFile file{.codes = {{"a", "0f"}}};
  file.failures = {{"b", "no memory"}};
  const std::string answer = folder_.write("answer", identities_text(file)).string();
  const IdentificationOutcome outcome =
      identify("for a in \"$@\"; do case $a in --identify=*) cp '" + answer +
               "' \"${a#--identify=}\"; exit 2 ;; esac; done\n");
  ASSERT_TRUE(outcome.identities.has_value());
  EXPECT_EQ(outcome.identities->failures.at("b"), "no memory");
}

}  // namespace
}  // namespace fusegate::ci
