#include "baselines/traces/reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"

namespace fusegate::baselines {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kOperator =
    R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 6, "ts": 1, "dur": 2,
        "args": {"External id": 9, "Input Dims": [[8, 4], []], "Concrete Inputs": ["", "1"]}})";

std::string file(std::string_view events) {
  return fmt::format(R"({{"schemaVersion": 1, "deviceProperties": [{{"id": 0}}],
                         "traceEvents": [{}], "traceName": "a.json"}})",
                     events);
}
Trace parse(std::string_view events) { return parse_trace(file(events), "a.json"); }

std::string error_of(std::string_view text) {
  try {
    parse_trace(std::string(text), "a.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(TraceReader, ReadsAKernelOfPyTorchs) {
  const Trace trace = parse(
      R"({"ph": "X", "cat": "kernel", "name": "nvjet_tst_128x256", "pid": 0, "tid": 7,
          "ts": 2413669097444.592, "dur": 1.76,
          "args": {"External id": 3, "queued": 0, "device": 0, "stream": 7, "correlation": 35,
                   "registers per thread": 16, "shared memory": 1024, "blocks per SM": 0.009259,
                   "grid": [12, 2, 1], "block": [128, 1, 1]}})");
  EXPECT_THAT(trace.events,
              ElementsAre(TraceEvent{.name = "nvjet_tst_128x256",
                                     .category = TraceCategory::kKernel,
                                     .start_ns = 2'413'669'097'444'592,
                                     .duration_ns = 1760,
                                     .correlation = 35,
                                     .external_id = 3,
                                     .launch = LaunchShape{{12, 2, 1}, {128, 1, 1}, 16, 1024}}));
}

TEST(TraceReader, ReadsEveryCategoryAndPassesOverOthers) {
  std::string events;
  for (const char* category : {"cpu_op", "user_annotation", "kernel", "gpu_memcpy", "gpu_memset",
                               "cuda_runtime", "cuda_driver", "gpu_user_annotation",
                               "python_function", "overhead", "cuda_sync", "Trace"}) {
    events += fmt::format(
        R"({{"ph": "X", "cat": "{0}", "name": "{0}", "pid": 1, "tid": 1, "ts": 0, "dur": 0}},)",
        category);
  }
  const Trace trace = parse(events + std::string(kOperator));
  std::vector<std::string> names;
  for (const TraceEvent& event : trace.events) {
    names.push_back(event.name);
    EXPECT_TRUE(event.name == category_name(event.category) || event.name == "aten::mm");
  }
  EXPECT_THAT(names, ElementsAre("cpu_op", "user_annotation", "kernel", "gpu_memcpy", "gpu_memset",
                                 "cuda_runtime", "cuda_driver", "gpu_user_annotation",
                                 "python_function", "overhead", "aten::mm"));
}

TEST(TraceReader, PassesOverWhatHasNoDurationAndTracksThatAreNoNumbers) {
  const Trace trace = parse(
      R"({"ph": "s", "id": 1, "pid": 1, "tid": 1, "ts": 5, "cat": "ac2g", "name": "ac2g"},
         {"ph": "X", "cat": "Trace", "name": "Profiler", "pid": "Spans", "tid": "Profiler",
          "ts": 1, "dur": 1, "args": {"Op count": 0}},
         {"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "ts": 9.5},)" +
      std::string(kOperator));
  EXPECT_EQ(trace.events.size(), 1U);
}

TEST(TraceReader, NamesTracksWhereverTheNamesStand) {
  const Trace trace =
      parse(R"({"ph": "M", "name": "process_name", "pid": 5, "args": {"name": "python"}},)" +
            std::string(kOperator) +
            R"(,{"ph": "M", "name": "thread_name", "pid": 5, "tid": 6, "args": {"name": "main"}})");
  EXPECT_THAT(trace.tracks, ElementsAre(TraceTrack{5, 6, "python", "main"}));
}

TEST(TraceReader, ReadsCounters) {
  const Trace trace = parse(
      R"({"ph": "C", "name": "SM clock", "pid": 3, "ts": 1.5, "args": {"value": 1980}},
         {"ph": "C", "name": "memory", "pid": 3, "ts": 2, "args": {"used": 0.5, "unit": "GB"}},)" +
      std::string(kOperator));
  EXPECT_THAT(trace.counters, ElementsAre(TraceCounter{"SM clock", 3, 1'500, 1980},
                                          TraceCounter{"memory: used", 3, 2'000, 0.5}));
}

TEST(TraceReader, TakesAnArrayOfEventsAlone) {
  EXPECT_EQ(parse_trace(fmt::format("[{}]", kOperator), "a.json").events.size(), 1U);
}

TEST(TraceReader, KeepsEveryNanosecondOfFractions) {
  for (const auto& [text, ns] : std::vector<std::pair<std::string, std::int64_t>>{
           {"1712195495519689.123", 1'712'195'495'519'689'123},
           {"0.5", 500},
           {"-0.001", -1},
           {"-12.25", -12'250},
           {"7.0019", 7'001},
           {"1.5e3", 1'500'000},
           {"3", 3'000}}) {
    const Trace trace = parse(fmt::format(
        R"({{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": {}, "dur": 1}})",
        text));
    EXPECT_EQ(trace.events[0].start_ns, ns) << text;
  }
}

TEST(TraceReader, LeavesOutTheEventThatIsWrongAndNamesIt) {
  const std::string head = R"("ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, )";
  const std::string whole = head + R"("ts": 1, "dur": 1, )";
  const std::vector<std::pair<std::string, std::string>> cases{
      {head + R"("ts": "1", "dur": 1)", "traceEvents[1].ts: must be a number and not a string"},
      {head + R"("ts": 1e300, "dur": 1)", "traceEvents[1].ts: must be a time in microseconds"},
      {head + R"("ts": 9300000000000000.5)", "traceEvents[1].ts: must be a time in microseconds"},
      {head + R"("ts": -9223372036854775808)", "traceEvents[1].ts: must be a time in microseconds"},
      {head + R"("ts": 1)", "traceEvents[1].dur: is missing"},
      {head + R"("ts": 1, "dur": -1)", "traceEvents[1].dur: must not be negative"},
      {head + R"("ts": 9e15, "dur": 9e15)", "traceEvents[1].dur: must end within 292 years"},
      {head + R"("ts": 1, "dur": 1, "args": [1])", "traceEvents[1].args: must be an object"},
      {whole + R"("args": {"grid": [1, 2]})", "traceEvents[1].args.grid: must be three integers"},
      {whole + R"("args": {"grid": [1, 2, 3, 4]})", "args.grid: must be three integers"},
      {whole + R"("args": {"block": [1, 2, 3.5]})", "args.block: must be three integers"},
      {whole + R"("args": {"block": 3})", "args.block: must be three integers"},
      {head + R"("args": {"correlation": 1.5})", "args.correlation: must be an integer"},
      {head + R"("args": {"correlation": 18446744073709551615})", "an integer below 2^63"},
      {whole + R"("args": {"stream": {}})", "args.stream: must be an integer and not an object"},
      {R"("ph": "X", "cat": 3)", "traceEvents[1].cat: must be a string and not a number"},
      {R"("name": "k")", "traceEvents[1].ph: is missing"},
      {R"("ph": "X", "cat": "cpu_op", "ts": 1, "dur": 1, "pid": 1, "tid": 1)", "[1].name: is"},
      {R"("ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 1, "pid": "x", "tid": 1)",
       "traceEvents[1].pid: is missing or not a number"}};
  for (const auto& [keys, message] : cases) {
    const Trace trace = parse(fmt::format("{}, {{{}}}, {}", kOperator, keys, kOperator));
    EXPECT_EQ(trace.events.size(), 2U) << keys;
    EXPECT_EQ(trace.lost.events, 1U) << keys;
    EXPECT_THAT(trace.lost.first, HasSubstr(message)) << keys;
    EXPECT_EQ(trace.lost.gpu_work, keys.find("cpu_op") == keys.npos ? 1U : 0U) << keys;
  }
  EXPECT_THAT(error_of(fmt::format(R"([{}, {{"ph": "B", "name": "k"}}])", kOperator)),
              HasSubstr("a.json: traceEvents[1].ph: \"B\" is not supported"));
}

TEST(TraceReader, CountsWhatItLeavesOutAndNamesTheFirst) {
  const std::string unfinished =
      R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": -1})";
  const Trace trace = parse(fmt::format("{}, {}, {}", unfinished, kOperator, unfinished));
  EXPECT_EQ(trace.lost.events, 2U);
  EXPECT_EQ(trace.lost.first, "traceEvents[0].dur: must not be negative (k)");
  EXPECT_EQ(parse(R"({"ph": "X", "cat": "Trace", "ts": "x", "dur": -1}, {"ph": "f", "ts": {}},)" +
                  std::string(kOperator))
                .lost.events,
            0U)
      << "nobody reads these";
  EXPECT_THAT(error_of(fmt::format("[{}]", unfinished)),
              HasSubstr("a.json: traceEvents[0].dur: must not be negative"));
}

TEST(TraceReader, EscapesBytesThatAreNoUtf8) {
  const Trace trace = parse(
      "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\xB0\xFF\", \"pid\": 1, \"tid\": 1, "
      "\"ts\": 1, \"dur\": 1}");
  EXPECT_EQ(trace.events.at(0).name, "a\\xb0\\xff");
  EXPECT_EQ(trace.lost.bytes, 2U);
  EXPECT_EQ(trace.lost.events, 0U);
}

TEST(TraceReader, KnowsTheCategoriesOfPyTorchBefore1_12) {
  std::string events;
  for (const auto& [category, name] :
       std::vector<std::pair<std::string, std::string>>{{"Operator", "ProfilerStep#3"},
                                                        {"Operator", "aten::mm"},
                                                        {"Runtime", "cudaLaunchKernel"},
                                                        {"Kernel", "gemm"},
                                                        {"Memcpy", "Memcpy DtoD"},
                                                        {"Memset", "Memset (Device)"}}) {
    events += fmt::format(
        R"({}{{"ph": "X", "cat": "{}", "name": "{}", "pid": 1, "tid": 1, "ts": 0, "dur": 1}})",
        events.empty() ? "" : ",", category, name);
  }
  const Trace trace = parse(events);
  std::vector<TraceCategory> categories;
  for (const TraceEvent& event : trace.events) categories.push_back(event.category);
  using enum TraceCategory;
  EXPECT_THAT(categories, ElementsAre(kRange, kOperator, kRuntimeCall, kKernel, kMemcpy, kMemset));
}

TEST(TraceReader, LimitsTheValuesOfCounters) {
  std::string values = "\"v0\": 0";
  for (int i = 1; i <= 5'000'000; ++i) values += ",\"v\":0";
  EXPECT_THAT(error_of(fmt::format(R"([{{"ph": "C", "name": "{}", "ts": 1, "args": {{{}}}}}])",
                                   std::string(100'000, 'n'), values)),
              HasSubstr("traceEvents[0]: more than 5000000 values of counters"));
}

TEST(TraceReader, TakesOtherMeaningsOfAKernelsArgumentsElsewhere) {
  const Trace trace = parse(
      R"json({"ph": "X", "cat": "cpu_op", "name": "triton_poi_fused_0", "pid": 1, "tid": 1, "ts": 1,
              "dur": 1, "args": {"External id": 3, "grid": "grid(100,)", "stream": null,
                                 "block": [[1, 2], {"x": 3}]}})json");
  ASSERT_EQ(trace.events.size(), 1U);
  EXPECT_EQ(trace.events[0].external_id, 3);
  EXPECT_EQ(trace.events[0].launch, std::nullopt);
}

TEST(TraceReader, SaysWhatIsWrongWithTheFile) {
  EXPECT_THAT(error_of(""), HasSubstr("a.json: the file is empty"));
  EXPECT_THAT(error_of("3"), HasSubstr("must be a JSON object or an array of events"));
  EXPECT_THAT(error_of("{}"), HasSubstr("a.json: traceEvents: is missing"));
  EXPECT_THAT(error_of(R"({"traceEvents": {}})"), HasSubstr("traceEvents: must be an array"));
  EXPECT_THAT(error_of(R"({"traceEvents": [3]})"), HasSubstr("traceEvents[0]: must be an object"));
  EXPECT_THAT(error_of(R"({"traceEvents": []})"), HasSubstr("traceEvents: has no complete event"));
  EXPECT_THAT(error_of(R"({"traceEvents": [], "traceEvents": []})"), HasSubstr("twice"));
}

TEST(TraceReader, SaysWhereTheTextIsNoJson) {
  EXPECT_THAT(error_of(R"({"traceEvents": [{"ph": "X", "ts": nan}]})"),
              HasSubstr("traceEvents[0].ts: not valid JSON: line 1, column 37"));
  const std::string whole = file(kOperator);
  for (std::size_t size = 1; size < whole.size(); ++size) {
    EXPECT_THAT(error_of(whole.substr(0, size)), HasSubstr("a.json: ")) << size;
  }
}

}  // namespace
}  // namespace fusegate::baselines
