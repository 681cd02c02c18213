// What becomes of layouts and failures, without a device.
#include "bench/measuring/run_file_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/scratch_folder.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::bench {
namespace {

using nlohmann::json;

const BenchmarkRecord kOneCall{.calls = 1, .launches = {}, .stages = {}};

class RunFileRecorderTest : public testing::Test {
 protected:
  RunFileRecorderTest() {
    for (const char* name : {"fused", "unfused"}) {
      plan_.benchmarks.push_back({&kernels::find_implementation("geglu", name, "cpu"),
                                  kernels::ladder_problem(1, 4, 1, 16, kernels::Dtype::kFp32)});
    }
    info_.protocol.samples = 4;
    info_.protocol.layouts = 2;
  }

  // Both benchmarks are to be measured; path_ is resumed where it is there.
  RunFileRecorder make() {
    RunFileRecorder recorder(plan_, info_);
    if (std::filesystem::exists(path_)) recorder.resume(path_);
    recorder.select(0);
    recorder.select(1);
    recorder.open(path_, json::object());
    return recorder;
  }

  static LayoutRecord two_samples(double time_ns) {
    const Sample sample{.batch_ns = time_ns};
    return {.samples = {sample, sample}, .warnings = {}, .throttle_reasons = {}};
  }

  static json event_of(const std::string& line) {
    const std::string prefix = "@fusegate ";
    EXPECT_TRUE(line.starts_with(prefix));
    return json::parse(line.substr(prefix.size()));
  }

  Plan plan_;
  ProcessInfo info_;
  baselines::ScratchFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "1.json";
};

TEST_F(RunFileRecorderTest, CountsLayoutsAndBenchmarks) {
  RunFileRecorder recorder = make();
  const json start = event_of(recorder.start_line());
  EXPECT_EQ(start.at("event"), "start");
  EXPECT_EQ(start.at("total"), 4);
  EXPECT_EQ(start.at("benchmarks"), 2);
  recorder.add_layout(1, two_samples(1000), kOneCall);
  recorder.add_layout(1, two_samples(1020), kOneCall);
  EXPECT_TRUE(recorder.is_complete(1));
  EXPECT_FALSE(recorder.is_complete(0));
  EXPECT_FALSE(recorder.is_everything_complete());
  const json event = event_of(recorder.progress_line(1));
  EXPECT_EQ(event.at("index"), 2);
  EXPECT_EQ(event.at("total"), 4);
  EXPECT_EQ(event.at("finished"), 1);
  EXPECT_EQ(event.at("benchmark"), plan_.benchmarks[1].name());
  EXPECT_EQ(event.at("time_ns"), 1010);
}

TEST_F(RunFileRecorderTest, AFailureCompletesABenchmarkWhateverItHas) {
  RunFileRecorder recorder = make();
  recorder.add_layout(0, two_samples(1000), kOneCall);
  recorder.add_failure(0, "no memory\xff");
  EXPECT_TRUE(recorder.is_complete(0));
  EXPECT_TRUE(recorder.has_failed(0));
  EXPECT_EQ(recorder.failures(), 1);
  const json event = event_of(recorder.progress_line(0));
  EXPECT_EQ(event.at("index"), 2) << "the layout that is not to come counts as done";
  EXPECT_THAT(event.at("failure").get<std::string>(), testing::HasSubstr("no memory"));
  const baselines::RunFile file = baselines::read_run_file(path_);
  ASSERT_EQ(file.benchmarks.size(), 1u);
  EXPECT_THAT(file.benchmarks[0].failure, testing::HasSubstr("no memory"));
  EXPECT_EQ(file.benchmarks[0].summary.samples, 2);
}

TEST_F(RunFileRecorderTest, TheFileIsWholeAfterEveryFlush) {
  RunFileRecorder recorder = make();
  EXPECT_EQ(baselines::read_run_file(path_).benchmarks.size(), 0u);
  recorder.add_layout(0, two_samples(1000), kOneCall);
  recorder.flush();
  EXPECT_EQ(baselines::read_run_file(path_).benchmarks.at(0).summary.samples, 2);
  recorder.add_layout(1, two_samples(1000), kOneCall);
  LayoutRecord later = two_samples(1000);
  later.warnings = {baselines::Warning::kShortBatch};
  recorder.add_layout(0, later, kOneCall);
  recorder.finish({baselines::Warning::kBusyHost});
  const baselines::RunFile file = baselines::read_run_file(path_);
  ASSERT_EQ(file.benchmarks.size(), 2u);
  EXPECT_EQ(file.benchmarks[0].summary.samples, 4);
  EXPECT_THAT(file.benchmarks[0].warnings, testing::ElementsAre(baselines::Warning::kShortBatch));
  EXPECT_EQ(file.benchmarks[1].summary.samples, 2);
  EXPECT_THAT(file.warnings, testing::ElementsAre(baselines::Warning::kBusyHost));
  EXPECT_TRUE(json::parse(baselines::read_file(path_))["context"]["fusegate"]["finished"]);
}

TEST_F(RunFileRecorderTest, ResumesAtTheLayoutThatIsMissing) {
  {
    RunFileRecorder recorder = make();
    recorder.add_layout(0, two_samples(1000), kOneCall);
    recorder.add_failure(1, "wrong result");
  }
  std::swap(plan_.benchmarks[0], plan_.benchmarks[1]);  // another plan, another number for each
  {
    RunFileRecorder recorder = make();
    EXPECT_TRUE(recorder.has_failed(0));
    EXPECT_EQ(recorder.next_layout(1), 1);
    EXPECT_EQ(event_of(recorder.start_line()).at("total"), 4);
    recorder.add_layout(1, two_samples(1200), kOneCall);
    EXPECT_TRUE(recorder.is_everything_complete());
    EXPECT_EQ(event_of(recorder.progress_line(1)).at("index"), 4);
    recorder.finish({});
  }
  const baselines::RunFile file = baselines::read_run_file(path_);
  ASSERT_EQ(file.benchmarks.size(), 2u);
  EXPECT_EQ(file.benchmarks[0].summary.samples, 4);
  EXPECT_EQ(file.benchmarks[0].failure, "");
  EXPECT_EQ(file.benchmarks[1].failure, "wrong result");
}

TEST_F(RunFileRecorderTest, KeepsTheWarningOfTheProcessThatBeganTheFile) {
  make().leave({baselines::Warning::kXid});
  EXPECT_FALSE(json::parse(baselines::read_file(path_))["context"]["fusegate"]["finished"]);
  make().leave({baselines::Warning::kBusyHost});
  make().finish({baselines::Warning::kXid});
  EXPECT_THAT(
      baselines::read_run_file(path_).warnings,
      testing::UnorderedElementsAre(baselines::Warning::kXid, baselines::Warning::kBusyHost));
}

TEST_F(RunFileRecorderTest, RefusesToResumeWhatIsNoRunFile) {
  for (const std::string text : {"{\"benchmarks\": [", "{}", "{\"benchmarks\": [{\"name\": 1}]}"}) {
    baselines::write_atomically(path_, text);
    EXPECT_THROW(make(), baselines::InputError) << text;
  }
}

}  // namespace
}  // namespace fusegate::bench
