#include "ci/run/resuming.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <sstream>
#include <string>
#include <vector>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "ci/run/measure_run.h"
#include "tests/fakes/fake_bench.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

class ResumeTest : public ::testing::Test {
 protected:
  ResumeTest() {
    request_.options.suite = "smoke";
    request_.options.seed = 1;
    request_.processes = request_.max_processes = 4;
    add_program("A");
  }

  void add_program(const std::string& name, bool is_extended = true) {
    request_.programs.push_back(
        {folder_.path() / name,
         tests::write_bench(folder_, "bench-" + name, {.file = {.times = {{"a", 1000}}}}),
         is_extended});
  }
  RunResult measure() {
    std::ostringstream out, err;
    Console console{out, err};
    return measure_run(request_, analyses_, console, [] { return 0.0; });
  }
  // How many processes that takes.
  std::size_t resume() {
    fs::remove(folder_.path() / "calls");
    request_.options.earlier = Earlier::kResumed;
    EXPECT_TRUE(measure().all_well);
    const fs::path calls = folder_.path() / "calls";
    return fs::exists(calls) ? std::ranges::count(baselines::read_file(calls), '\n') : 0;
  }
  std::string problem() {
    request_.options.earlier = Earlier::kResumed;
    try {
      measure();
    } catch (const baselines::InputError& error) {
      return error.what();
    }
    return "none";
  }

  RunRecord record(const std::string& name) const { return read_run_record(folder_.path() / name); }
  // As if the command had been killed while that process measured.
  void cut_off(const std::string& name, std::size_t process, bool is_recorded = false) {
    RunRecord record = this->record(name);
    const fs::path file = folder_.path() / name / record.processes.at(process - 1).file;
    nlohmann::json run_file = nlohmann::json::parse(baselines::read_file(file));
    run_file["context"]["fusegate"]["finished"] = false;
    baselines::write_atomically(file, run_file.dump());
    record.finished = false;
    record.processes.resize(process);
    record.processes.back().signal = 15;
    record.processes.back().failure = "interrupted";
    if (!is_recorded) record.processes.pop_back();
    write_run_record(folder_.path() / name, record);
  }
  // As if it had been killed when that process had ended, and was not recorded yet.
  void forget(const std::string& name, std::size_t process) {
    RunRecord record = this->record(name);
    record.finished = false;
    record.processes.resize(process);
    record.measuring = record.processes.back();
    record.measuring->seconds = 0;
    record.processes.pop_back();
    write_run_record(folder_.path() / name, record);
  }
  std::vector<int> blocks(const std::string& name) const {
    std::vector<int> blocks;
    for (const ProcessRecord& process : record(name).processes) blocks.push_back(process.block);
    return blocks;
  }

  baselines::ScratchFolder folder_;
  MeasuringRequest request_;
  RunAnalyses analyses_;
};

TEST_F(ResumeTest, MeasuresWhatIsMissingAndWhatWasCutOff) {
  measure();
  const RunRecord whole = record("A");
  for (const bool is_recorded : {false, true}) {
    cut_off("A", 3, is_recorded);
    EXPECT_EQ(resume(), 2u) << is_recorded;
    const RunRecord resumed = record("A");
    EXPECT_THAT(blocks("A"), ElementsAre(1, 2, 3, 4));
    EXPECT_EQ(resumed.session, whole.session);
    EXPECT_EQ(resumed.started, whole.started);
    EXPECT_EQ(resumed.processes[1].seed, whole.processes[1].seed);
    EXPECT_EQ(resumed.processes[2].file, "3.json");
    EXPECT_EQ(resumed.planned_processes, 4);
    EXPECT_TRUE(resumed.finished);
    EXPECT_EQ(last_process_in(folder_.path() / "A"), 4) << "what was cut off is replaced";
  }
}

TEST_F(ResumeTest, KeepsAProcessThatEndedAndWasNotRecorded) {
  measure();
  const fs::path file = folder_.path() / "A/3.json";
  const std::string third = baselines::read_file(file);
  const std::uint64_t seed = record("A").processes[2].seed;
  forget("A", 3);
  fs::remove(folder_.path() / "A/4.json");
  fs::last_write_time(file, fs::last_write_time(folder_.path() / "A/run.json") + 7s);
  EXPECT_EQ(resume(), 1u);
  const RunRecord resumed = record("A");
  EXPECT_EQ(baselines::read_file(file), third);
  EXPECT_THAT(blocks("A"), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(resumed.processes[2].seed, seed);
  EXPECT_DOUBLE_EQ(resumed.processes[2].seconds, 7);
  EXPECT_EQ(resumed.processes[2].failure, "");
  EXPECT_FALSE(resumed.measuring);
}

TEST_F(ResumeTest, MeasuresAnewWhatEndedWithoutAResult) {
  for (const std::string content : {"{", R"({"context": {}})"}) {
    fs::remove_all(folder_.path() / "A");
    request_.options.earlier = Earlier::kRefused;
    measure();
    forget("A", 3);
    folder_.write("A/3.json", content);
    EXPECT_EQ(resume(), 2u) << content;
  }
}

TEST_F(ResumeTest, ARoundThatLacksAProcessIsMeasuredAnewAndNothingWholeIsLost) {
  add_program("B");
  measure();
  cut_off("A", 4);
  cut_off("B", 3);
  EXPECT_EQ(resume(), 4u);
  EXPECT_THAT(blocks("A"), ElementsAre(3, 1, 2, 4, 5));
  EXPECT_THAT(blocks("B"), ElementsAre(1, 2, 4, 5));
  EXPECT_EQ(record("A").planned_processes, 5);
  EXPECT_EQ(record("A").session, record("B").session);
}

TEST_F(ResumeTest, StaysOneSessionWhereOneFolderHasNothingYet) {
  add_program("B");
  measure();
  cut_off("A", 2);
  fs::remove_all(folder_.path() / "B");
  const std::string session = record("A").session;
  resume();
  EXPECT_EQ(record("A").session, session);
  EXPECT_EQ(record("B").session, session);
  EXPECT_THAT(blocks("B"), ElementsAre(2, 3, 4, 5));
}

TEST_F(ResumeTest, CountsTheExtensionsThatAreThere) {
  add_program("again", false);
  request_.max_processes = 7;
  analyses_.interim = [] {
    baselines::Verdict verdict;
    verdict.benchmark = "a";
    verdict.kind = baselines::VerdictKind::kInconclusive;
    return std::vector{verdict};
  };
  measure();
  EXPECT_THAT(record("A").processes, SizeIs(7));
  cut_off("A", 6);
  EXPECT_EQ(resume(), 2u);
  EXPECT_THAT(blocks("A"), ElementsAre(1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(blocks("again"), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(record("A").planned_processes, 7);
}

TEST_F(ResumeTest, AFinishedRunIsLeftAsItIs) {
  request_.is_aa = true;
  request_.processes = request_.max_processes = 5;  // the last round has one half
  measure();
  EXPECT_EQ(resume(), 0u);
  EXPECT_THAT(blocks("A"), ElementsAre(1, 1, 2, 2, 3));
  EXPECT_TRUE(record("A").finished);
}

TEST_F(ResumeTest, StartsWhereNothingIsThere) { EXPECT_EQ(resume(), 4u); }

TEST_F(ResumeTest, RemovesWhatWasCutOffBeforeAnythingWasRecorded) {
  folder_.write("A/1.json", "{");
  EXPECT_EQ(resume(), 4u);
  EXPECT_EQ(record("A").processes.front().file, "1.json");
}

TEST_F(ResumeTest, RefusesAnotherRun) {
  measure();
  const MeasuringRequest same = request_;
  request_.options.suite = "pr";
  EXPECT_THAT(problem(), AllOf(HasSubstr("A/run.json: suite: is \"smoke\", and now \"pr\"; "),
                               HasSubstr("name another folder")));
  request_ = same;
  request_.options.flags = {"--samples=3"};
  EXPECT_THAT(problem(), HasSubstr("flags: is \"\", and now \"--samples=3\""));
  request_ = same;
  request_.options.shard = ShardRecord{.plan = "p", .number = 2, .of = 3, .benchmarks = {"a"}};
  EXPECT_THAT(problem(), HasSubstr("shard: is \"none: the whole suite\", and now \"2 of 3 of"));
  request_ = same;
  const std::string program = baselines::read_file(same.programs.front().program);
  folder_.write("bench-A", program + "# built anew\n");
  EXPECT_THAT(problem(), HasSubstr("run.json: program_hash: is "));
  folder_.write("bench-A", program);
  request_.programs.front().program += "2";
  EXPECT_THAT(problem(), HasSubstr("program: is "));
  EXPECT_THAT(record("A").processes, SizeIs(4));
}

}  // namespace
}  // namespace fusegate::ci
