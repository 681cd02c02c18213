#include "baselines/record/baseline.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "baselines/io/error.h"
#include "baselines/io/scratch_folder.h"
#include "baselines/record/test_run.h"

namespace fusegate::baselines {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Baseline example() {
  Baseline baseline;
  baseline.acceptance = {"ada", "2026-11-21T02:00:00+00:00", "the \"first\" one"};
  Run& run = baseline.run;
  run.environment = {{"device", "NVIDIA H200"}, {"power_limit_w", 700}, {"ecc", true}};
  run.provenance = {.commit = "8b4491f",
                    .dirty = false,
                    .toolchain = "GNU 12.2.0, nvcc 13.0.88 for 80,90a-real, Release",
                    .fusegate = "1.2.3",
                    .date = "2026-11-21T01:46:00+00:00",
                    .host = "h200",
                    .device_uuid = "GPU-1",
                    .suite = "pr",
                    .protocol = {{"batch_ms", 1.5}, {"samples", 60}}};
  run.warnings = {Warning::kUnlockedClocks};
  BenchmarkSeries linear;
  linear.name = "linear/addmm/bf16/batch:64/seq:128/dim:768/hidden:3072";
  linear.processes = {{58123.4567, 99948123.4, 0.00123456, 60}, {58200, 1e8, 0.002, 60}};
  linear.processes[0].clock_fit = {.time_squares = 0.012345678,
                                   .clock_squares = 0.5,
                                   .products = -0.25,
                                   .degrees_of_freedom = 59};
  linear.counters = {{"flops", 38654705664.0}, {"kernel_launches", 1}, {"host_ns", 2512.34}};
  linear.choices = {{"addmm", "algo 66"}};
  BenchmarkSeries geglu;
  geglu.name = "geglu/fused/bf16/batch:64/seq:128/dim:768/hidden:3072";
  geglu.processes = {{1.5, kNan, 0, 30}};
  geglu.warnings = {Warning::kUnsteady, Warning::kClockUnread};
  run.benchmarks = {linear, geglu};
  return baseline;
}

Baseline read_back(const Baseline& baseline) {
  return parse_baseline(baseline_text(baseline), "b.json");
}

TEST(BaselineText, KeepsWhatWasLaunchedOnTheBenchmarksLine) {
  Baseline original = example();
  original.run.benchmarks[0].identity = CallIdentity{.launches = {{.kernel = "void k<float>()",
                                                                   .code = "0f",
                                                                   .instructions = 1204,
                                                                   .arguments = "77"}},
                                                     .order = "5d"};
  const std::string text = baseline_text(original);
  EXPECT_THAT(text, HasSubstr(R"(,"identity":{"launches":[{"arguments":"77","code":"0f",)"));
  const Baseline read = parse_baseline(text, "b.json");
  EXPECT_FALSE(read.run.benchmarks[0].identity.has_value());
  EXPECT_TRUE(identical_code(read.run.benchmarks[1].identity.value(),
                             *original.run.benchmarks[0].identity));
  EXPECT_EQ(read.run.benchmarks[1].identity->launches[0].instructions, 1204);
  EXPECT_EQ(baseline_text(read).size(), text.size());
}

TEST(BaselineText, ReadsBackWithinRounding) {
  const Baseline original = example();
  const Baseline read = read_back(original);
  EXPECT_EQ(read.acceptance.who, "ada");
  EXPECT_EQ(read.acceptance.when, original.acceptance.when);
  EXPECT_EQ(read.acceptance.reason, "the \"first\" one");
  EXPECT_FALSE(read.published);
  EXPECT_EQ(read.run.source, "b.json");
  EXPECT_EQ(read.run.environment, original.run.environment);
  EXPECT_EQ(read.run.provenance.commit, "8b4491f");
  EXPECT_EQ(read.run.provenance.toolchain, original.run.provenance.toolchain);
  EXPECT_EQ(read.run.provenance.fusegate, "1.2.3");
  EXPECT_EQ(read.run.provenance.device_uuid, "GPU-1");
  EXPECT_EQ(read.run.provenance.suite, "pr");
  EXPECT_EQ(read.run.provenance.host, "h200");
  EXPECT_EQ(read.run.provenance.protocol, original.run.provenance.protocol);
  EXPECT_THAT(read.run.warnings, ElementsAre(Warning::kUnlockedClocks));

  ASSERT_EQ(read.run.benchmarks.size(), 2u);
  const BenchmarkSeries& geglu = read.run.benchmarks[0];
  EXPECT_EQ(geglu.name, original.run.benchmarks[1].name);
  EXPECT_TRUE(std::isnan(geglu.processes.at(0).cycles));
  EXPECT_THAT(geglu.warnings, ElementsAre(Warning::kUnsteady, Warning::kClockUnread));
  const BenchmarkSeries& linear = read.run.benchmarks[1];
  ASSERT_EQ(linear.processes.size(), 2u);
  EXPECT_EQ(linear.processes[0].time_ns, 58123);
  EXPECT_EQ(linear.processes[0].cycles, 99948000);
  EXPECT_EQ(linear.processes[1].time_ns, 58200);
  EXPECT_EQ(linear.processes[0].clock_fit.time_squares, 0.012346);
  EXPECT_EQ(linear.processes[0].clock_fit.clock_squares, 0.5);
  EXPECT_EQ(linear.processes[0].clock_fit.products, -0.25);
  EXPECT_EQ(linear.processes[0].clock_fit.degrees_of_freedom, 59);
  EXPECT_EQ(linear.processes[1].clock_fit.degrees_of_freedom, 0);
  EXPECT_NEAR(linear.processes[0].spread, 0.0016173, 1e-9);  // the median of both
  EXPECT_EQ(linear.processes[0].samples, 60);
  EXPECT_EQ(linear.counters.at("flops"), 38655000000.0);
  EXPECT_EQ(linear.choices, original.run.benchmarks[0].choices);
}

// Of each process the card that it was measured on.
Baseline of_two_cards() {
  Baseline baseline = example();
  baseline.run.cards = {"GPU-1", "GPU-2"};
  baseline.run.benchmarks.resize(1);
  auto& processes = baseline.run.benchmarks[0].processes;
  processes.push_back(processes[0]);
  processes.push_back(processes[1]);
  processes[1].card = processes[2].card = 1;
  return baseline;
}

TEST(BaselineText, KeepsTheCardOfEveryProcess) {
  const std::string text = baseline_text(of_two_cards());
  EXPECT_THAT(text, HasSubstr(R"("cards":[0,1,1,0],)"));
  const Baseline read = parse_baseline(text, "b.json");
  EXPECT_THAT(read.run.cards, ElementsAre("GPU-1", "GPU-2"));
  std::vector<int> cards;
  for (const auto& summary : read.run.benchmarks[0].processes) cards.push_back(summary.card);
  EXPECT_THAT(cards, ElementsAre(0, 1, 1, 0));
  EXPECT_EQ(baseline_text(read), text);
}

TEST(BaselineText, OfOneCardNamesItOnce) {
  const std::string text = baseline_text(example());
  EXPECT_THAT(text, testing::Not(HasSubstr("\"cards\"")));
  EXPECT_THAT(parse_baseline(text, "b.json").run.cards, ElementsAre("GPU-1"));
}

TEST(BaselineText, KeepsTheHostsTimeOfEveryProcess) {
  Baseline baseline = example();
  baseline.run.provenance.cpu = "Xeon 8";
  baseline.run.benchmarks.resize(1);
  auto& processes = baseline.run.benchmarks[0].processes;
  processes[0].host_ns = 9123.456;
  processes[1].host_ns = 9000;
  processes[0].host_graph_ns = 3060;  // of the other process it is not known
  const std::string text = baseline_text(baseline);
  EXPECT_THAT(text, HasSubstr(R"("host_ns":[9123.5,9000],"spread")"));
  EXPECT_THAT(text, testing::Not(HasSubstr("host_graph_ns")));
  const Baseline read = parse_baseline(text, "b.json");
  EXPECT_EQ(read.run.benchmarks[0].processes[0].host_ns, 9123.5);
  EXPECT_EQ(read.run.benchmarks[0].processes[1].host_ns, 9000);
  EXPECT_TRUE(std::isnan(read.run.benchmarks[0].processes[0].host_graph_ns));
  EXPECT_EQ(read.run.provenance.cpu, "Xeon 8");
  EXPECT_EQ(baseline_text(read), text);
}

TEST(ParseBaseline, HostTimesAreAsManyAsTimes) {
  Baseline baseline = example();
  for (auto& summary : baseline.run.benchmarks[0].processes) summary.host_graph_ns = 3060;
  const auto expect_error = [&](const char* list, const char* message) {
    std::string text = baseline_text(baseline);
    text.replace(text.find("[3060,3060]"), 11, list);
    EXPECT_THAT([&] { parse_baseline(text, "b.json"); },
                ThrowsMessage<InputError>(HasSubstr(message)));
  };
  expect_error("[3060]", "benchmarks[1].host_graph_ns: must have as many elements as time_ns");
  expect_error("[3060,0]", "benchmarks[1].host_graph_ns[1]: must be");
}

// As before there was a list: the median alone is known.
TEST(ParseBaseline, ReadsOfOlderBaselinesTheMedianOfHostTimes) {
  const Baseline read = read_back(example());
  EXPECT_EQ(read.run.benchmarks[1].counters.at("host_ns"), 2512.3);
  EXPECT_TRUE(std::isnan(read.run.benchmarks[1].processes[0].host_ns));
}

TEST(BaselineText, NumbersProcessesWhereBenchmarksHaveDifferentOnes) {
  Baseline baseline = example();
  baseline.run.process_names = {"1.json", "2.json", "3.json"};
  baseline.run.benchmarks.resize(1);
  auto& processes = baseline.run.benchmarks[0].processes;
  processes[1].process = 1;
  EXPECT_THAT(baseline_text(baseline), testing::Not(HasSubstr("\"processes\"")));
  EXPECT_EQ(read_back(baseline).run.benchmarks[0].processes[1].process, 1);
  processes[1].process = 2;
  std::string text = baseline_text(baseline);
  EXPECT_THAT(text, HasSubstr(R"("processes":[0,2],)"));
  const Baseline read = parse_baseline(text, "b.json");
  EXPECT_THAT(read.run.process_names, ElementsAre("1.json", "2.json", "3.json"));
  EXPECT_EQ(read.run.benchmarks[0].processes[1].process, 2);
  EXPECT_EQ(baseline_text(read), text);
  text.replace(text.find("[0,2],"), 6, "[0,3],");
  EXPECT_THAT([&] { parse_baseline(text, "b.json"); },
              ThrowsMessage<InputError>(HasSubstr(
                  "benchmarks[0].processes[1]: must be an index into provenance.processes")));
}

TEST(ParseBaseline, ACardMustBeOneOfTheBaselines) {
  std::string text = baseline_text(of_two_cards());
  text.replace(text.find("[0,1,1,0]"), 9, "[0,1,2,0]");
  EXPECT_THAT([&] { parse_baseline(text, "b.json"); },
              ThrowsMessage<InputError>(HasSubstr(
                  "b.json: benchmarks[0].cards[2]: must be an index into provenance.cards")));
}

TEST(BaselineText, KeepsWhatWasLeftOut) {
  Baseline baseline = example();
  EXPECT_THAT(baseline_text(baseline), testing::Not(HasSubstr("left_out")));
  baseline.run.left_out = {{"b", "3 of 5 processes have it"}};
  const Baseline read = read_back(baseline);
  EXPECT_EQ(read.run.left_out, baseline.run.left_out);
  EXPECT_EQ(left_out_text(read.run), left_out_text(baseline.run));
}

TEST(BaselineText, IsTheSameBytesAfterReadingBack) {
  const std::string text = baseline_text(example());
  EXPECT_EQ(baseline_text(parse_baseline(text, "b.json")), text);
  Baseline reordered = example();
  std::swap(reordered.run.benchmarks[0], reordered.run.benchmarks[1]);
  EXPECT_EQ(baseline_text(reordered), text);
}

TEST(BaselineText, ReadsBackNumbersAtTheEndOfWhatADoubleHolds) {
  constexpr double kMost = std::numeric_limits<double>::max();  // 1.7977e308 is beyond it
  Baseline original = example();
  original.run.benchmarks[0].counters["flops"] = kMost;
  original.run.benchmarks[0].counters["host_ns"] = -0.0;
  original.run.benchmarks[0].processes[0].spread = kMost;
  original.run.benchmarks[0].processes[1].spread = kMost;
  const std::string text = baseline_text(original);
  const Baseline again = parse_baseline(text, "b.json");
  EXPECT_EQ(baseline_text(again), text);
  const BenchmarkSeries& read = again.run.benchmarks.at(1);
  EXPECT_EQ(read.counters.at("flops"), kMost);
  EXPECT_EQ(read.processes.at(0).spread, kMost);
}

TEST(BaselineText, IsOneSortedLineABenchmark) {
  std::istringstream text(baseline_text(example()));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("{\"name\"")) lines.push_back(line);
  }
  EXPECT_THAT(
      lines,
      ElementsAre(
          R"({"name":"geglu/fused/bf16/batch:64/seq:128/dim:768/hidden:3072","time_ns":[1.5],)"
          R"("spread":0,"samples":30,"warnings":["unsteady","clock_unread"]},)",
          R"({"name":"linear/addmm/bf16/batch:64/seq:128/dim:768/hidden:3072",)"
          R"("time_ns":[58123,58200],"cycles":[99948000,100000000],)"
          R"("clock_fit":[[0.012346,0.5,-0.25,59],[0,0,0,0]],"spread":0.0016173,)"
          R"("samples":60,"counters":{"flops":38655000000,"host_ns":2512.3,"kernel_launches":1},)"
          R"("choices":{"addmm":"algo 66"}})"));
}

TEST(BaselineText, CyclesMissingInOneProcessAreLeftOut) {
  Baseline baseline = example();
  baseline.run.benchmarks[0].processes[1].cycles = kNan;
  EXPECT_THAT(baseline_text(baseline), testing::Not(HasSubstr("cycles")));
}

TEST(BaselineText, KeepsAFailureThatWasAccepted) {
  Baseline baseline = example();
  baseline.run.benchmarks[1].processes.clear();
  baseline.run.benchmarks[1].failure = "out of memory";
  const Baseline read = read_back(baseline);
  EXPECT_EQ(read.run.benchmarks[0].failure, "out of memory");
  EXPECT_THAT(read.run.benchmarks[0].processes, IsEmpty());
}

// The bound that keeps baselines in git: 300 benchmarks of five processes in 300 KB.
TEST(BaselineText, IsSmallEnoughForGit) {
  Baseline baseline = example();
  baseline.run.benchmarks.clear();
  for (int i = 0; i < 300; ++i) {
    BenchmarkSeries series;
    series.name = fmt::format(
        "geglu_mlp/fused_pointwise/bf16/batch:{}/seq:4096/dim:4096/hidden:14336", 100 + i);
    for (int k = 0; k < 5; ++k) {
      series.processes.push_back({1.2345e6 + k + i, 2.4691e9 + k, 0.00123456, 60});
    }
    series.counters = {{"sm_clock_hz", 1.978125e9},  {"kernel_launches", 4},
                       {"flops", 1.23456789e12 + i}, {"min_bytes", 2.3456789e9},
                       {"host_ns", 10234.5},         {"l2_flushed", 1}};
    for (const char* stage : {"gate_proj", "up_proj", "down_proj"}) {
      series.choices[stage] = "cublaslt algo 66 tile 20 stages 24 splitk 1 swizzle 0 custom 3";
    }
    series.warnings = {Warning::kUnlockedClocks};
    baseline.run.benchmarks.push_back(series);
  }
  const std::string text = baseline_text(baseline);
  EXPECT_LE(text.size(), 300'000u);
  EXPECT_EQ(parse_baseline(text, "b.json").run.benchmarks.size(), 300u);
}

TEST(IsBaselineText, DistinguishesABaselineFromARunFile) {
  EXPECT_TRUE(is_baseline_text(baseline_text(example())));
  EXPECT_TRUE(is_baseline_text(R"({"published": true, "fusegate_baseline": 1})"));
  EXPECT_TRUE(is_baseline_text(R"({"fusegate_baseline": 1, "bench)"));
  EXPECT_FALSE(is_baseline_text(R"({"context": {"fusegate_baseline": 1}, "benchmarks": []})"));
  EXPECT_FALSE(is_baseline_text(R"({"benchmarks": [{"fusegate_baseline": 1}]})"));
  EXPECT_FALSE(is_baseline_text("[]"));
  EXPECT_FALSE(is_baseline_text("3"));
  EXPECT_FALSE(is_baseline_text(""));
}

void expect_error(const std::string& path, const json& value, const std::string& message) {
  json baseline = json::parse(baseline_text(example()));
  baseline[json::json_pointer(path)] = value;
  EXPECT_THAT([&] { parse_baseline(baseline.dump(), "b.json"); },
              ThrowsMessage<InputError>(HasSubstr("b.json: " + message)));
}

TEST(ParseBaseline, NamesFileAndField) {
  expect_error("/fusegate_baseline", 2, "fusegate_baseline: version 2 is newer than this fusegate");
  expect_error("/acceptance", nullptr, "acceptance: is missing");
  expect_error("/acceptance/who", 1, "acceptance.who: must be a string");
  expect_error("/environment", nullptr, "environment: is missing");
  expect_error("/environment/ecc", json::object(), "environment.ecc: must be a string");
  expect_error("/benchmarks", nullptr, "benchmarks: is missing");
  expect_error("/benchmarks/0/name", nullptr, "benchmarks[0].name: is missing");
  expect_error("/benchmarks/0/time_ns", nullptr, "benchmarks[0].time_ns: is missing");
  expect_error("/benchmarks/0/time_ns", json::array(), "benchmarks[0].time_ns: must not be empty");
  expect_error("/benchmarks/1/time_ns/1", -1, "benchmarks[1].time_ns[1]: must be positive");
  expect_error("/benchmarks/1/time_ns/1", nullptr, "benchmarks[1].time_ns[1]: must be a number");
  expect_error("/benchmarks/1/cycles", json::array({1}), "benchmarks[1].cycles: must have as many");
  expect_error("/benchmarks/1/counters/flops", "x", "benchmarks[1].counters.flops: must be");
  expect_error("/benchmarks/0/warnings/0", "x", "benchmarks[0].warnings[0]: unknown warning \"x\"");
  expect_error("/benchmarks/0/name", example().run.benchmarks[0].name, "benchmarks: \"linear");
  EXPECT_THAT([] { parse_baseline(R"({"fusegate_baseline": 1,)", "b.json"); },
              ThrowsMessage<InputError>(HasSubstr("b.json: not valid JSON: line 1, column ")));
}

TEST(ParseBaseline, PublishedFiguresNeedNoMoreThanTimes) {
  const Baseline baseline = parse_baseline(
      R"({"fusegate_baseline": 1, "published": true, "acceptance": {}, "environment": {},)"
      R"( "benchmarks": [{"name": "a", "time_ns": [190000]}]})",
      "b.json");
  EXPECT_TRUE(baseline.published);
  EXPECT_EQ(baseline.run.benchmarks.at(0).processes.at(0).time_ns, 190000);
}

Run acceptable() {
  Run run = example().run;
  run.benchmarks.pop_back();
  return run;
}

TEST(ReasonsNotToAccept, NoneForASoundRun) {
  EXPECT_THAT(reasons_not_to_accept(acceptable()), IsEmpty());
}

TEST(ReasonsNotToAccept, NameWhatIsWrong) {
  auto run = acceptable();
  run.warnings = {Warning::kThrottled, Warning::kOtherGpuProcess};
  run.provenance.dirty = true;
  run.benchmarks[0].processes.pop_back();
  run.benchmarks.push_back({});
  run.benchmarks.back().name = "geglu/fused";
  run.benchmarks.back().failure = "wrong results";
  EXPECT_THAT(reasons_not_to_accept(run),
              ElementsAre("benchmarks failed: geglu/fused", HasSubstr("throttled"),
                          HasSubstr("another process"), HasSubstr("uncommitted changes"),
                          HasSubstr("fewer than two processes")));
}

TEST(ReasonsNotToAccept, OneProcessIsItsCardsOnlyEvidence) {
  auto run = of_two_cards().run;
  EXPECT_THAT(reasons_not_to_accept(run), IsEmpty());
  run.benchmarks[0].processes.pop_back();
  EXPECT_THAT(reasons_not_to_accept(run),
              ElementsAre("GPU-1 measured once only; measure at least two processes per card"));
}

// A card measured the suite in two parts, each with the control.
TEST(ReasonsNotToAccept, ControlsAreNoEvidenceOfACard) {
  auto run = of_two_cards().run;
  BenchmarkSeries control = as_control(run.benchmarks[0]);
  control.name = "control";
  run.benchmarks.push_back(control);
  run.benchmarks[0].processes.pop_back();
  EXPECT_THAT(reasons_not_to_accept(run),
              ElementsAre("GPU-1 measured once only; measure at least two processes per card"));
}

TEST(ReasonsNotToAccept, AWarningIsEnough) {
  for (const auto& [warning, reason] : {std::pair{Warning::kThrottled, "throttled"},
                                        {Warning::kOtherGpuProcess, "another process"},
                                        {Warning::kDirtyTree, "uncommitted"}}) {
    auto of_run = acceptable();
    of_run.warnings = {warning};
    EXPECT_THAT(reasons_not_to_accept(of_run), ElementsAre(HasSubstr(reason)));
    auto of_benchmark = acceptable();
    of_benchmark.benchmarks[0].warnings = {warning};
    EXPECT_THAT(reasons_not_to_accept(of_benchmark), ElementsAre(HasSubstr(reason)));
  }
}

TEST(ReasonsNotToAccept, AnyOtherIsEnoughToo) {
  auto run = acceptable();
  run.provenance.dirty = true;
  EXPECT_THAT(reasons_not_to_accept(run), ElementsAre(HasSubstr("uncommitted")));
  run = acceptable();
  run.benchmarks[0].processes.pop_back();
  EXPECT_THAT(reasons_not_to_accept(run), ElementsAre(HasSubstr("fewer than two")));
}

TEST(ReasonsNotToAccept, EveryBenchmarkMustBeMeasured) {
  Baseline partial{{}, test_run({test_series("a", {1, 2}), doing(test_series("b", {}), "0f")})};
  EXPECT_THAT(
      reasons_not_to_accept(partial.run),
      ElementsAre("1 of 2 benchmarks was not measured: identical code; --all measures them too"));
  // Forced: what is there is stored.
  EXPECT_EQ(read_back(partial).run.benchmarks.size(), 1u);
}

// It was measured well in one process and wrong in another: the failure counts.
TEST(ReasonsNotToAccept, WrongResultsInOneProcessAreEnough) {
  auto run = acceptable();
  run.benchmarks[0].failure = "relative error 0.3 exceeds 0.01";
  EXPECT_THAT(reasons_not_to_accept(run),
              ElementsAre("benchmarks failed: " + run.benchmarks[0].name));
}

TEST(ReasonsNotToAccept, NameAFewOfManyFailures) {
  fusegate::baselines::Run run;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    run.benchmarks.push_back({});
    run.benchmarks.back().name = name;
    run.benchmarks.back().failure = std::string("x");
  }
  EXPECT_THAT(reasons_not_to_accept(run), ElementsAre("benchmarks failed: a, b, c and 2 more"));
}

TEST(ReasonsNotToAccept, AnEmptyRunIsNoBaseline) {
  EXPECT_THAT(reasons_not_to_accept({}), ElementsAre(HasSubstr("fewer than two")));
}

TEST(BaselinePath, IsAFolderADevice) {
  const Environment h200{{"device", "NVIDIA H200"}};
  EXPECT_EQ(baseline_path("store", h200, "pr"), "store/nvidia-h200/pr.json");
  EXPECT_EQ(baseline_path("store", {}, ""), "store/unknown-device/unnamed.json");
  EXPECT_EQ(baseline_path("store", h200, "../x"), "store/nvidia-h200/x.json");
}

TEST(AnchorPath, StandsBesideTheBaseline) {
  EXPECT_EQ(anchor_path("store/nvidia-h200/pr.json"), "store/nvidia-h200/pr.anchor.json");
}

TEST(LoadStoredBaseline, ReportsWhoAcceptedIt) {
  const ScratchFolder folder;
  const auto path = folder.write("pr.json", baseline_text(example()));
  const LoadedBaseline loaded = load_stored_baseline(path);
  EXPECT_EQ(loaded.acceptance->who, "ada");
  EXPECT_EQ(loaded.run.benchmarks.size(), 2u);
  EXPECT_FALSE(loaded.anchor.has_value());
}

TEST(LoadStoredBaseline, FindsTheAnchorWhereItIsAnotherRun) {
  const ScratchFolder folder;
  const auto path = folder.write("pr.json", baseline_text(example()));
  folder.write("pr.anchor.json", baseline_text(example()));
  EXPECT_FALSE(load_stored_baseline(path).anchor.has_value());
  Baseline earlier = example();
  earlier.acceptance.reason = "an earlier one";
  const auto anchor = folder.write("pr.anchor.json", baseline_text(earlier));
  const LoadedBaseline loaded = load_stored_baseline(path);
  ASSERT_TRUE(loaded.anchor.has_value());
  EXPECT_EQ(loaded.anchor->acceptance.reason, "an earlier one");
  EXPECT_EQ(loaded.anchor->run.source, anchor.string());
}

TEST(LoadStoredBaseline, RefusesPublishedFiguresAndABrokenAnchor) {
  const ScratchFolder folder;
  Baseline published = example();
  published.published = true;
  const auto path = folder.write("pr.json", baseline_text(published));
  EXPECT_THAT([&] { load_stored_baseline(path); },
              ThrowsMessage<InputError>(HasSubstr("pr.json: published: ")));
  folder.write("pr.json", baseline_text(example()));
  folder.write("pr.anchor.json", "{");
  EXPECT_THAT([&] { load_stored_baseline(path); },
              ThrowsMessage<InputError>(HasSubstr("pr.anchor.json: not valid JSON")));
}

TEST(FindBaseline, TakesTheFirstStoreThatHasOne) {
  const ScratchFolder folder;
  const Environment h200{{"device", "NVIDIA H200"}};
  const std::vector<std::filesystem::path> stores{folder.path() / "local", folder.path() / "git"};
  EXPECT_FALSE(find_baseline(stores, h200, "pr").has_value());
  const auto second = folder.write("git/nvidia-h200/pr.json", "{}");
  EXPECT_EQ(find_baseline(stores, h200, "pr"), second);
  const auto first = folder.write("local/nvidia-h200/pr.json", "{}");
  EXPECT_EQ(find_baseline(stores, h200, "pr"), first);
}

TEST(BaselinesOfSuite, AreThoseOfEveryDeviceStoreByStore) {
  const ScratchFolder folder;
  const std::vector<std::filesystem::path> stores{folder.path() / "z", folder.path() / "none",
                                                  folder.path() / "a"};
  EXPECT_THAT(baselines_of_suite(stores, "pr"), testing::IsEmpty());
  for (const char* name : {"a/nvidia-h200/nightly.json", "a/nvidia-h200/pr.anchor.json"}) {
    folder.write(name, "{}");
  }
  const auto third = folder.write("a/nvidia-h200/pr.json", "{}");
  const auto second = folder.write("z/nvidia-h200/pr.json", "{}");
  const auto first = folder.write("z/nvidia-a100/pr.json", "{}");
  EXPECT_THAT(baselines_of_suite(stores, "pr"), ElementsAre(first, second, third));
}

}  // namespace
}  // namespace fusegate::baselines
