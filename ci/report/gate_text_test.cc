#include "ci/report/gate_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fusegate::ci {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Report example() {
  Report report;
  report.candidate.source = "head";
  report.judgement.emplace();
  report.judgement->baseline.run.source = "base";
  report.judgement->baseline.acceptance = baselines::Acceptance{"somebody", "today", "first"};
  report.judgement->result.headline = "The headline.";
  return report;
}

void add(Report* report, const std::string& name, baselines::VerdictKind kind, double effect) {
  baselines::Verdict verdict;
  verdict.benchmark = name;
  verdict.kind = kind;
  verdict.effect = verdict.effect_time = effect;
  verdict.interval = {effect - 0.001, effect + 0.001};
  verdict.baseline_ns = 1000;
  verdict.candidate_ns = 1000 * (1 + effect);
  verdict.reason = "because of " + name;
  report->judgement->result.verdicts.push_back(verdict);
}

TEST(GateText, StartsWithTheHeadlineAndEndsWithTheCounts) {
  Report report = example();
  add(&report, "slow", baselines::VerdictKind::kRegression, 0.05);
  add(&report, "same", baselines::VerdictKind::kUnchanged, 0);
  const std::string text = gate_text(report);
  EXPECT_TRUE(text.starts_with("The headline.\n")) << text;
  EXPECT_TRUE(text.ends_with("\n1 regression, 1 unchanged\n")) << text;
  EXPECT_THAT(text, HasSubstr("accepted by somebody, today: first"));
  EXPECT_THAT(text,
              HasSubstr("regression  slow       +5.00 %  [+4.90, +5.10] %  +5.00 %    +0.00 %  "
                        "1.000 us   1.050 us\n"));
  EXPECT_THAT(text, Not(HasSubstr("same")));
}

TEST(GateText, ShowsExpectedAndSeenSideBySide) {
  Report report = example();
  report.judgement->result.unmet_expectations = {
      {"linear/addmm", {{{"addmm", "1 GEMM", "nvjet, bias_add", false}}}}};
  EXPECT_THAT(gate_text(report), HasSubstr("Launches other than declared\n"
                                           "benchmark     part   expected  seen\n"
                                           "linear/addmm  addmm  1 GEMM    nvjet, bias_add\n"));
}

TEST(GateText, ShowsTheMostSuspiciousOfManyUndecided) {
  Report report = example();
  for (int i = 0; i < 30; ++i) {
    add(&report, fmt::format("undecided{:02}", i), baselines::VerdictKind::kInconclusive,
        0.001 * i);
  }
  const std::string text = gate_text(report);
  EXPECT_THAT(text, HasSubstr("undecided29"));
  EXPECT_THAT(text, HasSubstr("undecided20"));
  EXPECT_THAT(text, Not(HasSubstr("undecided19")));
  EXPECT_THAT(text, HasSubstr("and 20 more inconclusive"));
}

TEST(GateText, GivesAReasonThatManyShareOnce) {
  Report report = example();
  for (const char* name : {"a", "b", "c"}) {
    add(&report, name, baselines::VerdictKind::kInvalid, 0);
    report.judgement->result.verdicts.back().reason = "the library is missing";
  }
  add(&report, "d", baselines::VerdictKind::kMissing, 0);
  EXPECT_THAT(gate_text(report), HasSubstr("\ninvalid: the library is missing (3 times)\n"
                                           "missing: because of d\n"));
}

TEST(GateText, NamesDifferencesAndNotes) {
  Report report = example();
  report.judgement->result.environment_differences = {{"driver", "1", "2"}};
  report.judgement->result.notes = {"Candidate: a doubt."};
  EXPECT_THAT(gate_text(report), HasSubstr("driver: 1 in the baseline, 2 in the candidate"));
  EXPECT_THAT(gate_text(report), HasSubstr("note       Candidate: a doubt.\n"));
}

void add_family(Report* report, const std::string& name, std::size_t regressions) {
  report->judgement->result.families.push_back({name, 12, regressions, 0, 0.03, -0.001, 0.0525});
}

TEST(GateText, ShowsChangedFamiliesAboveTheRows) {
  Report report = example();
  add(&report, "slow", baselines::VerdictKind::kRegression, 0.03);
  add_family(&report, "linear/addmm/bf16", 0);
  add_family(&report, "geglu/fused/bf16", 4);
  const std::string text = gate_text(report);
  EXPECT_THAT(text, HasSubstr("geglu/fused/bf16    12  +3.00 %  -0.10 %  +5.25 %            4      "
                              "       0\n"));
  EXPECT_THAT(text, Not(HasSubstr("linear/addmm/bf16")));
  EXPECT_LT(text.find("geglu/fused/bf16"), text.find("slow"));
}

TEST(GateText, ShowsTheWorstOfManyRowsOfAFamily) {
  Report report = example();
  add(&report, "another", baselines::VerdictKind::kRegression, 0.01);
  for (int i = 0; i < 12; ++i) {
    add(&report, fmt::format("slow/batch:{:02}", i), baselines::VerdictKind::kRegression,
        0.03 + 1e-5 * i);
  }
  const std::string text = gate_text(report);
  EXPECT_THAT(text, HasSubstr("slow/batch:11"));
  EXPECT_THAT(text, HasSubstr("slow/batch:09"));
  EXPECT_THAT(text, Not(HasSubstr("slow/batch:08")));
  EXPECT_THAT(text, HasSubstr("another"));
  EXPECT_THAT(text, HasSubstr("and 9 more regressions of slow\n"));
  EXPECT_THAT(text, HasSubstr("13 regressions"));
}

TEST(GateText, ShowsFewRowsOfAFamilyAll) {
  Report report = example();
  for (int i = 0; i < 6; ++i) {
    add(&report, fmt::format("slow/batch:{}", i), baselines::VerdictKind::kRegression, 0.03);
  }
  EXPECT_THAT(gate_text(report), HasSubstr("slow/batch:0"));
  EXPECT_THAT(gate_text(report), Not(HasSubstr("more regression")));
}

TEST(GateText, ShowsTheSlowestOfManyFamilies) {
  Report report = example();
  for (int i = 0; i < 20; ++i) add_family(&report, fmt::format("F{}", i), 1);
  EXPECT_THAT(gate_text(report), HasSubstr("F11 "));
  EXPECT_THAT(gate_text(report), Not(HasSubstr("F12 ")));
  EXPECT_THAT(gate_text(report), HasSubstr("and 8 more\n"));
}

void add_story(Report* report, const std::string& benchmark, baselines::StoryKind kind,
               const std::string& sentence) {
  baselines::KernelStory story;
  story.benchmark = benchmark;
  story.kind = kind;
  story.sentence = sentence;
  report->judgement->result.stories.push_back(story);
}

TEST(GateText, TellsOnceWhatKernelsOfManyBenchmarksTell) {
  Report report = example();
  add_story(&report, "a", baselines::StoryKind::kOtherKernel, "tile 1 -> 2");
  add_story(&report, "b", baselines::StoryKind::kGaps, "5 us more");
  add_story(&report, "c", baselines::StoryKind::kOtherKernel, "tile 1 -> 2");
  add_story(&report, "d", baselines::StoryKind::kGaps, "6 us more");
  add_story(&report, "e", baselines::StoryKind::kSameKernels, "slower");
  EXPECT_THAT(gate_text(report),
              HasSubstr("\n\nkernels of a, and likewise of 1 more: tile 1 -> 2\n"
                        "kernels of b, and likewise of 1 more: 5 us more\nkernels of e: slower\n"));
}

TEST(GateText, TellsOfSomeOfManyKernels) {
  Report report = example();
  for (int i = 0; i < 15; ++i) {
    add_story(&report, "a", baselines::StoryKind::kSameKernels, fmt::format("slower {:02}", i));
  }
  EXPECT_THAT(gate_text(report), HasSubstr("slower 11\nand 3 more\n"));
}

}  // namespace
}  // namespace fusegate::ci
