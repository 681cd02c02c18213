#include "ci/gate/gate_json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

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
  ASSERT_EQ(root["outlier_processes"].size(), 1u);
  const json& outlier = root["outlier_processes"][0];
  EXPECT_EQ(outlier["side"], "candidate");
  EXPECT_EQ(outlier["process"], "5");
  EXPECT_NEAR(outlier["relative_deviation"].get<double>(), 0.1, 1e-9);
  EXPECT_EQ(outlier["benchmarks"], 10);
  EXPECT_EQ(outlier["set_aside"], true);
  const json& modes = root["verdicts"][0]["modes"];
  ASSERT_EQ(modes.size(), 2u);
  EXPECT_EQ(modes[0]["baseline"], 4);
  EXPECT_EQ(modes[0]["candidate"], 2);
  EXPECT_NEAR(modes[1]["time_ns"].get<double>(), 1030, 1e-9);
  EXPECT_EQ(modes[1]["candidate"], 2);
  EXPECT_TRUE(root["verdicts"][1]["modes"].is_null());
}

TEST(GateJson, HasTheKeysThatOthersRead) {
  GateOptions options;
  options.rule.min_effect = 0.01;
  const json root =
      json_of({side_by_side({test_series("a", kQuiet), test_series("m", kQuiet)})},
              side_by_side({test_series("a", slowed(0.05)), test_series("n", kQuiet)}), options);
  EXPECT_EQ(root["exit_code"], 1);
  EXPECT_EQ(root["headline"],
            "1 of 3 benchmarks got slower, the most a by 5.00 %; 1 new, 1 missing.");
  EXPECT_EQ(root["rule"]["min_effect"], 0.01);
  EXPECT_EQ(root["rule"]["allow"], 0.05);
  EXPECT_EQ(root["counts"]["regression"], 1);
  EXPECT_EQ(root["counts"]["new"], 1);
  EXPECT_EQ(root["counts"]["missing"], 1);
  EXPECT_EQ(root["counts"]["unchanged"], 0);
  EXPECT_EQ(root["counts"]["identical"], 0);
  EXPECT_EQ(root["counts"].size(), 8u);
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
  EXPECT_EQ(slow["candidate_processes"], 5);
  EXPECT_GT(slow["ruled_out"].get<double>(), 0.05);
  EXPECT_EQ(slow["decided_by"], "time");
  EXPECT_TRUE(slow["baseline_energy_j"].is_null());
  EXPECT_TRUE(slow["machine_effect"].is_null());
  const json& missing = root["verdicts"][1];
  EXPECT_EQ(missing["verdict"], "missing");
  EXPECT_TRUE(missing["effect_time"].is_null());
  EXPECT_TRUE(missing["ruled_out"].is_null());
  EXPECT_TRUE(missing["interval"]["low"].is_null());
  EXPECT_TRUE(missing["candidate_ns"].is_null());
}

TEST(GateJson, MarksTheControlThatMoved) {
  const auto run_of_control = [](double share) {
    return test_run(
        {as_control(test_series("copy/memcpy", slowed(share))), test_series("a", kQuiet)});
  };
  const json root = json_of({run_of_control(0)}, run_of_control(0.02));
  EXPECT_EQ(root["verdicts"][0]["machine_moved"], false);
  EXPECT_EQ(root["verdicts"][1]["machine_moved"], true);
}

TEST(GateJson, NamesTheFieldsThatDiffer) {
  auto baseline = test_run({test_series("a", kQuiet)});
  auto candidate = baseline;
  candidate.environment = {{"mig", true}};
  const json root = json_of({baseline}, candidate);
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
  const json root = json_of({side_by_side(family(kQuiet))}, side_by_side(family(slowed(0.05))));
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

TEST(GateJson, HasTheKernels) {
  EXPECT_EQ(json_of({run_of({})}, run_of({}))["kernels"].size(), 0u);
  Side other;
  other.launches[2].name = kSmall;
  const json root = json_of({run_of({})}, run_of(other));
  ASSERT_EQ(root["kernels"].size(), 1u);
  const json& diff = root["kernels"][0];
  EXPECT_EQ(diff["benchmark"], "mlp");
  EXPECT_EQ(diff["cause"], "other_kernel");
  EXPECT_EQ(diff["changed"], true);
  EXPECT_EQ(diff["kernels"][2]["candidate"]["name"], kSmall);
  EXPECT_EQ(diff["kernels"][2]["differences"][0], "tile 256x128x64 -> 128x128x64");
  EXPECT_EQ(diff["host_ns"]["baseline"], 9000);
}

TEST(GateJson, HasWhatOfTheWorkDiffers) {
  Side other{.slower = 0.05, .work = baselines::work_of_mlp()};
  other.work[2].code = "0c";
  other.work[2].launch =
      "grid 192x1x1, block 256x1x1, 0 + 10240 B shared, 120 registers, 0 B local";
  const json root = json_of({run_of({.work = baselines::work_of_mlp()})}, run_of(other));
  ASSERT_EQ(root["kernels"].size(), 1u);
  const json& diff = root["kernels"][0];
  EXPECT_EQ(diff["cause"], "other_work");
  EXPECT_EQ(diff["changed"], false);
  EXPECT_TRUE(diff["work_unknown"].is_null());
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
  const json& diff = root["kernels"][0];
  EXPECT_EQ(diff["cause"], "unexplained");
  EXPECT_EQ(diff["work_unknown"], "the candidate has no code hashes");
  EXPECT_EQ(diff["work_changes"], json::array());
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
