#include "ci/report/markdown.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fusegate::ci {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

baselines::Verdict verdict(const std::string& name, baselines::VerdictKind kind) {
  baselines::Verdict verdict;
  verdict.benchmark = name;
  verdict.kind = kind;
  verdict.baseline_ns = 1000;
  verdict.candidate_ns = 1050;
  verdict.effect = verdict.effect_time = 0.05;
  verdict.reason = "a reason";
  return verdict;
}

Report judged(baselines::ExitCode exit_code, std::vector<baselines::Verdict> verdicts) {
  Report report;
  report.title = "fusegate";
  report.judgement.emplace();
  report.judgement->result.exit_code = exit_code;
  report.judgement->result.headline = "The headline.";
  report.judgement->result.verdicts = std::move(verdicts);
  return report;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST(MarkdownReport, PutsTheVerdictFirstAndFoldsTheRest) {
  const std::string text = markdown_report(judged(
      baselines::ExitCode::kRegression, {verdict("same", baselines::VerdictKind::kUnchanged),
                                         verdict("slow", baselines::VerdictKind::kRegression)}));
  EXPECT_TRUE(text.starts_with("## fusegate\n\n\u274c **The headline.**\n")) << text;
  EXPECT_LT(text.find("`slow`"), text.find("<details><summary>1 unchanged</summary>"));
  EXPECT_LT(text.find("<details>"), text.find("`same`"));
  EXPECT_EQ(count_of(text, "<details>"), count_of(text, "</details>"));
}

TEST(MarkdownReport, ShowsWhatWasLaunchedBesideWhatIsDeclared) {
  Report report = judged(baselines::ExitCode::kRegression,
                         {verdict("same", baselines::VerdictKind::kUnchanged)});
  baselines::BenchmarkSeries series;
  series.name = "linear/addmm";
  series.expectation = {{{"addmm", "1 GEMM", "a|b", false}}};
  baselines::CallProfile profile;
  profile.kernels = {{.name = "a|b", .span = {"addmm", 0, 5000, 1}}};
  series.stage_times = baselines::stage_times(profile);
  report.candidate.benchmarks = {series};
  report.sweeps.emplace_back();
  const std::string text = markdown_report(report);
  EXPECT_THAT(text, HasSubstr("| `linear/addmm` | addmm | 1 GEMM | a&#124;b |"));
  EXPECT_THAT(text,
              HasSubstr("| `linear/addmm` | `addmm` | 1 | 0 | 5.000 us | 5.000 us | 100.0 % |"));
}

TEST(MarkdownReport, LetsNoNameBreakItsTable) {
  const std::string text = markdown_report(
      judged(baselines::ExitCode::kRegression,
             {verdict("a|b</details><script>\n@team", baselines::VerdictKind::kRegression)}));
  EXPECT_THAT(text, HasSubstr("| `a\\|b</details><script> @team` |"));
}

TEST(MarkdownReport, ShowsChangedFamiliesBeforeTheRows) {
  Report report = judged(baselines::ExitCode::kRegression,
                         {verdict("slow", baselines::VerdictKind::kRegression)});
  report.judgement->result.families = {{"a|b", 12, 4, 1, 0.03, -0.001, 0.0525}};
  const std::string text = markdown_report(report);
  EXPECT_THAT(text, HasSubstr("| `a\\|b` | 12 | +3.00 % | -0.10 % | +5.25 % | 4 | 1 |"));
  EXPECT_LT(text.find("1 regression."), text.find("`a\\|b`"));
  EXPECT_LT(text.find("`a\\|b`"), text.find("`slow`"));
}

TEST(MarkdownReport, StaysBelowTheLimitAndSaysWhatIsMissing) {
  std::vector<baselines::Verdict> verdicts{
      verdict("the slow one", baselines::VerdictKind::kRegression)};
  for (int i = 0; i < 2000; ++i) {
    verdicts.push_back(verdict(fmt::format("benchmark {}", i), baselines::VerdictKind::kUnchanged));
  }
  const std::string text = markdown_report(judged(baselines::ExitCode::kRegression, verdicts));
  EXPECT_LE(text.size(), kMarkdownLimit);
  EXPECT_GT(text.size(), kMarkdownLimit * 9 / 10);
  EXPECT_THAT(text, HasSubstr("the slow one"));
  EXPECT_THAT(text, HasSubstr("- Candidate: "));
  const std::size_t shown = count_of(text, "| unchanged |");
  EXPECT_THAT(text, HasSubstr(fmt::format("{} table rows left out", 2000 - shown)));
  EXPECT_EQ(count_of(text, "<details>"), count_of(text, "</details>"));
}

TEST(MarkdownReport, StaysBelowTheLimitWhateverTheTextsAre) {
  std::vector<baselines::Verdict> verdicts;
  for (int i = 0; i < 100; ++i) {
    verdicts.push_back(verdict(std::string(50'000, '`'), baselines::VerdictKind::kRegression));
    verdicts.back().reason = std::string(50'000, '*');
  }
  Report report = judged(baselines::ExitCode::kRegression, verdicts);
  report.judgement->result.headline = std::string(100'000, '<');
  const std::string text = markdown_report(report);
  EXPECT_LE(text.size(), kMarkdownLimit);
  EXPECT_THAT(text, HasSubstr("## fusegate"));
  EXPECT_THAT(text, HasSubstr("left out"));
}

TEST(MarkdownReport, SumsUpWhereFusionWins) {
  Report report;
  report.title = "sweep";
  SweepPoint slow{64, 768, 3072, 10, 1, 1, 0.9};
  SweepPoint fast{8192, 768, 3072, 10, 1, 1, 1.5};
  report.sweeps = {{"geglu", "bf16", "unfused", {{"unfused", {}}, {"fused", {slow, fast}}}}};
  const std::string text = markdown_report(report);
  EXPECT_THAT(text, HasSubstr("| geglu | bf16 | fused | unfused | 1.16x | "
                              "1.50x at M 8192, dim 768, hidden 3072 | "
                              "0.90x at M 64, dim 768, hidden 3072 | 1 of 2 |"));
  EXPECT_THAT(text, Not(HasSubstr("| unfused | unfused |")));
}

TEST(MarkdownReport, SaysWhereFusionStopsPaying) {
  Report report;
  report.title = "crossover";
  report.crossovers = {
      {"geglu", "bf16", 768, 3072, "fused", "unfused", {{128, 0.5}, {8192, 0.75}}, {}}};
  const std::string text = markdown_report(report);
  EXPECT_THAT(text, HasSubstr("<details><summary>Where fusion stops paying"));
  EXPECT_THAT(text, HasSubstr("| geglu | bf16 | 768 | 3072 | fused | unfused | always pays, "
                              "M 128 to 8192 |"));
}

TEST(MarkdownFailure, SaysWhatIsWrongAndEscapesIt) {
  const std::string text = markdown_failure("fusegate", "x.json: <field>: bad");
  EXPECT_THAT(text, HasSubstr("Could not judge"));
  EXPECT_THAT(text, HasSubstr("x.json: &#60;field&#62;: bad"));
}

TEST(MarkdownReport, SetsOurBestAgainstPeersAndFloors) {
  Report report;
  report.title = "peers";
  report.standings.emplace();
  report.standings->peers = "3 invocations of peers";
  report.standings->notes = {"warning: a note"};
  report.standings->operations = {
      {"geglu_mlp",
       "bf16",
       {"fused"},
       {"liger"},
       {{{"geglu_mlp", "", "bf16", 64, 128, 768, 3072},
         {{"fused", 150e3, "", {100e3, 1.5, 0.1, 0.66}, {Bound::kCompute, Bound::kCompute}}},
         {{"liger", 200e3, "", {}}}}}}};
  const std::string text = markdown_report(report);
  EXPECT_THAT(text,
              HasSubstr("\n| problem | our best | implementation | best peer | peer | ratio | "
                        "floor | time / floor | class |\n"
                        "| --- | ---: | --- | ---: | --- | ---: | ---: | ---: | --- |\n"
                        "| batch 64, seq 128, dim 768, hidden 3072 | 150.0 us | `fused` | "
                        "200.0 us | `liger` | 0.750 | 100.0 us | 1.50 | compute-bound |\n"));
  EXPECT_THAT(text, HasSubstr("\n- Peers: 3 invocations of peers\n- warning: a note\n"));
  EXPECT_THAT(text, HasSubstr("| problem | fused | liger |\n"));
}

TEST(MarkdownReport, FoldsWhatTheHostDoesAndShowsOtherKernels) {
  Report report = judged(baselines::ExitCode::kNoRegression,
                         {verdict("a", baselines::VerdictKind::kUnchanged)});
  for (const baselines::StoryKind kind :
       {baselines::StoryKind::kGaps, baselines::StoryKind::kOtherKernel}) {
    baselines::KernelStory story;
    story.benchmark = "a";
    story.kind = kind;
    story.sentence = baselines::story_name(kind);
    report.judgement->result.stories.push_back(story);
  }
  const std::string text = markdown_report(report);
  EXPECT_LT(text.find("| `a` | other_kernel |"), text.find("1 benchmark with other pauses"));
  EXPECT_LT(text.find("<details>"), text.find("| `a` | gaps |"));
}

}  // namespace
}  // namespace fusegate::ci
