#include "baselines/formats/pytest_benchmark.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"

namespace fusegate::baselines {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;
using testing::StartsWith;
using testing::ThrowsMessage;

json test(const char* name, json stats) {
  return {{"name", "short"},
          {"fullname", name},
          {"options", {{"timer", "perf_counter"}}},
          {"stats", std::move(stats)}};
}

json pytest_file(json tests) {
  return {{"machine_info", {{"node", "host"}}},
          {"commit_info", {{"id", "0f1e"}, {"dirty", true}}},
          {"benchmarks", std::move(tests)},
          {"datetime", "2026-11-22T20:34:35"},
          {"version", "5.3.1"}};
}

ForeignFile read_pytest(const json& file) { return read_pytest_benchmark(file.dump(), "f.json"); }

void expect_error(const json& file, const std::string& field, const std::string& words) {
  EXPECT_THAT([&] { read_pytest(file); }, ThrowsMessage<InputError>(AllOf(
                                       StartsWith("f.json: " + field + ": "), HasSubstr(words))));
}

TEST(ReadPytestBenchmark, ReadsWhatThePluginWrote) {
  const std::string path = FUSEGATE_FORMATS "/pytest-benchmark/base/1.json";
  const ForeignFile file = read_pytest_benchmark(read_file(path), path);
  EXPECT_THAT(file.environment, ElementsAre(Pair("device", json("AMD EPYC")),
                                            Pair("python", json("CPython 3.11.7"))));
  EXPECT_EQ(
      file.protocol,
      (json{{"tool", "pytest-benchmark"}, {"figures", "samples"}, {"timer", "perf_counter"}}));
  EXPECT_EQ(file.toolchain, "pytest-benchmark 5.3.1");
  EXPECT_EQ(file.commit, "") << "its folder was under no version control";
  ASSERT_THAT(file.benchmarks, SizeIs(3));
  EXPECT_EQ(file.benchmarks[0].name, "test_small.py::test_checksum");
  EXPECT_EQ(file.benchmarks[1].name, "test_small.py::test_sort[100]");
  EXPECT_THAT(file.benchmarks[0].times_ns,
              AllOf(SizeIs(40), Each(testing::Gt(60e3)), Each(testing::Lt(500e3))));
  EXPECT_THAT(file.benchmarks[0].clocks_hz, IsEmpty());
  EXPECT_FALSE(file.lacks_clocks) << "the plugin knows no clock";
}

TEST(ReadPytestBenchmark, TakesTheMeanWhereThereAreNoRounds) {
  const ForeignFile file = read_pytest(pytest_file({test("a", {{"mean", 2e-3}})}));
  EXPECT_EQ(file.protocol.at("figures"), "mean");
  EXPECT_THAT(file.benchmarks.at(0).times_ns, ElementsAre(2e6));
  EXPECT_EQ(file.commit, "0f1e");
  EXPECT_TRUE(file.dirty);
  EXPECT_EQ(file.host, "host");
  EXPECT_EQ(file.date, "2026-11-22T20:34:35");
}

TEST(ReadPytestBenchmark, NamesFileAndField) {
  const json timed = test("a", {{"data", {1e-3, 2e-3}}});
  expect_error(pytest_file({timed, timed}), "benchmarks[1]", "\"a\" names two benchmarks");
  expect_error(pytest_file({timed, test("b", {{"mean", 1e-3}})}), "benchmarks[1].stats",
               "has no data, and other tests of this file have");
  expect_error(pytest_file({test("b", {{"mean", 1e-3}}), timed}), "benchmarks[1].stats",
               "has data, and other tests of this file have none");
  expect_error(pytest_file({test("a", {{"data", json::array()}})}), "benchmarks[0].stats.data",
               "must not be empty");
  expect_error(pytest_file({test("a", json::object())}), "benchmarks[0].stats.mean", "is missing");
  expect_error(pytest_file({test("", {{"mean", 1e-3}})}), "benchmarks[0]", "has an empty name");
  expect_error(pytest_file({{{"name", "a"}}}), "benchmarks[0].fullname", "is missing");
  expect_error(pytest_file(7), "benchmarks", "must be an array");
}

TEST(ReadPytestBenchmark, AnOddTimeFailsItsTest) {
  const json odd = test("a", {{"data", {1e-3, 0}}});
  const ForeignFile file = read_pytest(pytest_file({odd, test("b", {{"data", {1e-3}}})}));
  EXPECT_EQ(file.benchmarks.at(0).failure, "benchmarks[0].stats.data[1]: must be positive");
  EXPECT_EQ(file.benchmarks.at(1).failure, "");
  EXPECT_EQ(read_pytest(pytest_file({test("a", {{"mean", 1}}), test("b", {{"mean", "x"}})}))
                .benchmarks.at(1)
                .failure,
            "benchmarks[1].stats.mean: must be a number");
}

}  // namespace
}  // namespace fusegate::baselines
