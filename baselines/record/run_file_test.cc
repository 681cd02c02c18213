#include "baselines/record/run_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/scratch_folder.h"
#include "baselines/io/work_growth.h"

namespace fusegate::baselines {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

json run_sample(const std::string& name, int repetition, double real_time) {
  return {{"name", name},
          {"family_index", 0},
          {"per_family_instance_index", 0},
          {"run_name", name},
          {"run_type", "iteration"},
          {"repetitions", 3},
          {"repetition_index", repetition},
          {"threads", 1},
          {"iterations", 10},
          {"real_time", real_time},
          {"cpu_time", real_time},
          {"time_unit", "us"}};
}

json file_of(json entries, json context = json::object()) {
  return {{"context", std::move(context)}, {"benchmarks", std::move(entries)}};
}

// Of a fusegate program, whose counters mean what ours do.
json ours(json entries) { return file_of(std::move(entries), {{"fusegate", json::object()}}); }

RunFile parse(const json& file) { return parse_run_file(file.dump(), "f.json"); }

void expect_run_error(const std::string& text, const std::string& message) {
  EXPECT_THAT([&] { parse_run_file(text, "f.json"); },
              ThrowsMessage<InputError>(AllOf(StartsWith("f.json: "), HasSubstr(message))))
      << text;
}

// One sample with one key changed, or without it where the value is discarded.
void expect_entry_error(const std::string& key, const json& value, const std::string& message) {
  json entry = run_sample("a", 0, 1);
  entry[key] = value;
  if (value.is_discarded()) entry.erase(key);
  expect_run_error(file_of({entry}).dump(), message);
}

TEST(ReadRunFile, ReadsAPlainGoogleBenchmarkFile) {
  const RunFile file = read_run_file(FUSEGATE_TESTDATA "/plain.json");
  EXPECT_EQ(file.environment, (Environment{{"device", "NVIDIA H200"},
                                           {"driver", "580.159.04"},
                                           {"cublas", "130100"},
                                           {"num_cpus", 16},
                                           {"mhz_per_cpu", 2100},
                                           {"cpu_scaling_enabled", false},
                                           {"library_build_type", "release"}}));
  EXPECT_EQ(file.provenance.host, "h200");
  EXPECT_EQ(file.provenance.date, "2026-11-21T01:46:00+00:00");
  EXPECT_TRUE(file.provenance.protocol.is_null());
  ASSERT_EQ(file.benchmarks.size(), 8u);
  const BenchmarkResult& first = file.benchmarks[0];
  EXPECT_EQ(first.name, "gemm/m:8192/n:3072/k:768");
  EXPECT_EQ(first.summary.samples, 5);
  EXPECT_GT(first.summary.time_ns, 58'000);
  EXPECT_LT(first.summary.time_ns, 61'000);
  EXPECT_NEAR(first.summary.cycles, first.summary.time_ns * 1.71, 3000);
  EXPECT_EQ(first.counters.count("sm_clock_hz"), 1u);
}

TEST(ReadRunFile, ReadsWhatOtherToolsWrote) {
  const RunFile file = read_run_file(FUSEGATE_FORMATS "/nvbench/axes/base/1.json");
  EXPECT_EQ(file.environment.at("device"), "NVIDIA H200");
  EXPECT_EQ(file.provenance.toolchain, "nvbench 0.1.0 (66212f1)");
  EXPECT_EQ(file.provenance.protocol.at("figures"), "samples");
  EXPECT_TRUE(file.finished);
  EXPECT_THAT(file.warnings, testing::IsEmpty());
  EXPECT_EQ(file.skipped.size(), 3u);
  const BenchmarkResult& first = file.benchmarks.at(0);
  EXPECT_EQ(first.summary.samples, 100);
  EXPECT_NEAR(first.summary.time_ns, 468e3, 1e3);
  EXPECT_NEAR(first.summary.cycles, first.summary.time_ns * 1.98, 1e3);
  EXPECT_GT(first.summary.clock_fit.degrees_of_freedom, 90);
  EXPECT_EQ(first.counters.count("min_bytes"), 1u);
}

ForeignFile foreign(const char* figures) {
  return {.protocol = {{"tool", "nvbench"}, {"figures", figures}},
          .benchmarks = {{.name = "a", .times_ns = {1000, 1010}, .clocks_hz = {2e9, 0}},
                         {.name = "b", .failure = "thrown"}}};
}

TEST(RunFileOf, AClockThatCanBeNoneMakesCyclesUnknown) {
  const RunFile file = run_file_of(foreign("samples"));
  EXPECT_TRUE(std::isnan(file.benchmarks.at(0).summary.cycles));
  EXPECT_GT(file.benchmarks.at(0).summary.time_ns, 999);
  EXPECT_EQ(file.benchmarks.at(1).failure, "thrown");
}

TEST(RunFileOf, SaysWhatIsDoubtful) {
  EXPECT_THAT(run_file_of(foreign("samples")).warnings, testing::IsEmpty());
  EXPECT_THAT(run_file_of(foreign("mean")).warnings, ElementsAre(Warning::kMeansOnly));
  ForeignFile without = foreign("samples");
  without.lacks_clocks = true;
  EXPECT_THAT(run_file_of(std::move(without)).warnings, ElementsAre(Warning::kClockUnread));
}

TEST(ReadRunFile, SummarisesSamplesByTheirFastHalf) {
  json entries = {run_sample("a", 0, 10), run_sample("a", 1, 14), run_sample("a", 2, 11)};
  const double clocks[] = {1e9, 1e9, 2e9};
  for (int i = 0; i < 3; ++i) {
    entries[i]["sm_clock_hz"] = clocks[i];
    entries[i]["flops"] = 100 + i;
  }
  const BenchmarkResult result = parse(ours(entries)).benchmarks.at(0);
  // Of three values the first stands for 5 to 33 % and the second for what is left up to 50 %.
  const double second = (0.5 - 1.0 / 3) / 0.45;
  EXPECT_DOUBLE_EQ(result.summary.time_ns, (1 - second) * 10'000 + second * 11'000);
  EXPECT_DOUBLE_EQ(result.summary.cycles, (1 - second) * 10'000 + second * 14'000);
  EXPECT_DOUBLE_EQ(result.summary.spread, 1.0 / 11);
  EXPECT_EQ(result.summary.samples, 3);
  EXPECT_EQ(result.counters.at("flops"), 101);
  EXPECT_EQ(result.counters.size(), 2u);  // none of Google Benchmark's own
}

TEST(ReadRunFile, OneSampleWithoutAClockLeavesCyclesUnknown) {
  json entries = {run_sample("a", 0, 10), run_sample("a", 1, 14)};
  entries[0]["sm_clock_hz"] = 1e9;
  EXPECT_TRUE(std::isnan(parse(file_of(entries)).benchmarks.at(0).summary.cycles));
  for (const json& clock : {json(0), json(1e300), json(nullptr)}) {
    entries[1]["sm_clock_hz"] = clock;
    EXPECT_TRUE(std::isnan(parse(file_of(entries)).benchmarks.at(0).summary.cycles)) << clock;
  }
}

TEST(ReadRunFile, KnowsTheTimeUnits) {
  const std::pair<const char*, double> units[] = {{"ns", 2}, {"us", 2e3}, {"ms", 2e6}, {"s", 2e9}};
  for (const auto& [unit, time_ns] : units) {
    json entry = run_sample("a", 0, 2);
    entry["time_unit"] = unit;
    EXPECT_DOUBLE_EQ(parse(file_of({entry})).benchmarks.at(0).summary.time_ns, time_ns);
  }
}

TEST(ReadRunFile, KeepsFileOrderWhereSamplesInterleave) {
  const RunFile file =
      parse(file_of({run_sample("b", 0, 1), run_sample("a", 0, 2), run_sample("b", 1, 3)}));
  ASSERT_EQ(file.benchmarks.size(), 2u);
  EXPECT_EQ(file.benchmarks[0].name, "b");
  EXPECT_EQ(file.benchmarks[0].summary.samples, 2);
  EXPECT_EQ(file.benchmarks[1].name, "a");
}

TEST(ReadRunFile, OldFilesWithoutIndexesTakeEachEntryAsASample) {
  json entries = {run_sample("a", 0, 1), run_sample("a", 1, 3)};
  for (json& entry : entries) {
    for (const char* key : {"family_index", "per_family_instance_index", "repetition_index",
                            "repetitions", "run_name", "run_type"}) {
      entry.erase(key);
    }
  }
  const RunFile file = parse(file_of(entries));
  EXPECT_EQ(file.benchmarks.at(0).summary.samples, 2);
  EXPECT_TRUE(file.environment.empty());
}

// The order of a file and its entries' names; repetitions and types are unknown to old versions.
json old_file(const std::vector<std::string>& names) {
  json entries = json::array();
  for (const std::string& name : names) {
    entries.push_back(
        {{"name", name}, {"iterations", 10}, {"real_time", 2.5}, {"time_unit", "us"}});
    entries.back()["real_time"] = 2.5 + 1e-3 * static_cast<double>(entries.size());
  }
  return file_of(std::move(entries));
}

std::vector<std::string> names_in(const RunFile& file) {
  std::vector<std::string> names;
  for (const BenchmarkResult& result : file.benchmarks) names.push_back(result.name);
  return names;
}

TEST(ReadRunFile, PassesOverAggregatesAndNamesWhatHasNothingElse) {
  json aggregate = run_sample("a", 0, 5);
  aggregate["run_type"] = "aggregate";
  aggregate["name"] = "a_mean";
  json other = aggregate;
  other["name"] = "b_mean";
  other["run_name"] = "b";
  json fit = aggregate;
  fit["name"] = "family_BigO";
  fit["run_name"] = "family";
  const RunFile file = parse(file_of({run_sample("a", 0, 1), aggregate, other, fit}));
  EXPECT_THAT(names_in(file), ElementsAre("a"));
  EXPECT_EQ(file.benchmarks[0].summary.samples, 1);
  EXPECT_THAT(file.left_out, ElementsAre(testing::Pair("b", HasSubstr("only aggregates"))));
  expect_run_error(file_of({aggregate}).dump(), "benchmarks: has only aggregates");
}

TEST(ReadRunFile, KnowsTheAggregatesOfOldFilesByTheirNames) {
  const RunFile file = parse(old_file({"a/2", "a/2", "a/2_mean", "a/2_median", "a/2_stddev",
                                       "a/2_max", "b_mean", "b_stddev", "norm_mean", "c", "c"}));
  EXPECT_THAT(names_in(file), ElementsAre("a/2", "norm_mean", "c"));
  EXPECT_THAT(file.left_out, ElementsAre(testing::Pair("b", HasSubstr("only aggregates"))));
  json fitted = old_file({"a/2", "a/4"});
  fitted["benchmarks"].push_back({{"name", "a_BigO"}, {"real_coefficient", 1}, {"big_o", "N"}});
  fitted["benchmarks"].push_back({{"name", "a_RMS"}, {"rms", 0.1}});
  EXPECT_THAT(names_in(parse(fitted)), ElementsAre("a/2", "a/4"));
}

TEST(ReadRunFile, RefusesTwoOfANameInOldFiles) {
  expect_run_error(old_file({"a", "a", "b", "b", "a", "a"}).dump(),
                   "benchmarks[4].name: \"a\" names two benchmarks");
  expect_run_error(old_file({"a", "b", "b", "c"}).dump(),
                   "\"b\" has 2 entries and every other benchmark 1: it names two benchmarks");
  EXPECT_EQ(parse(old_file({"a", "b/repeats:2", "b/repeats:2", "c"})).benchmarks.size(), 3u);
  EXPECT_EQ(parse(old_file({"a", "a", "b", "b", "b", "c", "c"})).benchmarks.size(), 3u);
}

TEST(ReadRunFile, CountersOfPlainFilesAreNotOurs) {
  json entry = run_sample("a", 0, 1);
  entry["flops"] = 4.1e12;
  entry["min_bytes"] = -1;
  entry["sm_clock_hz"] = 1e9;
  entry["mine"] = 7;
  const BenchmarkResult plain = parse(file_of({entry})).benchmarks.at(0);
  EXPECT_EQ(plain.failure, "");
  EXPECT_EQ(plain.counters, (std::map<std::string, double>{{"mine", 7}, {"sm_clock_hz", 1e9}}));
  const BenchmarkResult own = parse(ours({entry})).benchmarks.at(0);
  EXPECT_EQ(own.failure, "f.json: benchmarks[0].min_bytes: must not be negative, but is -1");
  EXPECT_EQ(own.counters.at("flops"), 4.1e12);
}

TEST(ReadRunFile, ReadsNumbersThatJsonHasNot) {
  const ScratchFolder folder;
  std::string text = file_of({run_sample("a", 0, 1), run_sample("b", 0, 1)}).dump();
  text.replace(text.find("\"real_time\":1.0") + 12, 3, "NaN");
  text.insert(text.rfind("\"time_unit\""), "\"hit_rate\":-Infinity,");
  const auto path = folder.write("1.json", text);
  const RunFile file = read_run_file(path);
  EXPECT_EQ(file.benchmarks.at(0).failure,
            path.string() + ": benchmarks[0].real_time: must be a number");
  EXPECT_EQ(file.benchmarks.at(1).failure, "");
  EXPECT_EQ(file.benchmarks.at(1).counters.size(), 0u);
}

TEST(ReadRunFile, TheContextOfGoogleBenchmarkIsTheEnvironment) {
  const json context{
      {"date", "d"},
      {"host_name", "runner-a"},
      {"executable", "./a"},
      {"num_cpus", 8},
      {"mhz_per_cpu", 2400},
      {"caches", {{{"type", "Unified"}, {"level", 3}, {"size", 33554432}, {"num_sharing", 4}}}},
      {"load_avg", {8.5, 0.4}},
      {"library_build_type", "release"},
      {"gpu", "NVIDIA A100"},
      {"tags", {1, 2}}};
  const RunFile file = parse(file_of({run_sample("a", 0, 1)}, context));
  EXPECT_EQ(file.environment, (Environment{{"num_cpus", 8},
                                           {"mhz_per_cpu", 2400},
                                           {"caches", "L3 Unified 33554432 x4"},
                                           {"library_build_type", "release"}}));
  EXPECT_EQ(file.provenance.context, (Environment{{"gpu", "NVIDIA A100"}, {"tags", "[1,2]"}}));
  EXPECT_THAT(file.warnings, ElementsAre(Warning::kLoadedHost));
  json own = context;
  own["fusegate"] = json::object();
  EXPECT_TRUE(parse(file_of({run_sample("a", 0, 1)}, own)).environment.empty());
}

TEST(ReadRunFile, FailuresBecomeFailuresAndSkipsAreNamed) {
  json failed = run_sample("a", 0, 1);
  failed["error_occurred"] = true;
  failed["error_message"] = "wrong results";
  failed["real_time"] = 0.0;
  failed["iterations"] = 0;
  json skipped = run_sample("b", 0, 1);
  skipped["skipped"] = true;
  skipped["skip_message"] = "no tensor cores";
  const RunFile file = parse(file_of({failed, skipped, run_sample("c", 0, 1)}));
  ASSERT_EQ(file.benchmarks.size(), 2u);
  EXPECT_EQ(file.benchmarks[0].failure, "wrong results");
  EXPECT_EQ(file.benchmarks[0].summary.samples, 0);
  EXPECT_EQ(file.benchmarks[1].failure, "");
  EXPECT_THAT(file.skipped, ElementsAre(testing::Pair("b", "no tensor cores")));
  json second = run_sample("a", 1, 1);
  second["error_occurred"] = true;
  EXPECT_EQ(parse(file_of({run_sample("a", 0, 1), second})).benchmarks.at(0).failure, "failed");
}

TEST(ReadRunFile, ReadsWhatFusegateAdds) {
  json entry = run_sample("a", 0, 1);
  entry["process"] = 3;
  entry["kernel_launches"] = 4;
  entry["details"] = {{"choices", {{"gate_proj", "algo 66"}}},
                      {"warnings", {"unsteady"}},
                      {"stages", {{{"name", "gelu"}, {"flops", 5}}}}};
  const json context = {
      {"date", "2026-11-21T01:00:00+00:00"},
      {"host_name", "h"},
      {"device", "a custom key that fusegate's own environment overrides"},
      {"fusegate",
       {{"schema_version", 1},
        {"environment", {{"device", "NVIDIA H200"}, {"power_limit_w", 700}, {"ecc", true}}},
        {"provenance",
         {{"commit", "abc"}, {"dirty", true}, {"toolchain", "GNU"}, {"device_uuid", "GPU-1"}}},
        {"protocol", {{"batch_ms", 1.5}}},
        {"suite", "pr"},
        {"seed", 17},
        {"warnings", {"nvml_missing"}},
        {"finished", false}}}};
  const RunFile file = parse(file_of({entry}, context));
  EXPECT_EQ(file.environment,
            (Environment{{"device", "NVIDIA H200"}, {"power_limit_w", 700}, {"ecc", true}}));
  EXPECT_EQ(file.provenance.commit, "abc");
  EXPECT_TRUE(file.provenance.dirty);
  EXPECT_EQ(file.provenance.toolchain, "GNU");
  EXPECT_EQ(file.provenance.device_uuid, "GPU-1");
  EXPECT_EQ(file.provenance.suite, "pr");
  EXPECT_EQ(file.provenance.host, "h");
  EXPECT_EQ(file.provenance.date, "2026-11-21T01:00:00+00:00");
  EXPECT_EQ(file.provenance.protocol, (json{{"batch_ms", 1.5}}));
  EXPECT_THAT(file.warnings, ElementsAre(Warning::kNvmlMissing));
  const BenchmarkResult& result = file.benchmarks.at(0);
  EXPECT_THAT(result.warnings, ElementsAre(Warning::kUnsteady));
  EXPECT_EQ(result.choices.at("gate_proj"), "algo 66");
  EXPECT_EQ(result.counters, (std::map<std::string, double>{{"kernel_launches", 4}}));
}

// One figure a process, of which every sample has a copy.
TEST(ReadRunFile, ReadsWhatACallCostsTheHost) {
  std::vector<json> entries;
  for (int i = 0; i < 3; ++i) {
    entries.push_back(run_sample("a", i, 1));
    entries.back()["host_ns"] = 9100;
    entries.back()["host_graph_ns"] = 3060.5;
  }
  entries.push_back(run_sample("b", 0, 1));
  entries.back()["host_ns"] = 0;
  const RunFile file = parse(file_of(entries, {{"fusegate", {{"machine", {{"cpu", "Xeon 8"}}}}}}));
  EXPECT_EQ(file.benchmarks.at(0).summary.host_ns, 9100);
  EXPECT_EQ(file.benchmarks.at(0).summary.host_graph_ns, 3060.5);
  EXPECT_TRUE(std::isnan(file.benchmarks.at(1).summary.host_ns)) << "no launch takes no time";
  EXPECT_TRUE(std::isnan(file.benchmarks.at(1).summary.host_graph_ns));
  EXPECT_EQ(file.provenance.cpu, "Xeon 8");
}

TEST(ReadRunFile, NamesTheFileThatIsNoRunFile) {
  expect_run_error("", "the file is empty");
  expect_run_error(" \n\t ", "the file is empty");
  expect_run_error("[]", "must be a JSON object");
  expect_run_error("3", "must be a JSON object");
  expect_run_error(R"({"context": {}})", "benchmarks: is missing");
  expect_run_error("{}", "benchmarks: is missing: not a file of Google Benchmark");
  expect_run_error("{}", "not of nvbench (\"meta\"), pytest-benchmark (\"machine_info\")");
  expect_run_error(R"({"benchmarks": {}})", "benchmarks: must be an array");
  expect_run_error(R"({"benchmarks": 5})", "benchmarks: must be an array");
  expect_run_error(R"({"benchmarks": [5]})", "benchmarks[0]: must be an object");
  expect_run_error(R"({"benchmarks": [[]]})", "benchmarks[0]: must be an object");
  expect_run_error(R"({"context": [], "benchmarks": []})", "context: must be an object");
  expect_run_error(R"({"context": 1, "benchmarks": []})", "context: must be an object");
  expect_run_error(R"({"benchmarks": [], "benchmarks": []})", "benchmarks: occurs twice");
  expect_run_error(std::string("{\"benchmarks\": []}\0", 19), "NUL");
  EXPECT_THAT([] { read_run_file("absent.json"); },
              ThrowsMessage<InputError>(HasSubstr("absent.json: cannot open")));
}

TEST(ReadRunFile, ReportsWhereTheJsonBreaks) {
  const std::string text = file_of({run_sample("a", 0, 1), run_sample("a", 1, 1)}).dump(1);
  expect_run_error(text.substr(0, text.size() - 3), "not valid JSON: line ");
  const auto second = text.rfind("\"real_time\": ") + 13;
  expect_run_error(text.substr(0, second),
                   "benchmarks[1].real_time: not valid JSON: line 23, column ");
  std::string nan = text;
  nan.replace(second, 3, "NaN");
  expect_run_error(nan, "benchmarks[1].real_time: not valid JSON: line 23, column ");
  nan.replace(second, 3, "-Infinity");
  expect_run_error(nan, "benchmarks[1].real_time: not valid JSON");
  nan.replace(second, 9, "1e999");
  expect_run_error(nan, "benchmarks[1].real_time: not valid JSON: number overflow");
}

TEST(ReadRunFile, NoTruncationIsTakenForAWholeFile) {
  const std::string text = file_of({run_sample("a", 0, 1), run_sample("b", 0, 1)}).dump();
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_THROW(parse_run_file(text.substr(0, length), "f.json"), InputError) << length;
  }
}

TEST(ReadRunFile, NamesTheFieldOfAnEntry) {
  const json missing = json::value_t::discarded;
  expect_entry_error("name", missing, "benchmarks[0].name: is missing");
  expect_entry_error("name", 5, "benchmarks[0].name: must be a string");
  expect_entry_error("run_type", "other", "benchmarks[0].run_type: must be");
  expect_entry_error("error_occurred", 1, "benchmarks[0].error_occurred: must be true or false");
  expect_entry_error("details", 1, "benchmarks[0].details: must be an object");
  expect_entry_error("details", json::array(), "benchmarks[0].details: must be an object");
  expect_entry_error("details", {{"choices", {{"a", 1}}}},
                     "benchmarks[0].details.choices.a: must be a string");
  expect_entry_error("details", {{"warnings", {"dubious"}}},
                     "benchmarks[0].details.warnings[0]: unknown warning \"dubious\"");
}

// The others of the file are judged.
TEST(ReadRunFile, AnOddValueFailsItsBenchmark) {
  const auto expect = [](const std::string& key, const json& value, const std::string& failure) {
    json entry = run_sample("a", 0, 1);
    entry[key] = value;
    if (value.is_discarded()) entry.erase(key);
    const RunFile file = parse(ours({entry, run_sample("b", 0, 1)}));
    EXPECT_THAT(file.benchmarks.at(0).failure, StartsWith("f.json: benchmarks[0]." + failure));
    EXPECT_EQ(file.benchmarks.at(1).failure, "");
  };
  const json missing = json::value_t::discarded;
  expect("real_time", missing, "real_time: is missing");
  expect("real_time", "1", "real_time: must be a number");
  expect("real_time", nullptr, "real_time: must be a number");
  expect("real_time", json::array(), "real_time: must be a number");
  expect("real_time", -1.5, "real_time: must be positive, but is -1.5");
  expect("real_time", 0, "real_time: must be positive, but is 0");
  expect("real_time", 1e300, "real_time: is too large");
  expect("real_time", 5e-324, "real_time: is too small");
  expect("time_unit", missing, "time_unit: is missing");
  expect("time_unit", "min", "time_unit: must be ns, us, ms or s");
  expect("iterations", missing, "iterations: is missing");
  expect("iterations", 0, "iterations: must be positive");
  expect("sm_clock_hz", "1", "sm_clock_hz: must be a number");
  expect("flops", true, "flops: must be a number");
  expect("host_ns", json::array({1}), "host_ns: must be a number");
  expect("flops", -1, "flops: must not be negative, but is -1");
  expect("sm_clock_hz", -1.5, "sm_clock_hz: must not be negative");
}

TEST(ReadRunFile, AFieldStandsThereOnce) {
  const std::string entry = run_sample("a", 0, 1).dump();
  for (const char* twice : {R"("real_time": 2)", R"("name": "b")", R"("flops": 1, "flops": 2)",
                            R"("mine": 1, "mine": 1)", R"("details": {}, "details": {})"}) {
    const std::string field = std::string(twice).substr(1, std::string(twice).find('"', 1) - 1);
    expect_run_error(R"({"benchmarks": [{)" + std::string(twice) + ", " + entry.substr(1) + "]}",
                     "benchmarks[0]." + field + ": occurs twice");
  }
}

TEST(ReadRunFile, ANameStandsForOneBenchmark) {
  expect_run_error(file_of({run_sample("a", 0, 1), run_sample("a", 0, 1)}).dump(),
                   "benchmarks[1].repetition_index: \"a\" has repetition 0 twice");
  expect_run_error(
      file_of({run_sample("a", 1, 1), run_sample("a", 0, 1), run_sample("a", 1, 1)}).dump(),
      "benchmarks[2].repetition_index: \"a\" has repetition 1 twice");
  json other = run_sample("a", 1, 1);
  other["family_index"] = 1;
  expect_run_error(file_of({run_sample("a", 0, 1), other}).dump(),
                   "benchmarks[1].name: \"a\" names two benchmarks");
}

TEST(ReadRunFile, KnowsRepetitionsInAnyOrder) {
  const auto times = [](std::vector<int> repetitions) {
    json entries = json::array();
    for (const int repetition : repetitions) entries.push_back(run_sample("a", repetition, 1));
    return parse(file_of(entries)).benchmarks[0].summary.samples;
  };
  EXPECT_EQ(times({2, 1, 0, 3}), 4);
  EXPECT_EQ(times({1, 0, 2}), 3);
  for (const std::vector<int>& twice : {std::vector{1, 0, 2, 1}, {2, 0, 1, 2}, {0, 1, 0}, {5, 5}}) {
    EXPECT_THROW(times(twice), InputError);
  }
}

// With an input eight times as large.
double growth_of_reading(const std::function<std::string(int)>& text_of, int small) {
  const std::string texts[] = {text_of(small), text_of(8 * small)};
  return work_growth([&] { parse_run_file(texts[0], "f.json"); },
                     [&] { parse_run_file(texts[1], "f.json"); });
}

TEST(ReadRunFile, ManyCountersOfAnEntryTakeNoSquareOfTheirNumber) {
  const auto text_of = [](int count) {
    std::string up, down;
    for (int i = 0; i < count; ++i) {
      up += ", \"c" + std::to_string(i) + "\": 1";
      down += ", \"c" + std::to_string(count - 1 - i) + "\": 3";
    }
    const auto entry = [](int repetition, const std::string& counters) {
      const std::string text = run_sample("a", repetition, 1).dump();
      return text.substr(0, text.size() - 1) + counters + "}";
    };
    return "{\"context\": {}, \"benchmarks\": [" + entry(0, up) + "," + entry(1, down) + "]}";
  };
  const RunFile file = parse_run_file(text_of(1000), "f.json");
  EXPECT_EQ(file.benchmarks[0].counters.size(), 1000u);
  EXPECT_EQ(file.benchmarks[0].counters.at("c7"), 2);
  EXPECT_LT(growth_of_reading(text_of, 10000), kMostGrowthOfEight);
}

TEST(ReadRunFile, RepetitionsThatGoDownTakeNoSquareOfTheirNumber) {
  const auto text_of = [](int count) {
    std::string text;
    for (int i = count; i-- > 0;) {
      text += ",{\"name\": \"a\", \"repetition_index\": " + std::to_string(i) +
              ", \"iterations\": 1, \"real_time\": 1, \"time_unit\": \"us\"}";
    }
    return "{\"context\": {}, \"benchmarks\": [" + text.substr(1) + "]}";
  };
  EXPECT_EQ(parse_run_file(text_of(1000), "f.json").benchmarks[0].summary.samples, 1000);
  EXPECT_LT(growth_of_reading(text_of, 10000), kMostGrowthOfEight);
}

TEST(ReadRunFile, NamesTheFieldOfTheContext) {
  const auto expect = [](const json& fusegate, const std::string& message) {
    expect_run_error(file_of(json::array(), {{"fusegate", fusegate}}).dump(), message);
  };
  expect(5, "context.fusegate: must be an object");
  expect({{"schema_version", 2}},
         "context.fusegate.schema_version: version 2 is newer than this fusegate");
  expect({{"schema_version", "1"}}, "context.fusegate.schema_version: must be an integer");
  expect({{"environment", {{"mig", json::array()}}}},
         "context.fusegate.environment.mig: must be a string, a number or a boolean");
  expect({{"warnings", {"new_warning"}}},
         "context.fusegate.warnings[0]: unknown warning \"new_warning\"");
  expect({{"warnings", "unsteady"}}, "context.fusegate.warnings: must be an array");
  expect({{"protocol", "burst"}}, "context.fusegate.protocol: must be an object");
  expect({{"provenance", {{"protocol", 1}}}},
         "context.fusegate.provenance.protocol: must be an object");
  expect({{"provenance", {{"dirty", "no"}}}},
         "context.fusegate.provenance.dirty: must be true or false");
}

class RunFileWriterTest : public testing::Test {
 protected:
  const ScratchFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "run" / "1.json";
};

TEST_F(RunFileWriterTest, ReadsWhatACallLaunched) {
  json entry = run_sample("a", 0, 1);
  CallProfile profile;
  profile.kernels = {{.name = "k", .span = {"addmm", 0, 5000, 1}}};
  entry["details"] = {
      {"profile", call_profile_json(profile)},
      {"expectation", expectation_json({{{"addmm", "1 GEMM", "k", false}}})},
      {"energy_per_call_j", 0.125},
      {"elapsed_s", 0.5},
      {"identity", identity_json({.launches = {{.kernel = "k", .code = "0f"}}, .order = "5d"})}};
  RunFileWriter(path_, json::object())
      .append({entry, run_sample("a", 1, 1), run_sample("b", 0, 1)});
  const RunFile file = read_run_file(path_);
  EXPECT_DOUBLE_EQ(file.benchmarks.at(0).stage_times.value().span_ns, 5000);
  EXPECT_FALSE(file.benchmarks.at(0).expectation.value().met());
  EXPECT_EQ(file.benchmarks.at(0).identity.value().launches.at(0).code, "0f");
  EXPECT_EQ(file.benchmarks.at(0).counters.at("energy_per_call_j"), 0.125);
  EXPECT_EQ(file.benchmarks.at(0).counters.at("elapsed_s"), 0.5);
  EXPECT_FALSE(file.benchmarks.at(1).identity.has_value());
  EXPECT_FALSE(file.benchmarks.at(1).stage_times.has_value());
  EXPECT_FALSE(file.benchmarks.at(1).expectation.has_value());
}

TEST_F(RunFileWriterTest, EveryStepLeavesAWholeFile) {
  RunFileWriter writer(path_, {{"date", "d"}, {"fusegate", {{"suite", "pr"}}}});
  EXPECT_TRUE(read_run_file(path_).benchmarks.empty());
  EXPECT_EQ(json::parse(read_file(path_))["context"]["fusegate"]["finished"], false);

  writer.append({run_sample("a", 0, 1), run_sample("a", 1, 3)});
  EXPECT_EQ(read_run_file(path_).benchmarks.at(0).summary.samples, 2);
  writer.append({run_sample("b", 0, 5)});
  EXPECT_EQ(read_run_file(path_).benchmarks.at(1).summary.time_ns, 5'000);

  writer.finish({Warning::kThrottled, Warning::kThrottled});
  const RunFile file = read_run_file(path_);
  EXPECT_EQ(file.benchmarks.size(), 2u);
  EXPECT_EQ(file.provenance.suite, "pr");
  EXPECT_THAT(file.warnings, ElementsAre(Warning::kThrottled));
  EXPECT_EQ(json::parse(read_file(path_))["context"]["fusegate"]["finished"], true);
}

TEST_F(RunFileWriterTest, ItsFirstWriteHasWhatItGoesOnWith) {
  const RunFileWriter writer(path_, json::object(), {run_sample("a", 0, 1), run_sample("a", 1, 3)});
  EXPECT_EQ(read_run_file(path_).benchmarks.at(0).summary.samples, 2);
}

TEST_F(RunFileWriterTest, IsTheOnlyOne) {
  RunFileWriter first(path_, json::object());
  EXPECT_THAT([&] { RunFileWriter(path_, json::object()); },
              ThrowsMessage<InputError>(HasSubstr("writes this file now")));
  first.append({run_sample("a", 0, 1)});
  EXPECT_EQ(read_run_file(path_).benchmarks.size(), 1u);
}

TEST_F(RunFileWriterTest, FinishingAddsToTheWarningOfTheStart) {
  RunFileWriter(path_, {{"fusegate", {{"warnings", {"dirty_tree"}}}}})
      .finish({Warning::kDirtyTree, Warning::kThrottled});
  EXPECT_THAT(read_run_file(path_).warnings, ElementsAre(Warning::kDirtyTree, Warning::kThrottled));
}

TEST_F(RunFileWriterTest, AddsToTheDetailsOfFirstEntries) {
  RunFileWriter writer(path_, json::object());
  json first = run_sample("a", 0, 1);
  first["details"] = {{"choices", {{"addmm", "algo 66"}}}};
  writer.append({first, run_sample("a", 1, 3), run_sample("b", 0, 5)});
  writer.add_details({{"a", {{"more", 1}}}, {"b", {{"more", 2}}}, {"absent", {{"more", 3}}}});
  const json entries = json::parse(read_file(path_))["benchmarks"];
  EXPECT_EQ(entries.at(0)["details"],
            json::parse(R"({"choices": {"addmm": "algo 66"}, "more": 1})"));
  EXPECT_FALSE(entries.at(1).contains("details"));
  EXPECT_EQ(entries.at(2)["details"], json::parse(R"({"more": 2})"));
}

TEST_F(RunFileWriterTest, BadTextAndNumbersDoNotCostTheFile) {
  json entry = run_sample("a", 0, 1);
  entry["label"] = "\xFF";
  entry["host_ns"] = std::nan("");
  RunFileWriter writer(path_, json::object());
  writer.append({entry});
  EXPECT_EQ(read_run_file(path_).benchmarks.at(0).counters.count("host_ns"), 0u);
}

TEST_F(RunFileWriterTest, ReportsAtOnceWhereItCannotWrite) {
  folder_.write("file", "x");
  EXPECT_THROW(RunFileWriter(folder_.path() / "file" / "1.json", json::object()), InputError);
}

}  // namespace
}  // namespace fusegate::baselines
