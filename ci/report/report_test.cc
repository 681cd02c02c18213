#include "ci/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/record/load_run.h"
#include "ci/processes/fake_program.h"

namespace fusegate::ci {
namespace {

using ::testing::HasSubstr;

Report example(bool judged) {
  const baselines::ScratchFolder folder;
  FakeRunFile file;
  file.times["geglu/unfused/bf16/batch:64/seq:128/dim:768/hidden:3072"] = 30000;
  file.times["BM_other/8"] = 10;
  file.failures = {{"geglu/odd/bf16/batch:1/seq:1/dim:8/hidden:8", "threw"}};
  Report report;
  report.title = "a title";
  report.candidate = baselines::load_run({write_run(folder, "run", file)});
  report.sweeps = shape_sweeps(report.candidate);
  if (judged) {
    report.judgement =
        Judgement{{report.candidate, baselines::Acceptance{"me", "today", "why"}}, {}, {}};
    report.judgement->result = baselines::gate(report.candidate, report.candidate, {});
  }
  return report;
}

TEST(Headline, IsTheGatesOrSaysThatNothingWasCompared) {
  const Report judged = example(true);
  EXPECT_EQ(headline(judged), judged.judgement->result.headline);
  EXPECT_THAT(headline(example(false)), HasSubstr("5 benchmarks in 5 invocations on NVIDIA H200"));
}

TEST(Describe, NamesDeviceCommitAndDate) {
  fusegate::baselines::Run run = example(false).candidate;
  EXPECT_EQ(describe(run),
            "5 invocations on NVIDIA H200, commit 0123456789ab, 2026-11-21T02:53:32+00:00");
  run.provenance.dirty = true;
  EXPECT_THAT(describe(run), HasSubstr("with uncommitted changes"));
  run.environment.clear();
  run.provenance = {};
  EXPECT_EQ(describe(run), "5 invocations on an unnamed device");
}

TEST(ReportJson, HasEveryBenchmarkAndTheProblemOfOurOwn) {
  const auto json = report_json(example(false));
  ASSERT_EQ(json["benchmarks"].size(), 5u);
  const auto& other = json["benchmarks"][0];
  EXPECT_EQ(other["name"], "BM_other/8");
  EXPECT_FALSE(other.contains("problem"));
  const auto& fused = json["benchmarks"][1];
  EXPECT_EQ(fused["problem"]["rows"], 64 * 128);
  EXPECT_NEAR(fused["time_ns"].get<double>(), 20000, 10);
  const auto& failed = json["benchmarks"][2];
  EXPECT_TRUE(failed["time_ns"].is_null());
  EXPECT_EQ(failed["failure"], "threw");
  EXPECT_TRUE(json["gate"].is_null());
  EXPECT_EQ(json["outcome"], "not compared");
}

TEST(ReportJson, HasTheSweepWithSpeedUps) {
  const auto json = report_json(example(false));
  const auto& sweep = json["sweeps"][0];
  EXPECT_EQ(sweep["operation"], "geglu");
  EXPECT_EQ(sweep["reference"], "unfused");
  EXPECT_NEAR(sweep["series"][1]["points"][0]["speed_up"].get<double>(), 1.5, 1e-3);
}

TEST(ReportJson, HasStandingsAndEveryBenchmarksFloor) {
  Report report = example(false);
  report.standings = standings(report.candidate, nullptr);
  EXPECT_TRUE(report_json(report)["benchmarks"][1]["floor_ns"].is_null());  // no copy in it
  report.standings->rates.gemm_tflops["bf16"] = {1, ""};
  report.standings->rates.copy_gbps = MeasuredRate{15000, ""};
  report.standings->peers = "peers";
  const auto json = report_json(report);
  const auto& fused = json["benchmarks"][1];
  EXPECT_NEAR(fused["floor_ns"].get<double>(), 3.9e7, 1);
  EXPECT_EQ(fused["class"], "compute-bound");
  EXPECT_TRUE(fused["class_on_stream"].is_null());  // no host cost in it
  EXPECT_EQ(fused["class_text"], "compute-bound");
  EXPECT_EQ(json["ceilings"]["copy_gbps"]["value"], 15000);
  EXPECT_EQ(json["standings"]["peers"], "peers");
  const auto& problems = json["standings"]["operations"][0]["problems"];
  EXPECT_TRUE(problems[0]["best"].is_null());  // the one that failed
  EXPECT_EQ(problems[1]["best"]["name"], "fused");
  EXPECT_EQ(problems[1]["ours"].size(), 2u);
  EXPECT_TRUE(problems[1]["ratio"].is_null());
}

TEST(ReportJson, HasTheGatesVerdictsAndWhoAccepted) {
  const auto json = report_json(example(true));
  EXPECT_EQ(json["gate"]["verdicts"].size(), 5u);
  EXPECT_EQ(json["baseline"]["acceptance"]["who"], "me");
  EXPECT_EQ(json["outcome"], "could not judge");  // one benchmark failed on both sides
}

}  // namespace
}  // namespace fusegate::ci
