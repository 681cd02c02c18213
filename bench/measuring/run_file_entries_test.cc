#include "bench/measuring/run_file_entries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "baselines/io/scratch_folder.h"
#include "baselines/record/run_file.h"

namespace fusegate::bench {
namespace {

using nlohmann::json;

EntryHead head_of(const std::string& name) {
  return {.name = name, .family = 0, .process = 3, .repetitions = 3};
}

// Of ten calls each.
LayoutRecord three_samples() {
  const Sample sample{.batch_ns = 10100, .sm_clock_hz = 1e9, .cpu_ns = 50};
  // All alike: how they are summed up is the reader's.
  return {.samples = {sample, sample, sample}, .warnings = {}, .throttle_reasons = {}};
}

BenchmarkRecord plain_record() { return {.calls = 10, .flops = 64, .launches = {}, .stages = {}}; }

BenchmarkRecord record_with_choice() {
  BenchmarkRecord record = plain_record();
  record.stages.push_back({"gate_proj", 10, 20, nullptr, "algo 66, tile 18"});
  record.stages.back().kernels.push_back({.name = "gemm<float>",
                                          .blocks = 528,
                                          .threads_per_block = 384,
                                          .registers = 168,
                                          .static_shared_bytes = 1024,
                                          .dynamic_shared_bytes = 200000,
                                          .blocks_per_sm = 1,
                                          .occupancy = 0.1875});
  record.stages.push_back({"gelu_mul", 10, 20, nullptr, ""});
  return record;
}

TEST(RunFileEntries, AreWhatTheReaderReads) {
  const auto device = kernels::open_device("cpu");
  const EnvironmentProbe probe(*device);
  const ProcessInfo info{.suite = "mine", .number = 3, .seed = 7, .protocol = {}};
  const baselines::ScratchFolder folder;
  const auto path = folder.path() / "1.json";
  LayoutRecord layout = three_samples();
  layout.warnings = {baselines::Warning::kShortBatch};
  baselines::RunFileWriter writer(path, {{"date", "2026-11-21T00:00:00+00:00"},
                                         {"host_name", "here"},
                                         {"fusegate", fusegate_context(info, probe)}});
  writer.append(layout_entries(head_of("a/b"), 0, layout, record_with_choice()));
  writer.finish({});
  const baselines::RunFile file = baselines::read_run_file(path);
  EXPECT_EQ(file.provenance.suite, "mine");
  EXPECT_EQ(file.provenance.host, "here");
  EXPECT_THAT(file.provenance.toolchain,
              testing::ContainsRegex("^[A-Za-z]+ [0-9.]+, .*(Release|Debug)"));
  EXPECT_THAT(file.provenance.fusegate, testing::ContainsRegex("^[0-9]+[.][0-9]+[.][0-9]+$"));
  EXPECT_EQ(file.provenance.protocol.at("samples"), Protocol{}.samples);
  EXPECT_EQ(file.provenance.protocol.at("order"), "interleaved");
  EXPECT_EQ(file.environment.at("device"), device->name());
  ASSERT_EQ(file.benchmarks.size(), 1u);
  const baselines::BenchmarkResult& result = file.benchmarks[0];
  EXPECT_EQ(result.name, "a/b");
  EXPECT_EQ(result.summary.samples, 3);
  EXPECT_DOUBLE_EQ(result.summary.time_ns, 1010);
  EXPECT_DOUBLE_EQ(result.summary.cycles, 1010);
  EXPECT_EQ(result.choices.at("gate_proj"), "algo 66, tile 18");
  EXPECT_EQ(result.counters.at("flops"), 64);
  EXPECT_THAT(result.warnings, testing::ElementsAre(baselines::Warning::kShortBatch));
}

TEST(LayoutEntries, ReportTheResourcesOfEveryStagesKernels) {
  const json entry = layout_entries(head_of("a"), 0, three_samples(), record_with_choice()).at(0);
  const json& stages = entry.at("details").at("stages");
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(stages[0].at("kernels"), json::parse(R"([{
      "name": "gemm<float>", "blocks": 528, "threads_per_block": 384, "registers": 168,
      "static_shared_bytes": 1024, "dynamic_shared_bytes": 200000, "blocks_per_sm": 1,
      "occupancy": 0.1875}])"));
  EXPECT_FALSE(stages[1].contains("kernels")) << "the device reported none";
}

TEST(LayoutEntries, LeaveOutCountersThatAreNotNumbers) {
  LayoutRecord layout = three_samples();
  layout.samples[1].sm_clock_hz = std::numeric_limits<double>::quiet_NaN();
  const json entry = layout_entries(head_of("a"), 6, layout, plain_record()).at(1);
  EXPECT_FALSE(entry.contains("sm_clock_hz"));
  EXPECT_FALSE(entry.contains("details"));
  EXPECT_EQ(entry.at("repetition_index"), 7);
  EXPECT_EQ(entry.at("process"), 3);
  EXPECT_EQ(entry.at("time_unit"), "ns");
}

TEST(LayoutEntries, KeepNotesApartFromChoicesThatAreCompared) {
  BenchmarkRecord record = record_with_choice();
  record.stages[0].note = "compiled in 75 ms";
  const json details = layout_entries(head_of("a"), 0, three_samples(), record)[0].at("details");
  EXPECT_EQ(details.at("notes"), json({{"gate_proj", "compiled in 75 ms"}}));
  EXPECT_EQ(details.at("choices"), json({{"gate_proj", "algo 66, tile 18"}}));
}

TEST(LayoutEntries, CountPerCall) {
  const json entry = layout_entries(head_of("a"), 0, three_samples(), plain_record()).at(0);
  EXPECT_EQ(entry.at("iterations"), 10);
  EXPECT_EQ(entry.at("real_time"), 1010);
  EXPECT_EQ(entry.at("cpu_time"), 5);
  EXPECT_EQ(entry.at("flops"), 64);
}

TEST(Counters, LeaveOutWhatIsNotKnown) {
  BenchmarkRecord record = plain_record();
  record.host_ns = std::numeric_limits<double>::quiet_NaN();
  record.host_graph_ns = 2500;
  record.memory_bytes = 4096;
  record.launches = {.kernels = 2, .memory_operations = 1};
  std::map<std::string, double> found = counters(record, {.batch_ns = 1, .sm_clock_hz = 1.5e9});
  EXPECT_EQ(found.at("kernel_launches"), 2);
  EXPECT_EQ(found.at("memory_operations"), 1);
  EXPECT_EQ(found.at("sm_clock_hz"), 1.5e9);
  EXPECT_FALSE(found.contains("host_ns"));
  EXPECT_EQ(found.at("host_graph_ns"), 2500);
  EXPECT_EQ(found.at("memory_bytes"), 4096);
  EXPECT_FALSE(found.contains("kept_bytes"));
  record.kept_bytes = 0;
  record.memory_bytes = record.host_ns;
  record.host_graph_ns = record.host_ns;
  record.launches.memory_operations = 0;
  record.not_capturable = "it waits for the device";
  found = counters(record, {.batch_ns = 1});
  EXPECT_EQ(found.at("kept_bytes"), 0);
  for (const char* counter :
       {"host_graph_ns", "kernel_launches", "memory_bytes", "memory_operations", "sm_clock_hz"}) {
    EXPECT_FALSE(found.contains(counter)) << counter;
  }
}

}  // namespace
}  // namespace fusegate::bench
