#include "ci/shards/planning.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "baselines/io/error.h"
#include "baselines/record/test_run.h"
#include "tests/fakes/fake_program.h"

namespace fusegate::ci {
namespace {

using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Costs over a factor of 30.
PlanRequest thousand(int shards) {
  PlanRequest request{.suite = "pr", .shards = shards, .controls = {"row/7", "row/3"}};
  for (int i = 0; i < 1000; ++i) request.costs[fmt::format("row/{}", i)] = 1 + i * 7919 % 30;
  return request;
}

std::map<std::string, std::size_t> shards_by_name(const ShardPlan& plan) {
  std::map<std::string, std::size_t> shards;
  for (std::size_t i = 0; i < plan.shards.size(); ++i) {
    for (const std::string& name : plan.shards[i].benchmarks) shards[name] = i;
  }
  return shards;
}

std::size_t moved(const ShardPlan& before, const ShardPlan& after) {
  const auto now = shards_by_name(after);
  return static_cast<std::size_t>(
      std::ranges::count_if(shards_by_name(before), [&](const auto& entry) {
        const auto found = now.find(entry.first);
        return found != now.end() && found->second != entry.second;
      }));
}

std::string problem_of(const PlanRequest& request) try {
  make_plan(request);
  return "none";
} catch (const baselines::InputError& error) {
  return error.what();
}

TEST(PlanningTest, PlansEachBenchmarkOnceAndControlsApart) {
  const ShardPlan plan = make_plan(thousand(8));
  EXPECT_THAT(plan.controls, ElementsAre("row/3", "row/7"));
  EXPECT_EQ(shards_by_name(plan).size(), 998u);
  std::size_t planned = 0;
  for (const PlannedShard& shard : plan.shards) {
    planned += shard.benchmarks.size();
    EXPECT_THAT(shard.benchmarks, Not(Contains("row/7")));
  }
  EXPECT_EQ(planned, 998u);
}

TEST(PlanningTest, BalancesByCost) {
  for (const int shards : {2, 8, 64}) {
    const ShardPlan plan = make_plan(thousand(shards));
    double total = 0, longest = 0;
    for (const PlannedShard& shard : plan.shards) {
      total += shard.expected_s;
      longest = std::max(longest, shard.expected_s);
    }
    EXPECT_LE(longest, 1.021 * total / shards);
  }
}

TEST(PlanningTest, MovesFewWhereTheSuiteOrTimesChange) {
  const ShardPlan before = make_plan(thousand(8));
  EXPECT_EQ(plan_text(make_plan(thousand(8))), plan_text(before));
  PlanRequest more = thousand(8);
  for (int i = 0; i < 10; ++i) more.costs[fmt::format("new/{}", i)] = 10;
  EXPECT_LT(moved(before, make_plan(more)), 60u);
  PlanRequest slower = thousand(8);
  for (auto& [name, cost] : slower.costs) cost *= name.ends_with("5") ? 1.01 : 1;
  EXPECT_LT(moved(before, make_plan(slower)), 60u);
}

TEST(PlanningTest, RefusesShardsWithoutBenchmarksAndWithTooMany) {
  PlanRequest request{.suite = "pr", .shards = 2, .costs = {{"a", 1}, {"c", 1}}, .controls = {"c"}};
  EXPECT_THAT(problem_of(request), HasSubstr("--shards: 2 for 1 benchmark besides controls"));
  request.controls.clear();
  EXPECT_EQ(problem_of(request), "none");
  request.costs[std::string(140'000, 'a')] = 1;
  EXPECT_THAT(problem_of(request), HasSubstr("make more shards"));
  request = {.suite = "pr",
             .costs = {{std::string(70'000, 'a'), 1}, {std::string(70'000, 'b'), 1}},
             .may_make_more = true};
  EXPECT_EQ(make_plan(request).shards.size(), 2u);
}

TEST(PlanningTest, CardsTakeSeveralShardsWhereStartingIsCheap) {
  const auto shards = [](std::size_t cards, double start_s, double each_s, bool in_seconds = true) {
    PlanRequest request{.costs_are_seconds = in_seconds, .controls = {"c"}};
    for (int i = 0; i < 1000; ++i) request.costs[fmt::format("row/{}", i)] = each_s;
    request.costs["c"] = each_s;
    set_shards(cards, start_s, request);
    return request.shards;
  };
  EXPECT_EQ(shards(2, 2, 0.03), 2) << "15 s a card: another start would take a sixth of it";
  EXPECT_EQ(shards(2, 2, 0.2), 2 * 2);
  EXPECT_EQ(shards(8, 0.01, 1), 8 * 6);
  EXPECT_EQ(shards(2, 0, 1), 2 * 8);
  EXPECT_EQ(shards(2, 2, 1, false), 2 * 4) << "nothing is known of times";
  EXPECT_EQ(shards(1500, 0, 1), 1000) << "a benchmark each at most";
}

baselines::Run known() {
  baselines::Run run = baselines::test_run(
      {baselines::test_series("fast", {1000, 1001}), baselines::test_series("slow", {5e7, 5e7}),
       baselines::as_control(baselines::test_series("copy", {2000, 2000}))});
  std::ranges::sort(run.benchmarks, {}, &baselines::BenchmarkSeries::name);
  run.provenance.protocol = {{"samples", 10}, {"batch_ns", 1e6}, {"idle_ns", 1e6}};
  return run;
}

TEST(PlanningTest, CostsFollowTimesAndTheProtocol) {
  PlanRequest request;
  ProgramSuite suite = suite_of_run(known());
  suite.benchmarks.emplace_back("new");
  set_costs(suite, known(), request);
  EXPECT_TRUE(request.costs_are_seconds);
  EXPECT_THAT(request.controls, ElementsAre("copy"));
  EXPECT_GT(request.costs["slow"], 20 * request.costs["fast"]);
  EXPECT_EQ(request.costs["new"], request.costs["fast"]) << "a batch takes a millisecond";
}

TEST(PlanningTest, CostsAreWhatProcessesTook) {
  baselines::Run run = known();
  run.benchmarks[1].counters["elapsed_s"] = 3;  // fast, which a long search precedes
  run.benchmarks[2].counters["elapsed_s"] = 0.53;
  ProgramSuite suite = suite_of_run(run);
  PlanRequest request;
  set_costs(suite, run, request);
  EXPECT_THAT(request.costs["fast"], DoubleNear(3, 1e-9));
  EXPECT_THAT(request.costs["slow"], DoubleNear(0.53, 1e-9));
  const double copy_s = request.costs["copy"];
  EXPECT_GT(copy_s, 0.03) << "its factor is usual";
  suite.protocol = run.provenance.protocol;
  suite.protocol["samples"] = 20;
  set_costs(suite, run, request);
  EXPECT_THAT(request.costs["fast"], DoubleNear(6, 1e-9)) << "twice the samples";
  EXPECT_THAT(request.costs["copy"], DoubleNear(2 * copy_s, 1e-9));
}

TEST(PlanningTest, WithoutAProtocolTheNumberCounts) {
  PlanRequest request;
  set_costs({.benchmarks = {"a", "b"}}, std::nullopt, request);
  EXPECT_FALSE(request.costs_are_seconds);
  EXPECT_EQ(request.costs["a"], 1);
  EXPECT_EQ(make_plan({.suite = "s", .costs = request.costs, .costs_are_seconds = false})
                .shards[0]
                .expected_s,
            0);
}

TEST(PlanningTest, AsksAProgramForNamesControlsAndTheProtocol) {
  const baselines::ScratchFolder folder;
  const std::string program = tests::write_script(folder, "bench", R"sh(
case " $* " in
  *" --help "*) echo "--suite" ;;
  *" --benchmark_list_tests=true "*) echo a/manual_time; echo c/manual_time ;;
  *" --plan "*) echo '{"fusegate": {"controls": ["c"], "protocol": {"samples": 4}}}' ;;
esac
)sh");
  const ProgramSuite suite = suite_of_program(program, "pr", {});
  EXPECT_THAT(suite.benchmarks, ElementsAre("a", "c"));
  EXPECT_THAT(suite.controls, ElementsAre("c"));
  EXPECT_EQ(suite.protocol["samples"], 4);
  const std::string newer = tests::write_script(folder, "newer", R"sh(
case " $* " in
  *" --help "*) echo "--suite" ;;
  *" --plan "*) echo "{\"fusegate\": {}, \"benchmarks\": [\"$CUDA_VISIBLE_DEVICES\"]}" ;;
esac
)sh");
  EXPECT_THAT(suite_of_program(newer, "pr", {}, {{"CUDA_VISIBLE_DEVICES", "b"}}).benchmarks,
              ElementsAre("b"));
  const std::string broken = tests::write_script(folder, "broken", R"sh(
case $1 in --help) echo "--suite" ;; *) echo "no GPU" >&2; exit 2 ;; esac
)sh");
  try {
    suite_of_program(broken, "pr", {});
    ADD_FAILURE();
  } catch (const baselines::InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no GPU"));
    EXPECT_THAT(error.what(), HasSubstr("--from"));
  }
}

}  // namespace
}  // namespace fusegate::ci
