#include "baselines/gating/model_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "baselines/record/test_run.h"

namespace fusegate::baselines {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::string mlp(const std::string& implementation, int rows, const std::string& dtype = "bf16") {
  return "geglu_mlp/" + implementation + "/" + dtype + "/batch:" + std::to_string(rows) +
         "/seq:1/dim:96/hidden:320";
}

std::string norm(const std::string& implementation, int rows) {
  return "norm/" + implementation + "/bf16/batch:" + std::to_string(rows) + "/seq:1/dim:96";
}

Model small_model() {
  return {.name = "small",
          .layers = 10,
          .calls = {{.operation = "geglu_mlp", .axes = {{"dim", 96}, {"hidden", 320}}}}};
}

Model model_of_two_calls() {
  Model model = small_model();
  model.calls.push_back({.operation = "norm", .axes = {{"dim", 96}}, .per_layer = 2});
  return model;
}

Run run_of_model(Model model, std::vector<BenchmarkSeries> benchmarks) {
  Run run = test_run(std::move(benchmarks));
  run.provenance.models = {std::move(model)};
  return run;
}

Verdict changed(const std::string& benchmark, double effect) {
  Verdict verdict;
  verdict.benchmark = benchmark;
  verdict.kind = effect > 0 ? VerdictKind::kRegression : VerdictKind::kImprovement;
  verdict.estimates.effect = effect;
  return verdict;
}

TEST(ModelTimes, AreOfALayerAndAToken) {
  const auto run = run_of_model(
      small_model(), {test_series(mlp("fused", 4), {1000}), test_series(mlp("plain", 4), {3000}),
                      test_series(mlp("fused", 64), {9000}), test_series("other", {1})});
  const ModelTimes times = model_times(run, {}, {}).at(0);
  ASSERT_THAT(times.rows, SizeIs(2));
  const ModelRow& few = times.rows[0];
  EXPECT_EQ(few.rows, 4);
  EXPECT_EQ(few.dtype, "bf16");
  EXPECT_EQ(few.fastest.implementation, "fused");
  EXPECT_FLOAT_EQ(few.fastest.candidate_ns, 1000);
  EXPECT_FLOAT_EQ(times.token_ns(few.rows, few.fastest.candidate_ns), 2500);
  EXPECT_TRUE(std::isnan(few.fastest.baseline_ns));
  ASSERT_THAT(few.implementations, SizeIs(2));
  EXPECT_EQ(few.implementations[1].implementation, "plain");
  EXPECT_THAT(times.movers, IsEmpty());
  EXPECT_THAT(model_times(run_of_model(small_model(), {}), {}, {}).at(0).rows, IsEmpty());
}

TEST(ModelTimes, SumTheCallsOfALayer) {
  const auto run =
      run_of_model(model_of_two_calls(),
                   {test_series(mlp("fused", 4), {1000}), test_series(mlp("plain", 4), {3000}),
                    test_series(norm("plain", 4), {100}), test_series(mlp("fused", 8), {1000})});
  const ModelTimes times = model_times(run, {}, {}).at(0);
  ASSERT_THAT(times.rows, SizeIs(1)) << "of 8 rows a call is missing";
  EXPECT_EQ(times.rows[0].fastest.implementation, "fused + plain");
  EXPECT_FLOAT_EQ(times.rows[0].fastest.candidate_ns, 1200);
  ASSERT_THAT(times.rows[0].implementations, SizeIs(1));
  EXPECT_FLOAT_EQ(times.rows[0].implementations[0].candidate_ns, 3200);
}

TEST(ModelTimes, TakeIdenticalCodeFromTheFirstRunThatMeasuredIt) {
  const auto stored =
      test_run({test_series(mlp("fused", 4), {500}), test_series(mlp("plain", 4), {700})});
  const auto replayed = test_run({test_series(mlp("fused", 4), {1000})});
  const auto run = run_of_model(
      small_model(), {test_series(mlp("fused", 4), {1100}), test_series(mlp("plain", 4), {})});
  const ModelRow row = model_times(run, {&replayed, &stored}, {}).at(0).rows.at(0);
  EXPECT_EQ(row.fastest.implementation, "plain");
  EXPECT_FLOAT_EQ(row.fastest.candidate_ns, 700);
  EXPECT_FALSE(row.fastest.is_measured);
  const ModelTime& fused = row.implementations.at(1);
  EXPECT_TRUE(fused.is_measured);
  EXPECT_FLOAT_EQ(fused.baseline_ns, 1000);
  EXPECT_FLOAT_EQ(fused.candidate_ns, 1100);
}

TEST(ModelTimes, LeaveOutWhatFailed) {
  const auto before = test_run({test_series(mlp("fused", 4), {500})});
  const auto run = run_of_model(small_model(), {failed_series(mlp("fused", 4), "wrong")});
  EXPECT_THAT(model_times(run, {&before}, {}).at(0).rows, IsEmpty());
}

TEST(ModelTimes, RankWhatChangedByItsCost) {
  const std::vector<BenchmarkSeries> series{test_series(mlp("fused", 4), {1000}),
                                            test_series(mlp("plain", 4), {9000}),
                                            test_series(mlp("fused", 64), {4000})};
  const auto before = test_run(series);
  const auto run = run_of_model(small_model(), series);
  const std::vector<Verdict> verdicts{changed(mlp("fused", 4), 0.02),
                                      changed(mlp("fused", 64), -0.4),
                                      changed(mlp("plain", 4), 0.5), changed("other", 0.5)};
  const ModelTimes times = model_times(run, {&before}, verdicts).at(0);
  ASSERT_THAT(times.movers, SizeIs(3));
  EXPECT_EQ(times.movers[0].benchmark, mlp("fused", 64));
  EXPECT_FLOAT_EQ(times.movers[0].token_ns, -250);
  EXPECT_EQ(times.movers[1].benchmark, mlp("fused", 4));
  EXPECT_FLOAT_EQ(times.movers[1].token_ns, 50);
  EXPECT_TRUE(times.movers[1].is_fastest);
  EXPECT_EQ(times.movers[2].benchmark, mlp("plain", 4));
  EXPECT_FALSE(times.movers[2].is_fastest) << "the model need not take it";
  EXPECT_FLOAT_EQ(times.rows[0].fastest.changed_ns, 20);
}

TEST(ModelTimes, NameTheStageThatTakesLongest) {
  BenchmarkSeries series = test_series(mlp("fused", 4), {1000});
  series.profile.emplace();
  series.profile->kernels = {{"a", "gate_up", 600}, {"b", "", 400}};
  const auto run = run_of_model(small_model(), {series});
  const ModelTime time = model_times(run, {}, {}).at(0).rows.at(0).fastest;
  EXPECT_EQ(time.longest_stage, "gate_up");
  EXPECT_FLOAT_EQ(time.longest_share, 0.6);
  EXPECT_THAT(time.benchmarks, ElementsAre(mlp("fused", 4)));
}

}  // namespace
}  // namespace fusegate::baselines
