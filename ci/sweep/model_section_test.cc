#include "ci/sweep/model_section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/record/test_run.h"

namespace fusegate::ci {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string mlp_of(const std::string& implementation, int rows) {
  return "geglu_mlp/" + implementation + "/bf16/batch:" + std::to_string(rows) +
         "/seq:1/dim:96/hidden:320";
}

baselines::Verdict changed(const std::string& benchmark, double effect) {
  baselines::Verdict verdict;
  verdict.benchmark = benchmark;
  verdict.kind =
      effect > 0 ? baselines::VerdictKind::kRegression : baselines::VerdictKind::kImprovement;
  verdict.estimates.effect = effect;
  return verdict;
}

std::vector<baselines::ModelTimes> small_models(bool with_baseline) {
  const baselines::Run before =
      baselines::test_run({baselines::test_series(mlp_of("fused", 4), {1000}),
                           baselines::test_series(mlp_of("fused", 64), {4000}),
                           baselines::test_series(mlp_of("plain", 64), {3900})});
  baselines::Run run = baselines::test_run({baselines::test_series(mlp_of("fused", 4), {1100}),
                                            baselines::test_series(mlp_of("fused", 64), {2000}),
                                            baselines::test_series(mlp_of("plain", 64), {})});
  run.provenance.models = {
      {.name = "small",
       .layers = 10,
       .calls = {{.operation = "geglu_mlp", .axes = {{"dim", 96}, {"hidden", 320}}}}},
      {.name = "absent", .layers = 1, .calls = {{.operation = "nothing"}}}};
  const std::vector<baselines::Verdict> verdicts{changed(mlp_of("fused", 4), 0.1),
                                                 changed(mlp_of("fused", 64), -0.5)};
  return with_baseline ? model_times(run, {&before}, verdicts) : model_times(run, {}, {});
}

RooflineTimes half_of_fused() {
  RooflineTime time;
  time.ns = 550;
  return {{mlp_of("fused", 4), time}};
}

TEST(ModelSection, ShowsWhatChangedByItsCost) {
  const Section section = model_section(small_models(true), half_of_fused());
  const std::string text = terminal_text(std::vector<Section>{section});
  EXPECT_THAT(text, HasSubstr("model        rows  cost a token    effect  benchmark"));
  EXPECT_LT(text.find("-312.5 ns  -50.00 %"), text.find("+250.0 ns  +10.00 %")) << text;
  EXPECT_THAT(text, HasSubstr("The run has no whole layer of absent."));
}

TEST(ModelSection, ShowsTheFastestOfBothSides) {
  const Section section = model_section(small_models(true), half_of_fused());
  const std::string text = terminal_text(section.parts);
  EXPECT_THAT(text, HasSubstr("small, bf16     4  fused    1.100 us  2.750 us           2.500 us  "
                              "+250.0 ns       50.0 %\n"));
  EXPECT_THAT(text, HasSubstr("609.4 ns (plain)")) << "which was the baseline's fastest";
  const Section& all = section.parts.at(1);
  ASSERT_EQ(all.table.rows().size(), 3u);
  EXPECT_EQ(all.table.rows()[2][3].text, "3.900 us (baseline)") << "identical, so not measured";
}

TEST(ModelSection, NeedsNoBaseline) {
  const Section section = model_section(small_models(false), {});
  EXPECT_TRUE(section.table.empty());
  const std::string text = terminal_text(section.parts);
  EXPECT_THAT(text, AllOf(HasSubstr("fastest   a layer   a token\n"),
                          HasSubstr("fused    1.100 us  2.750 us\n"), Not(HasSubstr("plain"))));
  EXPECT_TRUE(model_section({}, {}).empty());
}

TEST(ModelSection, IsJson) {
  const nlohmann::json models = models_json(small_models(true), half_of_fused());
  EXPECT_EQ(models[0]["name"], "small");
  EXPECT_EQ(models[0]["layers"], 10);
  const nlohmann::json& few = models[0]["times"][0];
  EXPECT_EQ(few["rows"], 4);
  EXPECT_EQ(few["fastest"]["implementation"], "fused");
  EXPECT_FLOAT_EQ(few["fastest"]["layer_ns"].get<float>(), 1100);
  EXPECT_FLOAT_EQ(few["fastest"]["token_ns"].get<float>(), 2750);
  EXPECT_FLOAT_EQ(few["fastest"]["roofline_share"].get<float>(), 0.5);
  EXPECT_EQ(models[0]["times"][1]["baseline_fastest"]["implementation"], "plain");
  EXPECT_EQ(models[0]["times"][1]["fastest"]["roofline_share"], nullptr);
  EXPECT_EQ(models[0]["movers"][0]["verdict"], "improvement");
  EXPECT_FLOAT_EQ(models[0]["movers"][0]["token_ns"].get<float>(), -312.5);
  EXPECT_THAT(models[1]["times"], IsEmpty());
  EXPECT_EQ(models_json(small_models(false), {})[0]["times"][0]["baseline_fastest"], nullptr);
}

}  // namespace
}  // namespace fusegate::ci
