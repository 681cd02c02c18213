#include "ci/gate/gate_json.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "baselines/gating/test_kernel_diff.h"

namespace fusegate::ci {
namespace {

using baselines::as_control;
using baselines::BenchmarkSeries;
using baselines::GateOptions;
using baselines::kQuiet;
using baselines::kSmall;
using baselines::LoadedBaseline;
using baselines::Run;
using baselines::run_of;
using baselines::Side;
using baselines::side_by_side;
using baselines::slowed;
using baselines::test_run;
using baselines::test_series;
using nlohmann::json;

json json_of(const LoadedBaseline& baseline, const Run& candidate,
             const GateOptions& options = {}) {
  const json written = gate_json({.candidate = candidate,
                                  .baseline = baseline,
                                  .options = options,
                                  .result = gate(baseline, candidate, options)});
  return json::parse(written.dump());
}

// Of `found` what `expected` names; its figures to six decimals.
json part_of(const json& found, const json& expected) {
  if (found.is_number_float()) return std::round(found.get<double>() * 1e6) / 1e6;
  if (expected.is_array() && found.is_array() && found.size() == expected.size()) {
    json part = json::array();
    for (std::size_t i = 0; i < found.size(); ++i) {
      part.push_back(part_of(found[i], expected[i]));
    }
    return part;
  }
  if (!expected.is_object()) return found;
  json part = json::object();
  for (const auto& [key, value] : expected.items()) part[key] = part_of(found.at(key), value);
  return part;
}

MATCHER_P(Has, text, "") {
  const json expected = json::parse(text);
  const json part = part_of(arg, expected);
  *result_listener << "in " << part;
  return part == expected;
}

TEST(GateJson, HasModesAndOutliers) {
  std::vector<BenchmarkSeries> suite;
  for (int row = 0; row < 10; ++row) {
    suite.push_back(test_series(fmt::format("row{}", row), {1000, 1000, 1000, 1000, 1100}));
  }
  auto candidate = test_run(std::move(suite));
  number_processes(candidate);
  candidate.benchmarks[0].processes[1].time_ns = 1030;
  candidate.benchmarks[0].processes[2].time_ns = 1030;
  const json root = json_of({test_run({test_series("row0", {1000, 1000, 1000, 1000})})}, candidate);
  EXPECT_THAT(root["outlier_processes"],
              Has(R"([{"side": "candidate", "process": "5", "relative_deviation": 0.1,
                       "benchmarks": 10, "set_aside": true}])"));
  EXPECT_THAT(root["verdicts"][0]["modes"],
              Has(R"([{"time_ns": 1000, "baseline": 4, "candidate": 2},
                      {"time_ns": 1030, "baseline": 0, "candidate": 2}])"));
  EXPECT_TRUE(root["verdicts"][1]["modes"].is_null());
}

TEST(GateJson, HasTheKeysThatOthersRead) {
  GateOptions options;
  options.rule.min_effect = 0.01;
  const json root =
      json_of({side_by_side({test_series("a", kQuiet), test_series("m", kQuiet)})},
              side_by_side({test_series("a", slowed(0.05)), test_series("n", kQuiet)}), options);
  EXPECT_THAT(root, Has(R"({
      "fusegate_verdicts": 1, "exit_code": 1,
      "headline": "1 of 3 benchmarks got slower, the most a by 5.00 %; 1 new, 1 missing.",
      "causes": ["slower"], "next": {"action": "change_code", "benchmarks": ["a"]},
      "rule": {"min_effect": 0.01, "allow": 0.05}})"));
  EXPECT_EQ(root["counts"],
            json::parse(R"({"regression": 1, "improvement": 0, "unchanged": 0, "identical": 0,
                            "inconclusive": 0, "new": 1, "missing": 1, "invalid": 0})"));
  ASSERT_EQ(root["verdicts"].size(), 3u);
  const json& slow = root["verdicts"][0];
  EXPECT_THAT(slow, Has(R"({"benchmark": "a", "verdict": "regression", "decided_by": "time",
      "effect_time": 0.05, "effect_cycles": 0.05, "candidate_processes": 5,
      "baseline_energy_j": null, "machine_effect": null, "code": "unknown", "cause": null,
      "choices": [], "next": "change_code"})"));
  EXPECT_LT(slow["interval"]["low"], 0.05);
  EXPECT_GT(slow["interval"]["high"], 0.05);
  EXPECT_GT(slow["ruled_out"], 0.05);
  EXPECT_NEAR(slow["baseline_ns"].get<double>(), 1000, 0.1);
  EXPECT_NEAR(slow["candidate_ns"].get<double>(), 1050, 0.1);
  EXPECT_THAT(root["verdicts"][1], Has(R"({"verdict": "missing", "effect_time": null,
      "ruled_out": null, "interval": {"low": null}, "candidate_ns": null, "code": null,
      "next": "none"})"));
}

TEST(GateJson, MarksTheControlThatMoved) {
  const auto run_of_control = [](double share) {
    return test_run(
        {as_control(test_series("copy/memcpy", slowed(share))), test_series("a", kQuiet)});
  };
  const json root = json_of({run_of_control(0)}, run_of_control(0.02));
  EXPECT_EQ(root["verdicts"][0]["machine_moved"], false);
  EXPECT_EQ(root["verdicts"][1]["machine_moved"], true);
  EXPECT_EQ(root["verdicts"][1]["next"], "check_machine");
}

TEST(GateJson, SaysWhatMostOfTheUndecidedNeed) {
  const auto noisy = [](double slower) {
    return test_run({test_series("a", {1000 * slower, 1300, 900}), test_series("b", {1000, 1500})});
  };
  EXPECT_THAT(json_of({noisy(1)}, noisy(1.2)),
              Has(R"({"exit_code": 2, "next": {"action": "measure_more"}})"));
  EXPECT_THAT(gate_failure_json("x: no such file"),
              Has(R"({"fusegate_verdicts": 1, "exit_code": 2, "headline": "x: no such file",
                      "causes": [], "next": {"action": "fix_input"}, "verdicts": []})"));
}

TEST(GateJson, NamesTheFieldsThatDiffer) {
  auto baseline = test_run({test_series("a", kQuiet)});
  auto candidate = baseline;
  candidate.environment = {{"mig", true}};
  const json root = json_of({baseline}, candidate);
  EXPECT_THAT(root, Has(R"({"exit_code": 2, "causes": ["environment_differs"],
      "next": {"action": "measure_side_by_side", "benchmarks": []}})"));
  EXPECT_EQ(root["environment_differences"],
            json::array({{{"field", "mig"}, {"baseline", "(absent)"}, {"candidate", "true"}}}));
  EXPECT_TRUE(root["verdicts"].is_array());
}

std::vector<BenchmarkSeries> family(const std::vector<double>& times) {
  std::vector<BenchmarkSeries> family;
  for (const char* name : {"BM_x/1", "BM_x/2", "BM_x/3"})
    family.push_back(test_series(name, times));
  return family;
}

TEST(GateJson, HasTheModelsOfTheSuite) {
  const std::string mlp = "geglu_mlp/fused/bf16/batch:8/seq:1/dim:96/hidden:320";
  auto candidate = side_by_side({test_series(mlp, slowed(0.05))});
  EXPECT_TRUE(json_of({candidate}, side_by_side({test_series(mlp, kQuiet)}))["models"].empty());
  candidate.provenance.models = {
      {.name = "small",
       .layers = 4,
       .calls = {{.operation = "geglu_mlp", .axes = {{"dim", 96}, {"hidden", 320}}}}}};
  const json root = json_of({side_by_side({test_series(mlp, kQuiet)})}, candidate);
  EXPECT_THAT(root["models"], Has(R"([{"name": "small", "layers": 4,
      "times": [{"rows": 8, "fastest": {"implementation": "fused", "roofline_share": null}}],
      "movers": [{"verdict": "regression", "fastest": true}]}])"));
  EXPECT_NEAR(root["models"][0]["movers"][0]["token_ns"].get<double>(), 25, 1e-3);
  EXPECT_THAT(root["verdicts"][0], Has(R"({"roofline": null})"));
}

TEST(GateJson, HasTheFamilies) {
  const json root = json_of({side_by_side(family(kQuiet))}, side_by_side(family(slowed(0.05))));
  EXPECT_THAT(root, Has(R"({"staleness": null, "anchor": null, "creep": [],
      "families": [{"family": "BM_x", "rows": 3, "effect": 0.05, "lowest": 0.05, "highest": 0.05,
                    "regressions": 3, "improvements": 0}]})"));
}

TEST(GateJson, HasStalenessAndCreepOfAStoredBaseline) {
  LoadedBaseline baseline{side_by_side(family(slowed(0.019))),
                          baselines::Acceptance{"ada", "2026-09-01T00:00:00+00:00", "later"},
                          baselines::Baseline{}};
  baseline.anchor->run = side_by_side(family(kQuiet));
  baseline.anchor->run.source = "pr.anchor.json";
  baseline.anchor->acceptance.when = "2026-08-01T00:00:00+00:00";
  auto candidate = side_by_side(family(slowed(0.02)));
  candidate.provenance.date = "2026-11-01T00:00:00+00:00";
  GateOptions options;
  options.max_creep = 0.01;
  const json root = json_of(baseline, candidate, options);
  EXPECT_THAT(root, Has(R"({
      "exit_code": 1,
      "counts": {"regression": 0},
      "staleness": {"age_days": 61, "max_age_days": 30, "too_old": true, "not_in_baseline": []},
      "anchor": {"source": "pr.anchor.json", "when": "2026-08-01T00:00:00+00:00",
                 "not_judged": null}})"));
  ASSERT_EQ(root["creep"].size(), 3u);
  EXPECT_THAT(root["creep"][0],
              Has(R"({"what": "BM_x/1", "effect": 0.02, "beyond_max_creep": true})"));
  EXPECT_EQ(root["notes"].size(), 2u);
}

TEST(GateJson, HasTheKernels) {
  EXPECT_EQ(json_of({run_of({})}, run_of({}))["kernels"].size(), 0u);
  Side other;
  other.launches[2].name = kSmall;
  const json root = json_of({run_of({})}, run_of(other));
  EXPECT_THAT(root["kernels"], Has(R"([{"benchmark": "mlp", "cause": "other_kernel",
      "changed": true, "host_ns": {"baseline": 9000}}])"));
  const json& pair = root["kernels"][0]["kernels"][2];
  EXPECT_EQ(pair["candidate"]["name"], kSmall);
  EXPECT_EQ(pair["differences"][0], "tile 256x128x64 -> 128x128x64");
}

TEST(GateJson, HasWhatOfTheWorkDiffers) {
  Side other{.slower = 0.05, .work = baselines::work_of_mlp()};
  other.work[2].code = "0c";
  other.work[2].launch =
      "grid 192x1x1, block 256x1x1, 0 + 10240 B shared, 120 registers, 0 B local";
  const json root = json_of({run_of({.work = baselines::work_of_mlp()})}, run_of(other));
  ASSERT_EQ(root["kernels"].size(), 1u);
  const auto row = std::ranges::find(
      root["verdicts"], "mlp", [](const json& one) { return one["benchmark"].get<std::string>(); });
  EXPECT_THAT(*row, Has(R"({"code": "differs", "cause": "other_work"})"));
  const json& diff = root["kernels"][0];
  EXPECT_THAT(diff, Has(R"({"cause": "other_work", "changed": false, "work_unknown": null})"));
  EXPECT_EQ(
      diff["work_changes"],
      json::array(
          {{{"stage", "down_proj"},
            {"baseline", baselines::kBig},
            {"candidate", baselines::kBig},
            {"code_changed", true},
            {"arguments_changed", false},
            {"facts",
             {{{"what", "block"}, {"baseline", 128}, {"candidate", 256}, {"unit", "threads"}},
              {{"what", "registers"}, {"baseline", 166}, {"candidate", 120}, {"unit", ""}}}}}}));
  EXPECT_EQ(diff["work_differences"],
            json({"down_proj: machine code of cublas nvjet bf16 256x128x64 tn changed: block 128 "
                  "-> 256 threads, registers 166 -> 120"}));
}

TEST(GateJson, SaysWhyWorkIsNotKnown) {
  Side slow{.slower = 0.05};
  const json root = json_of({run_of({.work = baselines::work_of_mlp()})}, run_of(slow));
  EXPECT_THAT(root["kernels"][0], Has(R"({"cause": "unexplained", "work_changes": [],
      "work_unknown": "the candidate has no code hashes"})"));
}

TEST(GateJson, HasWhatTakesMoreMemory) {
  BenchmarkSeries before = test_series("a", kQuiet), after = before;
  before.counters["kept_bytes"] = 0;
  after.counters["kept_bytes"] = 64;
  EXPECT_EQ(json_of({test_run({before})}, test_run({after}))["memory_growth"],
            json::parse(R"([{"benchmark": "a", "what": "kept_bytes", "baseline_bytes": 0.0,
                             "candidate_bytes": 64.0}])"));
  EXPECT_EQ(json_of({test_run({after})}, test_run({before}))["memory_growth"], json::array());
}

TEST(GateJson, HasWhatIsLaunchedOtherThanDeclared) {
  const BenchmarkSeries as_declared = test_series("a", kQuiet);
  EXPECT_EQ(json_of({test_run({as_declared})}, test_run({as_declared}))["unmet_expectations"],
            json::array());
  BenchmarkSeries otherwise = as_declared;
  otherwise.expectation = {
      {{"addmm", "1 GEMM", "nvjet, bias_add", false}, {"gelu", "1 kernel", "gelu", true}}};
  EXPECT_EQ(json_of({test_run({as_declared})}, test_run({otherwise}))["unmet_expectations"],
            json::parse(R"([{"benchmark": "a", "expectation": {"met": false, "parts": [
                {"part": "addmm", "met": false, "expected": "1 GEMM", "seen": "nvjet, bias_add"},
                {"part": "gelu", "met": true, "expected": "1 kernel", "seen": "gelu"}]}}])"));
}

}  // namespace
}  // namespace fusegate::ci
