#include "baselines/comparing/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "baselines/record/test_run.h"

namespace fusegate::baselines {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<double> kQuiet{1000, 1000.5, 999.5, 1000.2, 999.8};
const std::vector<double> kNoisy{1000, 1050, 950, 1020, 980};

std::vector<double> slowed(double share) {
  std::vector<double> values = kQuiet;
  for (double& value : values) value *= 1 + share;
  return values;
}

GateResult gate_of(std::vector<BenchmarkSeries> baseline, std::vector<BenchmarkSeries> candidate,
                   const GateOptions& options = {}) {
  return gate(test_run(std::move(baseline)), test_run(std::move(candidate)), options);
}

TEST(Gate, PassesUnchangedCode) {
  const GateResult result = gate_of({test_series("a", kQuiet)}, {test_series("a", kQuiet)});
  EXPECT_EQ(result.exit_code, ExitCode::kNoRegression);
  EXPECT_EQ(result.headline, "No regression in 1 benchmark.");
  EXPECT_EQ(result.verdicts.size(), 1u);
}

TEST(Gate, FailsOnARegressionAndNamesTheWorst) {
  const GateResult result = gate_of(
      {test_series("a", kQuiet), test_series("b", kQuiet), test_series("c", kQuiet)},
      {test_series("a", slowed(0.02)), test_series("b", slowed(0.05)), test_series("c", kQuiet)});
  EXPECT_EQ(result.exit_code, ExitCode::kRegression);
  EXPECT_EQ(result.headline, "2 of 3 benchmarks got slower, the most b by 5.00 %.");
}

BenchmarkSeries launching_otherwise(std::string name) {
  BenchmarkSeries series = test_series(std::move(name), kQuiet);
  series.expectation = {{{"addmm", "1 GEMM", "nvjet, bias_add", false}}};
  return series;
}

TEST(Gate, FailsWhereABenchmarkLaunchesOtherThanDeclared) {
  const GateResult result = gate_of({test_series("a", kQuiet), test_series("b", kQuiet)},
                                    {test_series("a", kQuiet), launching_otherwise("b")});
  EXPECT_EQ(result.exit_code, ExitCode::kRegression);
  EXPECT_EQ(result.headline,
            "1 benchmark launches other than declared, such as b. No regression in 2 benchmarks.");
  EXPECT_EQ(result.verdicts.at(1).kind, VerdictKind::kUnchanged) << "its time is another matter";
  ASSERT_EQ(result.unmet_expectations.size(), 1u);
  const json unmet = gate_json(result, {}).at("unmet_expectations");
  EXPECT_EQ(unmet.at(0).at("benchmark"), "b");
  EXPECT_EQ(unmet.at(0).at("expectation").at("parts").at(0).at("seen"), "nvjet, bias_add");
}

TEST(Gate, ExpectationsThatAreMetOrTheBaselinesDecideNothing) {
  BenchmarkSeries met = test_series("a", kQuiet);
  met.expectation = {{{"addmm", "1 GEMM", "nvjet", true}}};
  EXPECT_EQ(gate_of({launching_otherwise("a")}, {met}).exit_code, ExitCode::kNoRegression);
}

TEST(Gate, ARegressionOutweighsAllThatCouldNotBeJudged) {
  const GateResult result =
      gate_of({test_series("a", kQuiet), test_series("b", kQuiet), test_series("m", kQuiet)},
              {test_series("a", slowed(0.05)), failed_series("b", "x"), test_series("n", kQuiet)});
  EXPECT_EQ(result.exit_code, ExitCode::kRegression);
  EXPECT_THAT(result.headline, HasSubstr("; 1 new, 1 missing, 1 invalid."));
}

TEST(Gate, AnInvalidBenchmarkCannotBeJudged) {
  const GateResult result =
      gate_of({test_series("a", kQuiet), test_series("b", kQuiet)},
              {test_series("a", kQuiet), failed_series("b", "wrong results")});
  EXPECT_EQ(result.exit_code, ExitCode::kCouldNotJudge);
  EXPECT_EQ(result.headline,
            "Could not judge: b failed in the candidate: wrong results; 1 invalid.");
}

TEST(Gate, AnImprovementPasses) {
  const GateResult result = gate_of({test_series("a", kQuiet)}, {test_series("a", slowed(-0.05))});
  EXPECT_EQ(result.exit_code, ExitCode::kNoRegression);
  EXPECT_EQ(result.headline, "No regression in 1 benchmark; 1 improvement.");
}

TEST(Gate, SaysWhereNothingWasDecided) {
  const std::vector<double> noisy{100, 130, 80, 120, 95};
  const GateResult result = gate_of({test_series("a", noisy)}, {test_series("a", noisy)});
  EXPECT_EQ(result.exit_code, ExitCode::kNoRegression);
  EXPECT_EQ(result.headline,
            "No regression found in 1 benchmark, and nothing decided; 1 inconclusive.");
}

TEST(Gate, NewMissingAndUndecidedBenchmarksPassUnlessStrict) {
  const std::vector<std::pair<std::vector<BenchmarkSeries>, std::vector<BenchmarkSeries>>> cases{
      {{test_series("a", kQuiet), test_series("m", kQuiet)}, {test_series("a", kQuiet)}},
      {{test_series("a", kNoisy)}, {test_series("a", kNoisy)}}};
  GateOptions strict;
  strict.strict = true;
  for (const auto& [baseline, candidate] : cases) {
    EXPECT_EQ(gate_of(baseline, candidate).exit_code, ExitCode::kNoRegression);
    const GateResult result = gate_of(baseline, candidate, strict);
    EXPECT_EQ(result.exit_code, ExitCode::kCouldNotJudge);
    EXPECT_THAT(result.headline, HasSubstr("strict"));
  }
  EXPECT_EQ(gate_of({test_series("a", kQuiet)},
                    {test_series("a", kQuiet), test_series("n", kQuiet)}, strict)
                .exit_code,
            ExitCode::kNoRegression);
}

TEST(Gate, NothingInCommonCannotBeJudged) {
  EXPECT_EQ(gate_of({test_series("a", kQuiet)}, {test_series("b", kQuiet)}).exit_code,
            ExitCode::kCouldNotJudge);
  EXPECT_EQ(gate_of({}, {}).exit_code, ExitCode::kCouldNotJudge);
}

TEST(Gate, OneInvocationASideCannotBeJudged) {
  const GateResult result = gate_of({test_series("a", {1000})}, {test_series("a", {2000})});
  EXPECT_EQ(result.exit_code, ExitCode::kCouldNotJudge);
  EXPECT_THAT(result.headline, HasSubstr("no benchmark has two invocations on each side"));
  EXPECT_EQ(gate_of({test_series("a", kQuiet)}, {test_series("a", {2000})}).exit_code,
            ExitCode::kCouldNotJudge);
}

TEST(Gate, OtherEnvironmentsAreNotComparedUnlessAllowed) {
  auto baseline = test_run({test_series("a", kQuiet)});
  auto candidate = baseline;
  baseline.environment = {{"driver", "580"}, {"power_limit_w", 700}};
  candidate.environment = {{"driver", "590"}, {"power_limit_w", 600}};
  GateOptions options;
  const GateResult refused = gate(baseline, candidate, options);
  EXPECT_EQ(refused.exit_code, ExitCode::kCouldNotJudge);
  EXPECT_THAT(refused.verdicts, IsEmpty());
  EXPECT_EQ(refused.environment_differences.size(), 2u);
  EXPECT_EQ(
      refused.headline,
      "Could not judge: the environments differ in driver (baseline 580, candidate 590) and 1 "
      "more.");
  options.allow_environment_differences = true;
  const GateResult allowed = gate(baseline, candidate, options);
  EXPECT_EQ(allowed.exit_code, ExitCode::kNoRegression);
  EXPECT_EQ(allowed.environment_differences.size(), 2u);
}

TEST(Gate, NotesThatOneRunMeasuredOthersBesides) {
  auto whole = test_run({test_series("a", kQuiet), test_series("b", kQuiet)});
  auto part = test_run({test_series("a", kQuiet)});
  EXPECT_THAT(gate(whole, part, {}).notes, testing::IsEmpty()) << "no GPU";
  whole.provenance.device_uuid = part.provenance.device_uuid = "GPU-1";
  EXPECT_THAT(gate(whole, part, {}).notes,
              testing::ElementsAre(HasSubstr("1 benchmark is in one")));
  EXPECT_THAT(gate(part, whole, {}).notes,
              testing::ElementsAre(HasSubstr("1 benchmark is in one")));
  EXPECT_THAT(gate(whole, whole, {}).notes, testing::IsEmpty());
}

TEST(Gate, NotesTheDoubtsOfEitherRun) {
  auto baseline = test_run({test_series("a", kQuiet)});
  auto candidate = baseline;
  baseline.doubts = {Doubt::kUnlockedClocks};
  candidate.doubts = {Doubt::kThrottled};
  baseline.provenance.device_uuid = "GPU-1";
  candidate.provenance.device_uuid = "GPU-2";
  candidate.provenance.suite = "pr";
  const auto notes = gate(baseline, candidate, {}).notes;
  EXPECT_THAT(notes, Contains(HasSubstr("Baseline: Clocks were not locked")));
  EXPECT_THAT(notes, Contains(HasSubstr("Candidate: The driver reported")));
  EXPECT_THAT(notes, Contains(HasSubstr("two cards")));
  EXPECT_THAT(notes, Contains(HasSubstr("of suite \"\", the candidate of \"pr\"")));
  EXPECT_EQ(notes.size(), 4u);
}

TEST(GateJson, HasTheKeysThatOthersRead) {
  GateOptions options;
  options.rule.min_effect = 0.01;
  const GateResult result =
      gate_of({test_series("a", kQuiet), test_series("m", kQuiet)},
              {test_series("a", slowed(0.05)), test_series("n", kQuiet)}, options);
  const json root = json::parse(gate_json(result, options).dump());
  EXPECT_EQ(root["exit_code"], 1);
  EXPECT_EQ(root["headline"], result.headline);
  EXPECT_EQ(root["rule"]["min_effect"], 0.01);
  EXPECT_EQ(root["counts"]["regression"], 1);
  EXPECT_EQ(root["counts"]["new"], 1);
  EXPECT_EQ(root["counts"]["missing"], 1);
  EXPECT_EQ(root["counts"]["unchanged"], 0);
  EXPECT_EQ(root["counts"].size(), 7u);
  ASSERT_EQ(root["verdicts"].size(), 3u);
  const json& slow = root["verdicts"][0];
  EXPECT_EQ(slow["benchmark"], "a");
  EXPECT_EQ(slow["verdict"], "regression");
  EXPECT_NEAR(slow["effect_time"].get<double>(), 0.05, 1e-9);
  EXPECT_NEAR(slow["effect_cycles"].get<double>(), 0.05, 1e-9);
  EXPECT_LT(slow["interval"]["low"].get<double>(), 0.05);
  EXPECT_GT(slow["interval"]["high"].get<double>(), 0.05);
  EXPECT_NEAR(slow["baseline_ns"].get<double>(), 1000, 0.1);
  EXPECT_NEAR(slow["candidate_ns"].get<double>(), 1050, 0.1);
  EXPECT_EQ(slow["candidate_invocations"], 5);
  const json& missing = root["verdicts"][1];
  EXPECT_EQ(missing["verdict"], "missing");
  EXPECT_TRUE(missing["effect_time"].is_null());
  EXPECT_TRUE(missing["interval"]["low"].is_null());
  EXPECT_TRUE(missing["candidate_ns"].is_null());
}

TEST(GateJson, NamesTheFieldsThatDiffer) {
  auto baseline = test_run({test_series("a", kQuiet)});
  auto candidate = baseline;
  candidate.environment = {{"mig", true}};
  const json root = gate_json(gate(baseline, candidate, {}), {});
  EXPECT_EQ(root["exit_code"], 2);
  ASSERT_EQ(root["environment_differences"].size(), 1u);
  const json& difference = root["environment_differences"][0];
  EXPECT_EQ(difference["field"], "mig");
  EXPECT_EQ(difference["baseline"], "(absent)");
  EXPECT_EQ(difference["candidate"], "true");
  EXPECT_TRUE(root["verdicts"].is_array());
}

std::vector<BenchmarkSeries> family(const std::vector<double>& times) {
  std::vector<BenchmarkSeries> family;
  for (const char* name : {"BM_x/1", "BM_x/2", "BM_x/3"})
    family.push_back(test_series(name, times));
  return family;
}

TEST(GateJson, HasTheFamilies) {
  const json root = gate_json(gate_of(family(kQuiet), family(slowed(0.05))), {});
  ASSERT_EQ(root["families"].size(), 1u);
  const json& found = root["families"][0];
  EXPECT_EQ(found["family"], "BM_x");
  EXPECT_EQ(found["rows"], 3);
  EXPECT_NEAR(found["effect"].get<double>(), 0.05, 1e-9);
  EXPECT_NEAR(found["lowest"].get<double>(), 0.05, 1e-9);
  EXPECT_NEAR(found["highest"].get<double>(), 0.05, 1e-9);
  EXPECT_EQ(found["regressions"], 3);
  EXPECT_EQ(found["improvements"], 0);
  EXPECT_TRUE(root["staleness"].is_null());
  EXPECT_TRUE(root["anchor"].is_null());
  EXPECT_EQ(root["creep"], json::array());
}

TEST(GateJson, HasStalenessAndCreepOfAStoredBaseline) {
  LoadedBaseline baseline{test_run(family(slowed(0.017))),
                          Acceptance{"ada", "2026-09-01T00:00:00+00:00", "later"}, Baseline{}};
  baseline.anchor->run = test_run(family(kQuiet));
  baseline.anchor->run.source = "pr.anchor.json";
  baseline.anchor->acceptance.when = "2026-08-01T00:00:00+00:00";
  auto candidate = test_run(family(slowed(0.02)));
  candidate.provenance.date = "2026-11-01T00:00:00+00:00";
  GateOptions options;
  options.max_creep = 0.01;
  const GateResult result = gate(baseline, candidate, options);
  const json root = gate_json(result, options);
  EXPECT_EQ(root["exit_code"], 1);
  EXPECT_EQ(root["counts"]["regression"], 0);
  EXPECT_EQ(root["staleness"]["age_days"], 61);
  EXPECT_EQ(root["staleness"]["max_age_days"], 30);
  EXPECT_EQ(root["staleness"]["too_old"], true);
  EXPECT_EQ(root["staleness"]["not_in_baseline"], json::array());
  EXPECT_EQ(root["anchor"]["source"], "pr.anchor.json");
  EXPECT_EQ(root["anchor"]["when"], "2026-08-01T00:00:00+00:00");
  EXPECT_TRUE(root["anchor"]["not_judged"].is_null());
  ASSERT_EQ(root["creep"].size(), 3u);
  EXPECT_EQ(root["creep"][0]["what"], "BM_x/1");
  EXPECT_NEAR(root["creep"][0]["effect"].get<double>(), 0.02, 1e-9);
  EXPECT_EQ(root["creep"][0]["beyond_max_creep"], true);
  EXPECT_EQ(root["notes"].size(), 2u);
}

}  // namespace
}  // namespace fusegate::baselines
