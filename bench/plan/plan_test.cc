#include "bench/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"

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

TEST(Plan, TakesEveryCombinationOnce) {
  const auto device = kernels::open_device("cpu");
  Sweep sweep = small_sweep();
  sweep.operations = {"linear"};
  const Plan plan = make_plan({sweep, sweep}, *device, "test");
  EXPECT_EQ(plan.benchmarks.size(), 2u * 2 * 2) << "batch x dim x {addmm, matmul_add}";
  EXPECT_THAT(names_of(plan),
              testing::Contains("linear/addmm/fp32/batch:2/seq:8/dim:32/hidden:24"));
}

TEST(Plan, DoesNotRepeatAnOperationAlongAnAxisThatItLacks) {
  const auto device = kernels::open_device("cpu");
  Sweep sweep = small_sweep();
  sweep.operations = {"geglu"};
  sweep.implementations = {"fused"};
  EXPECT_THAT(names_of(make_plan({sweep}, *device, "test")),
              testing::ElementsAre("geglu/fused/fp32/batch:1/seq:8/dim:16/hidden:24",
                                   "geglu/fused/fp32/batch:2/seq:8/dim:16/hidden:24"));
}

TEST(Plan, TakesControlsOnlyWhereTheyAreNamed) {
  const auto device = kernels::open_device("cpu");
  EXPECT_THAT(names_of(make_plan({small_sweep()}, *device, "test")),
              testing::Each(testing::Not(testing::StartsWith("control_"))));
  Sweep controls = small_sweep();
  controls.operations = {"control_copy", "control_gemm"};
  controls.axes["batch"] = {2};
  EXPECT_THAT(names_of(make_plan({controls}, *device, "test")),
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
  EXPECT_THAT(unswept_implementations({linear, small_sweep()}, "cpu"), testing::IsEmpty());
  EXPECT_THAT(unswept_implementations({}, "no such device"), testing::IsEmpty());
}

TEST(Plan, ComparesWithWhatTheSuiteNamesElseTheOperationElseTheFirst) {
  const auto device = kernels::open_device("cpu");
  Sweep sweep = small_sweep();
  sweep.operations = {"linear", "control_copy"};
  Suite suite;
  const auto of_linear = [&] {
    return compared_with(suite, make_plan({sweep}, *device, "test")).at("linear");
  };
  EXPECT_THAT(of_linear(), testing::ElementsAre("matmul_add"));
  EXPECT_THAT(compared_with(suite, make_plan({sweep}, *device, "test")).at("control_copy"),
              testing::ElementsAre("memcpy"));
  suite.compared_with["linear"] = "addmm";
  EXPECT_THAT(of_linear(), testing::ElementsAre("addmm"));
}

TEST(Plan, ControlsAreRegisteredOrNamedByTheSuite) {
  const auto device = kernels::open_device("cpu");
  Sweep sweep = small_sweep();
  sweep.operations = {"control_copy", "linear"};
  sweep.implementations = {"memcpy", "addmm", "matmul_add"};
  sweep.axes["batch"] = {2};
  sweep.axes["dim"] = {16};
  Plan plan = make_plan({sweep}, *device, "test");
  const std::string copy = "control_copy/memcpy/fp32/batch:2/seq:8/dim:16/hidden:24";
  EXPECT_THAT(controls_of(plan), testing::ElementsAre(copy));
  name_controls({"^linear/add", "^absent"}, plan);
  EXPECT_THAT(controls_of(plan),
              testing::ElementsAre(copy, "linear/addmm/fp32/batch:2/seq:8/dim:16/hidden:24"));
}

TEST(Plan, KeepsImplementationsOfOneProblemTogether) {
  const auto device = kernels::open_device("cpu");
  const Plan plan = make_plan({small_sweep()}, *device, "test");
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
  const auto device = kernels::open_device("cpu");
  Sweep sweep = small_sweep();
  sweep.dtype = {kernels::Dtype::kFp32, kernels::Dtype::kFp16};
  const Plan plan = make_plan({sweep}, *device, "test");
  EXPECT_FALSE(plan.benchmarks.empty());
  EXPECT_THAT(plan.refusals, testing::Each(HasSubstr("fp16")));
  EXPECT_FALSE(plan.refusals.empty());
}

TEST(Plan, KnowsWhatIsSweptWhateverTheDeviceCanCompute) {
  const auto device = kernels::open_device("cpu");
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
  const Plan plan = plan_of({sweep}, *device);
  EXPECT_TRUE(plan.benchmarks.empty());
  EXPECT_THAT(plan.refusals, testing::SizeIs(2));
}

TEST(Plan, RefusesToRunNothing) {
  const auto device = kernels::open_device("cpu");
  Sweep sweep = small_sweep();
  sweep.dtype = {kernels::Dtype::kFp16};
  try {
    make_plan({sweep}, *device, "half.json");
    FAIL();
  } catch (const baselines::InputError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("half.json"), HasSubstr("fp16")));
  }
}

}  // namespace
}  // namespace fusegate::bench
