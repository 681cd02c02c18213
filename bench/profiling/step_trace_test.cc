// Constructed records, as a profiler may deliver them: no GPU.
#include "bench/profiling/step_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "baselines/traces/owners.h"
#include "baselines/traces/summary.h"

namespace fusegate::bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kTraceBegan = 1'770'000'000'000'000'000;  // ns since 1970, as CUPTI counts

// A step of 100 us: two stages of which each launches a kernel, the first after a memset.
RecordedStep step(int number, std::int64_t after_ns = 0) {
  using enum baselines::TraceCategory;
  const std::int64_t began = kTraceBegan + after_ns;
  Activity activity{.began = began, .launched = began + 30'000, .ended = began + 100'000};
  activity.stages = {"gate_proj", "gelu"};
  activity.spans = {{0, {began + 1'000, began + 10'000}}, {1, {began + 11'000, began + 29'000}}};
  baselines::Trace& trace = activity.trace;
  const std::size_t host = trace.add_track({10, 11, kProgramName, "thread 11"});
  const std::size_t stream = trace.add_track({0, 7, "GPU 0", "stream 7"});
  trace.events = {{"gelu kernel", kKernel, stream, began + 60'000, 30'000, 42},
                  {"gemm", kKernel, stream, began + 20'000, 39'000, 41},
                  {"Memset (Device)", kMemset, stream, began + 15'000, 1'000, 40, 0, 528},
                  {"cudaMemsetAsync", kRuntimeCall, host, began + 1'500, 500, 40},
                  {"cudaLaunchKernelExC", kRuntimeCall, host, began + 3'000, 4'000, 41},
                  {"cuLaunchKernelEx", kDriverCall, host, began + 12'000, 5'000, 42},
                  {"cudaStreamSynchronize", kRuntimeCall, host, began + 31'000, 60'000, 43}};
  trace.events[0].launch = baselines::LaunchShape{{64, 24, 1}, {384, 1, 1}, 168, 200'016, 16};
  return {.step = number, .activity = activity};
}

TracedBenchmark benchmark(const std::string& name, std::vector<RecordedStep> steps) {
  return {.name = name, .steps = std::move(steps)};
}

baselines::Trace assembled(const std::vector<TracedBenchmark>& benchmarks) {
  return assemble_trace(benchmarks, {.process = 10, .thread = 11});
}

const baselines::TraceEvent& named(const baselines::Trace& trace, const std::string& name) {
  const auto found = std::ranges::find(trace.events, name, &baselines::TraceEvent::name);
  if (found == trace.events.end()) throw std::out_of_range(name);
  return *found;
}

// Names from the event itself up to what nothing encloses.
std::vector<std::string> ancestry(const baselines::Trace& trace, const std::string& name) {
  const std::vector<std::size_t> owned_by = baselines::owners(trace);
  std::vector<std::string> names;
  for (auto i = static_cast<std::size_t>(&named(trace, name) - trace.events.data());
       i != baselines::kNoEvent; i = owned_by[i]) {
    names.push_back(trace.events[i].name);
  }
  return names;
}

TEST(AssembleTrace, NestsCallsInStagesInTheBenchmarkInTheStep) {
  const baselines::Trace trace = assembled({benchmark("geglu", {step(2)})});
  EXPECT_THAT(ancestry(trace, "cudaLaunchKernelExC"),
              ElementsAre("cudaLaunchKernelExC", "gate_proj", "geglu", "ProfilerStep#2"));
  EXPECT_THAT(ancestry(trace, "cuLaunchKernelEx"),
              ElementsAre("cuLaunchKernelEx", "gelu", "geglu", "ProfilerStep#2"));
  EXPECT_THAT(ancestry(trace, "cudaStreamSynchronize"),
              ElementsAre("cudaStreamSynchronize", "ProfilerStep#2"))
      << "the benchmark's range ends with its last launch, the step when the GPU is through";
}

TEST(AssembleTrace, LeadsFromWorkToTheStageThatLaunchedIt) {
  const baselines::Trace trace = assembled({benchmark("geglu", {step(2)})});
  EXPECT_THAT(ancestry(trace, "gemm"), ElementsAre("gemm", "gate_proj", "geglu", "ProfilerStep#2"));
  EXPECT_THAT(ancestry(trace, "Memset (Device)"),
              ElementsAre("Memset (Device)", "gate_proj", "geglu", "ProfilerStep#2"));
  EXPECT_EQ(ancestry(trace, "gelu kernel").at(1), "gelu");
}

TEST(AssembleTrace, NestsWhatALaunchMarksInItsStage) {
  RecordedStep marked = step(2);
  marked.activity.stages.push_back("epilogue");
  marked.activity.spans.insert(marked.activity.spans.begin() + 1,
                               {2, {kTraceBegan + 2'000, kTraceBegan + 8'000}});
  const baselines::Trace trace = assembled({benchmark("geglu", {marked})});
  EXPECT_THAT(ancestry(trace, "gemm"),
              ElementsAre("gemm", "epilogue", "gate_proj", "geglu", "ProfilerStep#2"));
  EXPECT_THAT(ancestry(trace, "Memset (Device)"),
              ElementsAre("Memset (Device)", "gate_proj", "geglu", "ProfilerStep#2"))
      << "launched before the mark";
}

TEST(AssembleTrace, CountsTimeFromTheFirstOfAll) {
  TracedBenchmark traced = benchmark("geglu", {step(2)});
  EXPECT_EQ(named(assembled({traced}), "ProfilerStep#2").start_ns, 0);
  traced.clocks = {{.at = kTraceBegan - 50'000, .mhz = 1980}};
  const baselines::Trace trace = assembled({traced});
  EXPECT_EQ(named(trace, "ProfilerStep#2").start_ns, 50'000);
  EXPECT_EQ(named(trace, "ProfilerStep#2").duration_ns, 100'000);
  EXPECT_EQ(named(trace, "gemm").start_ns, 70'000);
  EXPECT_EQ(named(trace, "gemm").duration_ns, 39'000);
  EXPECT_EQ(trace.counters.at(0).at_ns, 0);
}

TEST(AssembleTrace, NumbersStepsOnOverBenchmarks) {
  TracedBenchmark second = benchmark("linear", {step(2, 300'000)});
  second.first_step = 5;
  const baselines::Trace trace =
      assembled({benchmark("geglu", {step(2), step(3, 150'000)}), second});
  const baselines::TraceSummary summary = baselines::summarize(trace);
  EXPECT_EQ(summary.steps, 3u);
  EXPECT_EQ(summary.kernels, 6u);
  EXPECT_EQ(summary.unowned, 0u);
  EXPECT_EQ(named(trace, "ProfilerStep#7").start_ns, 300'000);
}

// CUPTI may count anew for a new subscriber.
TEST(AssembleTrace, KeepsEqualCorrelationsOfTwoStepsApart) {
  const baselines::Trace trace =
      assembled({benchmark("geglu", {step(2)}), benchmark("linear", {step(2, 200'000)})});
  std::vector<std::int64_t> launches, kernels;
  for (const baselines::TraceEvent& event : trace.events) {
    if (event.name == "cudaLaunchKernelExC") launches.push_back(event.correlation);
    if (event.name == "gemm") kernels.push_back(event.correlation);
  }
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_NE(launches[0], launches[1]);
  EXPECT_EQ(launches, kernels);
}

TEST(AssembleTrace, KeepsWhatWasRecorded) {
  const RecordedStep recorded = step(2);
  const baselines::Trace trace = assembled({benchmark("geglu", {recorded})});
  for (const baselines::TraceEvent& event : recorded.activity.trace.events) {
    const baselines::TraceEvent& kept = named(trace, event.name);
    EXPECT_EQ(kept.category, event.category) << event.name;
    EXPECT_EQ(kept.launch, event.launch) << event.name;
    EXPECT_EQ(kept.bytes, event.bytes) << event.name;
  }
}

TEST(AssembleTrace, GivesThreadsAndStreamsLanesOfTheirOwn) {
  RecordedStep two = step(2);
  baselines::Trace& recorded = two.activity.trace;
  recorded.events[0].track = recorded.add_track({0, 13, "GPU 0", "stream 13"});
  recorded.events[4].track = recorded.add_track({10, 99, kProgramName, "thread 99"});
  const baselines::Trace trace = assembled({benchmark("geglu", {two})});
  EXPECT_THAT(trace.tracks, testing::UnorderedElementsAre(
                                baselines::TraceTrack{10, 11, "fusegate_bench", "main"},
                                baselines::TraceTrack{10, 99, "fusegate_bench", "thread 99"},
                                baselines::TraceTrack{0, 7, "GPU 0", "stream 7"},
                                baselines::TraceTrack{0, 13, "GPU 0", "stream 13"}));
  EXPECT_EQ(trace.tracks[named(trace, "gelu kernel").track].thread, 13);
  EXPECT_EQ(trace.tracks[named(trace, "cudaLaunchKernelExC").track].thread, 99);
}

TEST(AssembleTrace, LeavesOutCallsOutsideOfTheStep) {
  RecordedStep one = step(2);
  using enum baselines::TraceCategory;
  one.activity.trace.events = {{"before", kRuntimeCall, 0, kTraceBegan - 50, 10, 6},
                               {"after", kRuntimeCall, 0, kTraceBegan + 100'000, 10, 7},
                               {"without times", kDriverCall, 0, 0, 0, 8}};
  const baselines::Trace trace = assembled({benchmark("geglu", {one})});
  for (const baselines::TraceEvent& event : trace.events) {
    EXPECT_FALSE(baselines::is_call(event.category)) << event.name;
  }
}

TEST(AssembleTrace, ShowsTheClockBesideTheGpuAndElseTheHost) {
  TracedBenchmark traced = benchmark("geglu", {step(2)});
  traced.clocks = {{.at = kTraceBegan, .mhz = 1980}, {.at = kTraceBegan + 100'000, .mhz = 1755}};
  traced.steps[0].activity.trace.tracks[1].process = 3;
  const baselines::Trace trace = assembled({traced});
  EXPECT_THAT(trace.counters,
              ElementsAre(baselines::TraceCounter{"SM clock (MHz)", 3, 0, 1980},
                          baselines::TraceCounter{"SM clock (MHz)", 3, 100'000, 1755}));
  traced.steps[0].activity.trace.events.clear();
  EXPECT_EQ(assembled({traced}).counters.at(0).process, 10);
}

TEST(AssembleTrace, HasRangesAloneWhereNothingElseWasRecorded) {
  RecordedStep bare = step(4);
  bare.activity.trace.events.clear();
  const baselines::Trace trace = assembled({benchmark("geglu", {bare})});
  std::vector<std::string> names;
  for (const baselines::TraceEvent& event : trace.events) names.push_back(event.name);
  EXPECT_THAT(names, ElementsAre("ProfilerStep#4", "geglu", "gate_proj", "gelu"));
  EXPECT_THAT(trace.counters, IsEmpty());
}

}  // namespace
}  // namespace fusegate::bench
