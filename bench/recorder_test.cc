#include "bench/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "baselines/file_io.h"

namespace fusegate {
namespace {

using nlohmann::json;

class RecorderTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(path_.parent_path()); }

  RunFile write_and_read(const std::vector<std::vector<json>>& benchmarks, bool finish) {
    const InvocationInfo info{.suite = "mine", .number = 3, .seed = 7, .protocol = {}};
    RunFileWriter writer(path_, {{"date", "2026-11-21T00:00:00+00:00"},
                                 {"host_name", "here"},
                                 {"fusegate", fusegate_context(info, probe_)}});
    for (const auto& entries : benchmarks) writer.append(entries);
    if (finish) writer.finish({});
    return read_run_file(path_);
  }

  std::unique_ptr<Device> device_ = open_device("cpu");
  EnvironmentProbe probe_{*device_};
  // Tests of one program run side by side: each has a folder of its own.
  std::filesystem::path path_ =
      std::filesystem::path(testing::TempDir()) / "fusegate_recorder_test" /
      testing::UnitTest::GetInstance()->current_test_info()->name() / "1.json";
};

std::vector<SampleEntry> three_samples() {
  std::vector<SampleEntry> samples;
  for (int i = 0; i < 3; ++i) {
    samples.push_back({.index = i,
                       .iterations = 10,
                       .real_time_ns = 1000.0 + 10 * i,
                       .cpu_time_ns = 5,
                       .counters = {{"flops", 64.0}, {"sm_clock_hz", 1e9}}});
  }
  return samples;
}

BenchmarkRecord record_with_choice() {
  BenchmarkRecord record;
  record.stages.push_back({"gate_proj", 10, 20, nullptr, "algo 66, tile 18"});
  record.doubts = {Doubt::kShortBatch};
  return record;
}

TEST_F(RecorderTest, WritesWhatTheReaderReads) {
  const RunFile file =
      write_and_read({benchmark_entries("a/b", 0, 3, three_samples(), record_with_choice())}, true);
  EXPECT_EQ(file.provenance.suite, "mine");
  EXPECT_EQ(file.provenance.host, "here");
  EXPECT_EQ(file.provenance.protocol.at("samples"), Protocol{}.samples);
  EXPECT_EQ(file.environment.at("device"), device_->name());
  ASSERT_EQ(file.benchmarks.size(), 1u);
  const BenchmarkResult& result = file.benchmarks[0];
  EXPECT_EQ(result.name, "a/b");
  EXPECT_EQ(result.summary.samples, 3);
  EXPECT_DOUBLE_EQ(result.summary.time_ns, 1010);
  EXPECT_DOUBLE_EQ(result.summary.cycles, 1010);
  EXPECT_EQ(result.choices.at("gate_proj"), "algo 66, tile 18");
  EXPECT_EQ(result.counters.at("flops"), 64);
  EXPECT_THAT(result.doubts, testing::ElementsAre(Doubt::kShortBatch));
}

TEST_F(RecorderTest, KeepsFailuresBesideResults) {
  BenchmarkRecord wrong;
  wrong.failure = "wrong result: relative error 0.5";
  const RunFile file = write_and_read({benchmark_entries("bad", 0, 3, {}, wrong),
                                       benchmark_entries("good", 1, 3, three_samples(), {})},
                                      false);
  ASSERT_EQ(file.benchmarks.size(), 2u);
  EXPECT_EQ(file.benchmarks[0].failure, wrong.failure);
  EXPECT_EQ(file.benchmarks[1].failure, "");
}

TEST_F(RecorderTest, LeavesOutCountersThatAreNotNumbers) {
  std::vector<SampleEntry> samples = three_samples();
  samples[1].counters["sm_clock_hz"] = std::numeric_limits<double>::quiet_NaN();
  const json entry = benchmark_entries("a", 0, 1, samples, {}).at(1);
  EXPECT_FALSE(entry.contains("sm_clock_hz"));
  EXPECT_EQ(entry.at("invocation"), 1);
  EXPECT_EQ(entry.at("time_unit"), "ns");
}

TEST(ProgressLine, IsOneJsonObject) {
  const std::string prefix = "@fusegate ";
  const std::string line = progress_line("a/b", 2, 9, three_samples(), {});
  ASSERT_TRUE(line.starts_with(prefix));
  const json event = json::parse(line.substr(prefix.size()));
  EXPECT_EQ(event.at("index"), 2);
  EXPECT_EQ(event.at("total"), 9);
  EXPECT_EQ(event.at("time_ns"), 1010);
  BenchmarkRecord failed;
  failed.failure = "no memory";
  EXPECT_EQ(json::parse(progress_line("a", 1, 1, {}, failed).substr(prefix.size())).at("failure"),
            "no memory");
}

}  // namespace
}  // namespace fusegate
