#include "baselines/formats/nvbench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/scratch_folder.h"

namespace fusegate::baselines {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::DoubleNear;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;
using testing::StartsWith;
using testing::ThrowsMessage;

namespace fs = std::filesystem;

json value(const char* name, const char* type, const json& value) {
  return {{"name", name}, {"type", type}, {"value", value}};
}

json summary(const char* tag, json data) { return {{"tag", tag}, {"data", std::move(data)}}; }

json number(const char* tag, const char* text) {
  return summary(tag, {value("value", "float64", text)});
}

json samples(const char* tag, const char* file, const char* size) {
  return summary(tag, {value("filename", "string", file), value("size", "int64", size)});
}

json state(json summaries, const char* n = "64") {
  return {{"name", "Device=0"},
          {"device", 0},
          {"axis_values", {value("T", "string", "I32"), value("N", "int64", n)}},
          {"summaries", std::move(summaries)},
          {"is_skipped", false}};
}

json timed(const char* seconds = "2e-3") {
  return state(
      {number("nv/cold/time/gpu/mean", seconds), number("nv/cold/sm_clock_rate/mean", "1.5e9")});
}

json timed_with_samples() {
  json with = timed();
  with["summaries"].push_back(samples("nv/json/bin:nv/cold/sample_times", "1.json-bin/0.bin", "3"));
  with["summaries"].push_back(
      samples("nv/json/freqs-bin:nv/cold/sample_freqs", "1.json-freqs-bin/0.bin", "3"));
  return with;
}

json file_of(json states) {
  return {
      {"meta",
       {{"version",
         {{"json", {{"major", 1}}}, {"nvbench", {{"string", "0.1.0"}, {"git_version", "abc"}}}}}}},
      {"devices",
       {{{"id", 0}, {"name", "NVIDIA H200"}, {"ecc_state", true}},
        {{"id", 1}, {"name", "another"}, {"ecc_state", false}}}},
      {"benchmarks", {{{"name", "copy"}, {"states", std::move(states)}}}}};
}

std::string floats(const std::vector<float>& numbers) {
  std::string bytes(4 * numbers.size(), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

class ReadNvbench : public testing::Test {
 protected:
  ForeignFile read(const json& file) const { return read_nvbench(file.dump(), path_); }
  void expect_error(const json& file, const std::string& field, const std::string& words) const {
    EXPECT_THAT([&] { read(file); },
                ThrowsMessage<InputError>(
                    AllOf(StartsWith(path_.string()), HasSubstr(field), HasSubstr(words))))
        << file;
  }
  void write_samples() const {
    folder_.write("1.json-bin/0.bin", floats({2e-3F, 1e-3F, 4e-3F}));
    folder_.write("1.json-freqs-bin/0.bin", floats({1e9F, 2e9F, 1e9F}));
  }

  ScratchFolder folder_;
  fs::path path_ = folder_.path() / "1.json";
};

TEST_F(ReadNvbench, ReadsWhatItsExampleProgramWroteOnAnH200) {
  const fs::path path = fs::path(FUSEGATE_FORMATS) / "nvbench/axes/base/1.json";
  const ForeignFile file = read_nvbench(read_file(path), path);
  EXPECT_THAT(file.environment,
              ElementsAre(Pair("device", json("NVIDIA H200")), Pair("ecc", json(true))));
  EXPECT_EQ(file.protocol, (json{{"tool", "nvbench"}, {"figures", "samples"}}));
  EXPECT_EQ(file.toolchain, "nvbench 0.1.0 (66212f1)");
  EXPECT_THAT(file.skipped,
              testing::UnorderedElementsAre(
                  Pair("copy_type_conversion_sweep/In:I32/Out:I16", StartsWith("Narrowing")),
                  Pair("copy_type_conversion_sweep/In:F32/Out:I16", StartsWith("Narrowing")),
                  Pair("copy_type_conversion_sweep/In:I32/Out:I32", StartsWith("Not a conv"))));
  ASSERT_THAT(file.benchmarks, SizeIs(6));
  const ForeignBenchmark& first = file.benchmarks.front();
  EXPECT_EQ(first.name, "copy_sweep_grid_shape/BlockSize:256/NumBlocks:256");
  EXPECT_THAT(first.times_ns, AllOf(SizeIs(100), Each(DoubleNear(470e3, 5e3))));
  EXPECT_THAT(first.clocks_hz, AllOf(SizeIs(100), Each(DoubleNear(1.98e9, 1e7))));
  EXPECT_NEAR(first.counters.at("min_bytes"), 512 * 1024 * 1024, 100);
  EXPECT_EQ(file.benchmarks.back().name, "single_float64_axis/Duration:0.0002");
}

TEST_F(ReadNvbench, KnowsTheBytesOfACallWhereTheyCanBe) {
  json one = timed();
  one["summaries"].push_back(number("nv/cold/bw/global/bytes_per_second", "5e9"));
  EXPECT_THAT(read(file_of({one})).benchmarks.at(0).counters, ElementsAre(Pair("min_bytes", 1e7)));
  for (const char* rate : {"-1", "0", "1e300"}) {
    one["summaries"][2]["data"][0]["value"] = rate;
    EXPECT_THAT(read(file_of({one})).benchmarks.at(0).counters, IsEmpty()) << rate;
  }
}

TEST_F(ReadNvbench, TakesTheMeanWhereThereAreNoSamples) {
  for (const json& one : {timed(), timed_with_samples()}) {
    const ForeignFile file = read(file_of({one}));
    EXPECT_EQ(file.protocol.at("figures"), "mean");
    ASSERT_THAT(file.benchmarks, SizeIs(1));
    EXPECT_EQ(file.benchmarks[0].name, "copy/T:I32/N:64");
    EXPECT_THAT(file.benchmarks[0].times_ns, ElementsAre(2e6));
    EXPECT_THAT(file.benchmarks[0].clocks_hz, ElementsAre(1.5e9));
    EXPECT_FALSE(file.lacks_clocks);
  }
}

TEST_F(ReadNvbench, TakesTheSamplesBesideTheFile) {
  write_samples();
  const ForeignFile file = read(file_of({timed_with_samples()}));
  EXPECT_EQ(file.protocol.at("figures"), "samples");
  EXPECT_THAT(file.benchmarks.at(0).times_ns,
              ElementsAre(DoubleNear(2e6, 1), DoubleNear(1e6, 1), DoubleNear(4e6, 1)));
  EXPECT_THAT(file.benchmarks.at(0).clocks_hz, ElementsAre(1e9, 2e9, 1e9));
}

TEST_F(ReadNvbench, FindsTheSamplesThatOldFilesNameFromTheirWorkingFolder) {
  write_samples();
  json file = file_of({timed_with_samples()});
  file["benchmarks"][0]["states"][0]["summaries"][2]["data"][0]["value"] =
      "build/results/1.json-bin/0.bin";
  EXPECT_THAT(read(file).benchmarks.at(0).times_ns, SizeIs(3));
}

TEST_F(ReadNvbench, NeverLooksForSamplesAboveTheFile) {
  for (const char* name : {"../0.bin", "/..", "0.bin", "1.json-bin/..", "./.."}) {
    json file = file_of({timed_with_samples()});
    file["benchmarks"][0]["states"][0]["summaries"][2]["data"][0]["value"] = name;
    expect_error(file, "benchmarks[0].states[0].summaries[2].data[0].value", "a folder and a file");
  }
}

TEST_F(ReadNvbench, TakesTheMeanClockWhereSamplesHaveNone) {
  write_samples();
  json file = file_of({timed_with_samples()});
  file["benchmarks"][0]["states"][0]["summaries"].erase(3);
  EXPECT_THAT(read(file).benchmarks.at(0).clocks_hz, ElementsAre(1.5e9, 1.5e9, 1.5e9));
  file["benchmarks"][0]["states"][0]["summaries"].erase(1);
  const ForeignFile without = read(file);
  EXPECT_THAT(without.benchmarks.at(0).clocks_hz, IsEmpty());
  EXPECT_TRUE(without.lacks_clocks);
}

TEST_F(ReadNvbench, RefusesSamplesThatAreCutShort) {
  const json file = file_of({timed_with_samples()});
  write_samples();
  folder_.write("1.json-bin/0.bin", floats({2e-3F, 1e-3F}));
  EXPECT_THAT([&] { read(file); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("1.json-bin/0.bin: has 8 bytes"),
                                              HasSubstr("1.json names 3 numbers"))));
  for (const float bad : {0.F, -1.F, 1e30F, std::numeric_limits<float>::quiet_NaN()}) {
    folder_.write("1.json-bin/0.bin", floats({2e-3F, bad, 1e-3F}));
    EXPECT_THAT(read(file).benchmarks.at(0).failure, HasSubstr("1.json-bin/0.bin: sample 2: "))
        << bad;
  }
  write_samples();
  folder_.write("1.json-freqs-bin/0.bin", floats({1e9F, 1e9F}));
  json fewer = file;
  fewer["benchmarks"][0]["states"][0]["summaries"][3]["data"][1]["value"] = "2";
  EXPECT_THAT([&] { read(fewer); },
              ThrowsMessage<InputError>(HasSubstr("has 2 frequencies for 3 samples")));
}

TEST_F(ReadNvbench, RefusesAFileOfWhichSomeStatesHaveSamples) {
  write_samples();
  json other = timed();
  other["axis_values"][1]["value"] = "128";
  expect_error(file_of({timed_with_samples(), other}), "benchmarks[0].states[1]",
               "has no samples, and other states have");
  json missing = timed_with_samples();
  missing["axis_values"][1]["value"] = "128";
  missing["summaries"][2]["data"][0]["value"] = "1.json-bin/1.bin";
  expect_error(file_of({timed_with_samples(), missing}), "benchmarks[0].states[1]",
               "its samples are missing");
}

TEST_F(ReadNvbench, KeepsLimits) {
  write_samples();
  const std::size_t before = largest_file();
  set_largest_file(8);
  EXPECT_THROW(read(file_of({timed_with_samples()})), InputError);
  set_largest_file(20);
  EXPECT_THAT([&] { read(file_of({timed_with_samples()})); },
              ThrowsMessage<InputError>(HasSubstr("states[0]: all samples together")));
  set_largest_file(before);
}

TEST_F(ReadNvbench, AFileOfSamplesIsOfOneState) {
  write_samples();
  json other = timed_with_samples();
  other["axis_values"][1]["value"] = "128";
  other["summaries"][2]["data"][0]["value"] = "./1.json-bin/0.bin";
  expect_error(file_of({timed_with_samples(), other}), "benchmarks[0].states[1]",
               "another state has the same file of samples");
}

TEST_F(ReadNvbench, KeepsWhatWasSkippedApartFromWhatFailed) {
  json skipped = state(nullptr);
  skipped["is_skipped"] = true;
  skipped["skip_reason"] = "too small";
  json thrown = state(nullptr, "2");
  thrown["is_skipped"] = true;
  thrown["skip_reason"] = "Unexpected error: out of memory";
  const json throttled =
      state({summary("nv/cold/sample_size", {value("value", "int64", "0")})}, "3");
  const json untimed = state(json::array(), "4");
  const ForeignFile file = read(file_of({skipped, thrown, throttled, untimed}));
  EXPECT_THAT(file.skipped, ElementsAre(Pair("copy/T:I32/N:4", "nvbench did not time it"),
                                        Pair("copy/T:I32/N:64", "too small")));
  ASSERT_THAT(file.benchmarks, SizeIs(2));
  EXPECT_EQ(file.benchmarks[0].failure, "Unexpected error: out of memory");
  EXPECT_EQ(file.benchmarks[1].failure, "nvbench accepted none of its samples");
}

TEST_F(ReadNvbench, RefusesStatesOfSeveralDevicesAndKnowsTheirOne) {
  json second = timed();
  second["device"] = 1;
  EXPECT_EQ(read(file_of({second})).environment.at("device"), "another");
  expect_error(file_of({timed(), second}), "benchmarks[0].states[1].device",
               "is 1, but 0 in states before; measure each device into its own file (--devices 1)");
}

TEST_F(ReadNvbench, ReadsWhatRanOnTheCpuAlone) {
  json one = state({number("nv/cpu_only/time/cpu/mean", "0.5")});
  one.erase("device");
  const ForeignFile file = read(file_of({one}));
  EXPECT_THAT(file.benchmarks.at(0).times_ns, ElementsAre(5e8));
  EXPECT_THAT(file.environment, IsEmpty());
  EXPECT_FALSE(file.lacks_clocks);
}

TEST_F(ReadNvbench, TakesEmptyListsAsNvbenchWritesThem) {
  json file = file_of({timed()});
  file["benchmarks"][0]["states"] = nullptr;
  EXPECT_THAT(read(file).benchmarks, IsEmpty());
  file["benchmarks"] = nullptr;
  file["devices"] = nullptr;
  EXPECT_THAT(read(file).benchmarks, IsEmpty());
}

TEST_F(ReadNvbench, AnOddTimeFailsItsState) {
  json other = timed();
  other["axis_values"][1]["value"] = "128";
  const std::string field = "benchmarks[0].states[0].summaries[0].data[0].value: ";
  for (const auto& [mean, failure] :
       {std::pair<const char*, std::string>{"-nan", "nvbench accepted none of its samples"},
        {"nan", "nvbench accepted none of its samples"},
        {"soon", field + "must be a number"},
        {"inf", field + "is too large"},
        {"0", field + "must be positive"},
        {"1e30", field + "is too large"}}) {
    const ForeignFile file = read(file_of({timed(mean), other}));
    ASSERT_THAT(file.benchmarks, SizeIs(2));
    EXPECT_EQ(file.benchmarks[0].failure, failure) << mean;
    EXPECT_THAT(file.benchmarks[1].times_ns, SizeIs(1));
  }
}

TEST_F(ReadNvbench, NamesFileAndField) {
  expect_error(file_of({timed(), timed()}), "benchmarks[0].states[1]",
               "\"copy/T:I32/N:64\" names two benchmarks");
  json file = file_of({timed()});
  file["meta"]["version"]["json"]["major"] = 2;
  expect_error(file, "meta.version.json.major", "version 2 is newer than this fusegate");
  file = file_of({timed()});
  file["meta"]["version"].erase("nvbench");
  expect_error(file, "meta.version.nvbench", "is missing");
  file = file_of({timed()});
  file.erase("benchmarks");
  expect_error(file, "benchmarks", "is missing");
  file["benchmarks"] = {1};
  expect_error(file, "benchmarks[0]", "must be an object");
  file["benchmarks"] = {{{"name", 7}}};
  expect_error(file, "benchmarks[0].name", "must be a string");
  file["benchmarks"] = {{{"states", json::array()}}};
  expect_error(file, "benchmarks[0].name", "is missing");
  file["benchmarks"] = {{{"name", "copy"}, {"states", 7}}};
  expect_error(file, "benchmarks[0].states", "must be an array");
}

}  // namespace
}  // namespace fusegate::baselines
