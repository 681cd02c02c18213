#include "baselines/traces/writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "baselines/traces/reader.h"
#include "baselines/traces/test_trace.h"

namespace fusegate::baselines {
namespace {

using nlohmann::json;

std::vector<json> written(const Trace& trace, std::string_view phase) {
  const json whole = json::parse(trace_text(trace));
  std::vector<json> events;
  for (const json& event : whole["traceEvents"]) {
    if (event["ph"] == phase) events.push_back(event);
  }
  return events;
}

void sort(Trace& trace) {
  std::ranges::sort(trace.events, {}, [](const TraceEvent& event) {
    return std::tuple(event.start_ns, -event.duration_ns, event.name);
  });
}

// Every ns too, of an epoch and before the origin.
TEST(TraceWriter, WritesWhatTheReaderReadsBack) {
  for (const std::int64_t offset_ns : {0L, 1'763'748'000'123'456'789L, -1'001L}) {
    Trace trace = example_trace();
    for (TraceEvent& event : trace.events) event.start_ns += offset_ns;
    Trace read = parse_trace(trace_text(trace), "trace.json");
    sort(trace);
    sort(read);
    EXPECT_EQ(read.tracks, trace.tracks);
    EXPECT_EQ(read.events, trace.events);
    EXPECT_EQ(read.counters, trace.counters);
  }
}

TEST(TraceWriter, DrawsAnArrowFromEachLaunchToItsWork) {
  const std::vector<json> tails = written(example_trace(), "s"),
                          heads = written(example_trace(), "f");
  ASSERT_EQ(tails.size(), 3U);
  ASSERT_EQ(heads.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(tails[i]["id"], heads[i]["id"]);
    EXPECT_EQ(tails[i]["tid"], 11);
    EXPECT_EQ(heads[i]["pid"], 0);
    EXPECT_EQ(heads[i]["bp"], "e");
  }
  EXPECT_EQ(tails[0]["ts"], 3);
  EXPECT_EQ(heads[0]["ts"], 8);
  EXPECT_NE(tails[0]["id"], tails[1]["id"]);
}

TEST(TraceWriter, GivesEachKernelOfAGraphAnArrowOfItsOwn) {
  Trace trace = example_trace();
  for (TraceEvent& event : trace.events) {
    if (is_gpu_work(event.category)) event.correlation = 2;
  }
  std::set<std::uint64_t> ids;
  for (const json& tail : written(trace, "s")) {
    EXPECT_EQ(tail["ts"], 3);
    ids.insert(tail["id"].get<std::uint64_t>());
  }
  EXPECT_EQ(ids.size(), 3U);
}

TEST(TraceWriter, DrawsNoArrowToWorkThatNobodyLaunched) {
  Trace trace = example_trace();
  for (TraceEvent& event : trace.events) {
    if (is_call(event.category)) event.correlation = 0;
    if (is_gpu_work(event.category)) event.correlation = 0;
  }
  EXPECT_TRUE(written(trace, "s").empty());
  EXPECT_TRUE(written(trace, "f").empty());
}

TEST(TraceWriter, OverlapsNothingOnOneLane) {
  std::map<json, double> end_of_lane;
  std::set<json> gpu_lanes;
  for (const json& event : written(example_trace(), "X")) {
    if (event["pid"] != 0) continue;
    gpu_lanes.insert(event["tid"]);
    EXPECT_GE(event["ts"].get<double>(), end_of_lane[event["tid"]]) << event;
    end_of_lane[event["tid"]] = event["ts"].get<double>() + event["dur"].get<double>();
    EXPECT_EQ(event["args"]["stream"], 7);
  }
  EXPECT_EQ(gpu_lanes, (std::set<json>{7, 12}));
  std::map<json, json> names;
  for (const json& event : written(example_trace(), "M")) {
    if (event["name"] == "thread_name") names[event["tid"]] = event["args"]["name"];
  }
  EXPECT_EQ(names[7], "stream 7");
  EXPECT_EQ(names[12], "stream 7, overlapping");
}

TEST(TraceWriter, FindsALaneWhereTheLargestIdIsTaken) {
  Trace trace = example_trace();
  trace.tracks[1].thread = std::numeric_limits<std::int64_t>::max();
  trace.add_track({0, 0, "GPU 0", "stream 0"});
  std::set<json> lanes;
  for (const json& event : written(trace, "X")) {
    if (event["pid"] == 0) lanes.insert(event["tid"]);
  }
  EXPECT_EQ(lanes, (std::set<json>{1, std::numeric_limits<std::int64_t>::max()}));
}

TEST(TraceWriter, WritesWhatItIsAbout) {
  Trace trace = example_trace();
  trace.about = {{"commit", "abc"}};
  EXPECT_EQ(json::parse(trace_text(trace))["fusegate"]["commit"], "abc");
}

TEST(TraceWriter, SurvivesNamesThatAreNoUtf8) {
  Trace trace = example_trace();
  trace.events[0].name = "a\xFF";
  EXPECT_EQ(written(trace, "X")[0]["name"], "a\uFFFD");
}

TEST(TraceWriter, RefusesAnEventOnNoTrack) {
  Trace trace = example_trace();
  trace.events[0].track = 2;
  EXPECT_THROW(trace_text(trace), std::out_of_range);
}

}  // namespace
}  // namespace fusegate::baselines
