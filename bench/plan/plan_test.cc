#include "bench/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"
#include "bench/plan/rank_count.h"

namespace fusegate::bench {
namespace {

using testing::HasSubstr;

Sweep small_sweep() {
  return {.operations = {},
          .implementations = {},
          .axes = {{"batch", {1, 2}}, {"seq", {8}}, {"dim", {16, 32}}, {"hidden", {24}}},
          .dtype = {kernels::Dtype::kFp32}};
}

std::vector<std::string> names_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const PlannedBenchmark& benchmark : plan.benchmarks) names.push_back(benchmark.name());
  return names;
}

Plan planned(const std::vector<Sweep>& sweeps) {
  return make_plan(sweeps, *kernels::open_device("cpu"), "half.json");
}

TEST(Plan, TakesEveryCombinationOnce) {
  Sweep sweep = small_sweep();
  sweep.operations = {"linear"};
  const Plan plan = planned({sweep, sweep});
  EXPECT_EQ(plan.benchmarks.size(), 2u * 2 * 2) << "batch x dim x {addmm, matmul_add}";
  EXPECT_THAT(names_of(plan),
              testing::Contains("linear/addmm/fp32/batch:2/seq:8/dim:32/hidden:24"));
}

TEST(Plan, DoesNotRepeatAnOperationAlongAnAxisThatItLacks) {
  Sweep sweep = small_sweep();
  sweep.operations = {"geglu"};
  sweep.implementations = {"fused"};
  EXPECT_THAT(names_of(planned({sweep})),
              testing::ElementsAre("geglu/fused/fp32/batch:1/seq:8/dim:16/hidden:24",
                                   "geglu/fused/fp32/batch:2/seq:8/dim:16/hidden:24"));
}

TEST(Plan, TakesControlsOnlyWhereTheyAreNamed) {
  EXPECT_THAT(names_of(planned({small_sweep()})),
              testing::Each(testing::Not(testing::StartsWith("control_"))));
  Sweep controls = small_sweep();
  controls.operations = {"control_copy", "control_gemm"};
  controls.axes["batch"] = {2};
  EXPECT_THAT(names_of(planned({controls})),
              testing::ElementsAre("control_copy/memcpy/fp32/batch:2/seq:8/dim:16/hidden:24",
                                   "control_gemm/onednn/fp32/batch:2/seq:8/dim:16/hidden:24",
                                   "control_gemm/onednn/fp32/batch:2/seq:8/dim:32/hidden:24"));
}

TEST(Plan, NamesWhatNoSweepTakes) {
  Sweep linear = small_sweep();
  linear.operations = {"linear"};
  linear.implementations = {"addmm"};
  const auto unswept = unswept_implementations({linear}, "cpu");
  EXPECT_THAT(unswept, testing::IsSupersetOf({"linear/matmul_add", "geglu/fused"}));
  EXPECT_THAT(unswept, testing::Not(testing::Contains("linear/addmm")));
  EXPECT_THAT(unswept, testing::Each(testing::Not(testing::StartsWith("control_"))));
  Sweep with_ranks = small_sweep();
  with_ranks.axes["ranks"] = {1};
  EXPECT_THAT(unswept_implementations({linear, with_ranks}, "cpu"), testing::IsEmpty());
  EXPECT_THAT(unswept_implementations({}, "no such device"), testing::IsEmpty());
}

TEST(Plan, KnowsWhatOperationsOverRanksAreReadBeside) {
  Sweep sweep = small_sweep();
  sweep.operations = {"geglu_mlp_tp", "geglu_mlp"};
  sweep.axes["ranks"] = {1};
  const auto across = across_ranks(planned({sweep}));
  ASSERT_EQ(across.size(), 1);
  EXPECT_EQ(across.at("geglu_mlp_tp").work, "geglu_mlp");
  EXPECT_THAT(across.at("geglu_mlp_tp").divided, testing::ElementsAre("hidden"));
  EXPECT_THAT(across.at("geglu_mlp_tp").exchanges, testing::ElementsAre("all_reduce"));
}

TEST(RankCount, IsWhatTheOptionsSayElseTheMostThatTheSuiteNames) {
  Suite suite;
  suite.sweeps = {small_sweep()};
  Options options;
  options.device = "cpu";
  EXPECT_EQ(rank_count(options, suite), 1);
  suite.sweeps[0].axes["ranks"] = {2, 4, 1};
  EXPECT_EQ(rank_count(options, suite), 4);
  options.ranks = 2;
  EXPECT_EQ(rank_count(options, suite), 2);
}

TEST(Plan, ComparesWithWhatTheSuiteNamesElseTheOperationElseTheFirst) {
  Sweep sweep = small_sweep();
  sweep.operations = {"linear", "control_copy"};
  Suite suite;
  const Plan plan = planned({sweep});
  EXPECT_THAT(compared_with(suite, plan).at("linear"), testing::ElementsAre("matmul_add"));
  EXPECT_THAT(compared_with(suite, plan).at("control_copy"), testing::ElementsAre("memcpy"));
  suite.compared_with["linear"] = "addmm";
  EXPECT_THAT(compared_with(suite, plan).at("linear"), testing::ElementsAre("addmm"));
}

TEST(Plan, ControlsAreRegisteredOrNamedByTheSuite) {
  Sweep sweep = small_sweep();
  sweep.operations = {"control_copy", "linear"};
  sweep.implementations = {"memcpy", "addmm", "matmul_add"};
  sweep.axes["batch"] = {2};
  sweep.axes["dim"] = {16};
  Plan plan = planned({sweep});
  const std::string copy = "control_copy/memcpy/fp32/batch:2/seq:8/dim:16/hidden:24";
  EXPECT_THAT(controls_of(plan), testing::ElementsAre(copy));
  name_controls({"^linear/add", "^absent"}, plan);
  EXPECT_THAT(controls_of(plan),
              testing::ElementsAre(copy, "linear/addmm/fp32/batch:2/seq:8/dim:16/hidden:24"));
}

TEST(Plan, KeepsImplementationsOfOneProblemTogether) {
  const Plan plan = planned({small_sweep()});
  for (std::size_t i = 2; i < plan.benchmarks.size(); ++i) {
    const auto same = [&](std::size_t a, std::size_t b) {
      return plan.benchmarks[a].problem == plan.benchmarks[b].problem &&
             plan.benchmarks[a].implementation->operation ==
                 plan.benchmarks[b].implementation->operation;
    };
    EXPECT_FALSE(same(i, i - 2) && !same(i, i - 1)) << plan.benchmarks[i].name();
  }
}

TEST(Plan, SaysWhatItLeavesOut) {
  Sweep sweep = small_sweep();
  sweep.operations = {"linear", "geglu", "geglu_mlp"};
  sweep.dtype = {kernels::Dtype::kFp32, kernels::Dtype::kFp16};
  const Plan plan = planned({sweep});
  EXPECT_FALSE(plan.benchmarks.empty());
  EXPECT_THAT(plan.refusals, testing::Each(HasSubstr("fp16")));
  EXPECT_FALSE(plan.refusals.empty());
}

TEST(Plan, KnowsWhatIsSweptWhateverTheDeviceCanCompute) {
  Sweep sweep = small_sweep();
  sweep.operations = {"linear", "geglu"};
  sweep.implementations = {"fused"};
  sweep.dtype = {kernels::Dtype::kFp16};
  const std::vector<SweptOperation> swept = swept_operations({sweep});
  ASSERT_EQ(swept.size(), 2u);
  EXPECT_EQ(swept[0].operation->name, "geglu");
  EXPECT_EQ(swept[0].problems.size(), 2u) << "batch: it has no dim";
  EXPECT_EQ(swept[1].operation->name, "linear");
  EXPECT_EQ(swept[1].problems.size(), 2u * 2);
  EXPECT_THAT(swept[1].implementations, testing::ElementsAre("fused"));
  const Plan plan = plan_of({sweep}, *kernels::open_device("cpu"));
  EXPECT_TRUE(plan.benchmarks.empty());
  EXPECT_THAT(plan.refusals, testing::ElementsAre(HasSubstr(" on 2 problems: ")));
}

TEST(Plan, RefusesToRunNothing) {
  Sweep sweep = small_sweep();
  sweep.dtype = {kernels::Dtype::kFp16};
  EXPECT_THAT([&] { planned({sweep}); },
              testing::ThrowsMessage<baselines::InputError>(
                  testing::AllOf(HasSubstr("half.json"), HasSubstr("fp16"))));
}

}  // namespace
}  // namespace fusegate::bench
