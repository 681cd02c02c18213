#include "ci/gate/verdict_sections.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ci/gate/gate_document.h"
#include "ci/gate/gate_headline.h"

namespace fusegate::ci {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string text_of(const GateFacts& facts) {
  return terminal_text(gate_document("fusegate", facts));
}
std::string markdown_of(const GateFacts& facts) {
  return markdown(gate_document("fusegate", facts), kMarkdownLimit);
}

GateFacts example_facts() {
  GateFacts facts;
  facts.candidate.source = "head";
  facts.baseline.emplace();
  facts.baseline->run.source = "base";
  facts.baseline->acceptance = baselines::Acceptance{"somebody", "today", "first"};
  return facts;
}

void add(GateFacts* facts, const std::string& name, baselines::VerdictKind kind, double effect) {
  baselines::Verdict verdict;
  verdict.benchmark = name;
  verdict.kind = kind;
  verdict.estimates.effect = verdict.estimates.in_time = effect;
  verdict.decided_by = baselines::Quantity::kEqualClock;
  verdict.estimates.interval = {effect - 0.001, effect + 0.001};
  verdict.estimates.ruled_out = effect + 0.002;
  verdict.baseline.time_ns = 1000;
  verdict.candidate.time_ns = 1000 * (1 + effect);
  verdict.reason.failed_in_candidate = true;
  verdict.reason.failure = "because of " + name;
  facts->result.verdicts.push_back(verdict);
}

TEST(TerminalReport, StartsWithTheHeadlineAndEndsWithTheCounts) {
  GateFacts facts = example_facts();
  add(&facts, "slow", baselines::VerdictKind::kRegression, 0.05);
  add(&facts, "same", baselines::VerdictKind::kUnchanged, 0);
  const std::string text = text_of(facts);
  EXPECT_TRUE(text.starts_with(gate_headline(facts) + '\n')) << text;
  EXPECT_TRUE(text.ends_with("\n1 regression, 1 unchanged\n")) << text;
  EXPECT_THAT(text, HasSubstr("\naccepted   by somebody, today: first\n"));
  EXPECT_THAT(text,
              HasSubstr("regression  slow       +5.00 %  [+4.90, +5.10] %   > 5.20 %  +5.00 %    "
                        "+0.00 %  1.000 us   1.050 us\n"));
  EXPECT_THAT(text, Not(HasSubstr("same")));
}

TEST(Reports, ShowTheShareOfTheRooflineWhereItIsKnown) {
  const std::string problem = "/bf16/batch:64/seq:128/dim:768/hidden:3072";
  const auto series_of = [&](const char* kernel, double time_ns, double flops, double bytes) {
    baselines::BenchmarkSeries series;
    series.name = kernel + problem;
    series.processes = {{.time_ns = time_ns}};
    series.counters = {{"flops", flops}, {"min_bytes", bytes}};
    series.is_control = std::string(kernel).starts_with("control");
    return series;
  };
  GateFacts facts = example_facts();
  add(&facts, "mlp/fused" + problem, baselines::VerdictKind::kRegression, 0.05);
  facts.candidate.benchmarks = {series_of("control_copy/memcpy", 40e3, 0, 1.6e8),
                                series_of("mlp/fused", 125e3, 5e10, 1e8)};
  EXPECT_THAT(text_of(facts), Not(HasSubstr("roofline"))) << "no GEMM rate";
  facts.baseline->run.benchmarks = {series_of("control_gemm/cublaslt", 100e3, 5e10, 1e6)};
  EXPECT_THAT(text_of(facts), HasSubstr("candidate  of roofline\n"));
  EXPECT_THAT(markdown_of(facts), HasSubstr("1.050 us | 80.0 % |"));
}

TEST(Reports, ShowExpectedAndSeenSideBySide) {
  GateFacts facts = example_facts();
  baselines::BenchmarkSeries series;
  series.name = "linear/addmm";
  series.expectation = {{{"addmm", "1 GEMM", "a|b", false}, {"copy", "1 copy", "copy", true}}};
  facts.candidate.benchmarks = {series};
  EXPECT_THAT(text_of(facts), HasSubstr("Not launched as declared\n"
                                        "benchmark     part   expected  seen\n"
                                        "linear/addmm  addmm  1 GEMM    a|b\n"));
  EXPECT_THAT(markdown_of(facts), HasSubstr("| `linear/addmm` | addmm | 1 GEMM | a&#124;b |"));
  EXPECT_THAT(markdown_of(facts), Not(HasSubstr("1 copy")));
}

TEST(TerminalReport, ShowsTheMostSuspiciousOfManyUndecided) {
  GateFacts facts = example_facts();
  for (int i = 0; i < 30; ++i) {
    add(&facts, fmt::format("undecided{:02}", i), baselines::VerdictKind::kInconclusive, 0.001 * i);
  }
  EXPECT_THAT(
      text_of(facts),
      AllOf(HasSubstr("undecided29"), HasSubstr("undecided20"), Not(HasSubstr("undecided19")),
            HasSubstr("30 inconclusive\nverdict "), HasSubstr("\nand 20 more inconclusive\n")));
}

// On another card hundreds of identical benchmarks move by more than matters.
TEST(TerminalReport, LeavesOutWhatIsIdenticalWhereTooLittleWasRuledOut) {
  GateFacts facts = example_facts();
  facts.result.causes = {baselines::GateCause::kNotRuledOut};
  add(&facts, "undecided", baselines::VerdictKind::kInconclusive, 0.01);
  add(&facts, "the_same", baselines::VerdictKind::kIdentical, 0.02);
  const std::string text = text_of(facts);
  EXPECT_THAT(text, HasSubstr("\ninconclusive  undecided "));
  EXPECT_THAT(text, Not(HasSubstr("the_same")));
  EXPECT_THAT(text, HasSubstr("1 inconclusive, 1 identical"));
}

void add_family(GateFacts* facts, const std::string& name, std::size_t regressions) {
  facts->result.families.push_back({name, 12, regressions, 0, 0.03, -0.001, 0.0525});
}

TEST(TerminalReport, ShowsChangedFamiliesAboveTheRows) {
  GateFacts facts = example_facts();
  add(&facts, "slow", baselines::VerdictKind::kRegression, 0.03);
  add_family(&facts, "linear/addmm/bf16", 0);
  add_family(&facts, "geglu/fused/bf16", 4);
  const std::string text = text_of(facts);
  EXPECT_THAT(text,
              HasSubstr("geglu/fused/bf16          12  +3.00 %  -0.10 %  +5.25 %            4      "
                        "       0\n"));
  EXPECT_THAT(text, Not(HasSubstr("linear/addmm/bf16")));
  EXPECT_LT(text.find("geglu/fused/bf16"), text.find("slow"));
}

TEST(TerminalReport, ShowsTheWorstOfManyRowsOfAFamily) {
  GateFacts facts = example_facts();
  const auto add_slow = [&](int row) {
    add(&facts, fmt::format("slow/batch:{:02}", row), baselines::VerdictKind::kRegression,
        0.03 + 1e-5 * row);
  };
  for (int row = 0; row < 6; ++row) add_slow(row);
  EXPECT_THAT(text_of(facts), AllOf(HasSubstr("slow/batch:00"), Not(HasSubstr(" more "))));
  for (int row = 6; row < 12; ++row) add_slow(row);
  add(&facts, "another", baselines::VerdictKind::kRegression, 0.01);
  const std::string text = text_of(facts);
  EXPECT_THAT(text,
              AllOf(HasSubstr("slow/batch:11"), HasSubstr("slow/batch:09"),
                    Not(HasSubstr("slow/batch:08")), HasSubstr("another"),
                    HasSubstr("\nand 9 more regressions of slow\n"), HasSubstr("13 regressions")));
}

TEST(TerminalReport, ShowsTheSlowestOfManyFamilies) {
  GateFacts facts = example_facts();
  for (int i = 0; i < 20; ++i) add_family(&facts, fmt::format("F{}", i), 1);
  EXPECT_THAT(text_of(facts), HasSubstr("F11 "));
  EXPECT_THAT(text_of(facts), Not(HasSubstr("F12 ")));
  EXPECT_THAT(text_of(facts), HasSubstr("and 8 more rows\n"));
}

// what: how different kernel differs, or the name of the one that got slower.
void add_kernel_diff(GateFacts* facts, const std::string& benchmark, baselines::KernelCause kind,
                     const std::string& what, double more_ns = 5000) {
  baselines::KernelDiff diff;
  diff.benchmark = benchmark;
  diff.kind = kind;
  diff.verdict = baselines::VerdictKind::kRegression;
  diff.has_profiles = true;
  if (kind == baselines::KernelCause::kGaps) {
    diff.gaps_moved = true;
    diff.gaps_ns = {0, more_ns};
  } else {
    baselines::KernelPair pair;
    pair.before.emplace();
    pair.before->name = what;
    pair.before->duration_ns = 1000;
    pair.after = pair.before;
    pair.after->duration_ns += more_ns;
    if (kind == baselines::KernelCause::kOtherKernel) pair.differences = {what};
    diff.pairs = {pair};
  }
  facts->result.kernel_diffs.push_back(diff);
}

TEST(TerminalReport, NamesOnceWhatChangedInManyBenchmarks) {
  GateFacts facts = example_facts();
  add_kernel_diff(&facts, "a", baselines::KernelCause::kOtherKernel, "tile 1 -> 2");
  add_kernel_diff(&facts, "b", baselines::KernelCause::kGaps, "", 5000);
  add_kernel_diff(&facts, "c", baselines::KernelCause::kOtherKernel, "tile 1 -> 2");
  add_kernel_diff(&facts, "d", baselines::KernelCause::kGaps, "", 6000);
  add_kernel_diff(&facts, "e", baselines::KernelCause::kSameKernels, "slower");
  EXPECT_THAT(text_of(facts),
              HasSubstr("\n\nKernel changes\n"
                        "a, and 1 more: different kernel: tile 1 -> 2\n"
                        "e: the same kernel, slower: slower took 1.000 us and takes 6.000 us, "
                        "+500.00 %\n\n"
                        "2 benchmarks with other gaps between kernels\n"
                        "b: the same kernels with 5.000 us more between them (0 ns -> 5.000 us): "
                        "the host launches them later\nand 1 more\n"));
}

TEST(TerminalReport, NamesSomeOfManyKernels) {
  GateFacts facts = example_facts();
  for (int i = 0; i < 15; ++i) {
    add_kernel_diff(&facts, "a", baselines::KernelCause::kSameKernels,
                    fmt::format("slower {:02}", i));
  }
  EXPECT_THAT(text_of(facts),
              HasSubstr("slower 11 took 1.000 us and takes 6.000 us, +500.00 %\nand 3 more\n"));
}

TEST(MarkdownReport, PutsTheVerdictFirstAndFoldsTheRest) {
  GateFacts facts = example_facts();
  facts.result.exit_code = baselines::ExitCode::kRegression;
  add(&facts, "same", baselines::VerdictKind::kUnchanged, 0);
  add(&facts, "slow", baselines::VerdictKind::kRegression, 0.05);
  facts.result.causes = {baselines::GateCause::kSlower};
  const std::string text = markdown_of(facts);
  EXPECT_TRUE(
      text.starts_with("## fusegate\n\n\u274c **1 of 2 benchmarks got slower, the most slow by "
                       "5.00 %.**\n\n1 regression, 1 unchanged.\n"))
      << text;
  EXPECT_THAT(
      text, HasSubstr("| regression | `slow` | +5.00 % | &#91;+4.90, +5.10&#93; % | &#62; 5.20 % | "
                      "+5.00 % | +0.00 % | 1.000 us | 1.050 us | 5.00 % slower at equal clock "
                      "(+5.00 % in time, +0.00 % in cycles); tested against 0.15 % |\n"));
  EXPECT_LT(text.find("`slow`"), text.find("<details><summary>1 unchanged</summary>"));
  EXPECT_LT(text.find("<details>"), text.find("`same`"));
}

TEST(MarkdownReport, OfNothingDecidedHasNoTickAndFoldsNoChangeAway) {
  GateFacts facts = example_facts();
  facts.result.exit_code = baselines::ExitCode::kCouldNotJudge;
  facts.result.causes = {baselines::GateCause::kNotRuledOut};
  add(&facts, "control_copy/memcpy", baselines::VerdictKind::kInconclusive, 0.17);
  add(&facts, "quiet", baselines::VerdictKind::kInconclusive, 0.001);
  add(&facts, "slow", baselines::VerdictKind::kInconclusive, 0.1);
  const std::string text = markdown_of(facts);
  EXPECT_THAT(
      text,
      HasSubstr("\u26a0\ufe0f **Could not judge: slowdowns above 5 % are not ruled out in 2 of 3 "
                "benchmarks: control_copy/memcpy (17 %), slow (10 %).**"));
  EXPECT_THAT(text, Not(HasSubstr("\u2705")));
  EXPECT_EQ(gate_document("fusegate", facts).outcome, "could not judge");
  const std::size_t fold = text.find("<details><summary>1 inconclusive</summary>");
  EXPECT_LT(text.find("`control_copy/memcpy`"), fold);
  EXPECT_LT(text.find("`slow`"), fold);
  EXPECT_GT(text.find("`quiet`"), fold);
  // Beside rows that were decided they are as many others.
  facts.result.causes = {baselines::GateCause::kNoRegression};
  EXPECT_THAT(markdown_of(facts), HasSubstr("<details><summary>3 inconclusive</summary>"));
}

TEST(MarkdownReport, StaysBelowTheLimitWhateverTheTextsAre) {
  GateFacts facts = example_facts();
  for (int i = 0; i < 100; ++i) {
    add(&facts, std::string(50'000, '`'), baselines::VerdictKind::kRegression, 0.05);
    facts.result.verdicts.back().reason.choice_changes = {
        {"choice", std::string(50'000, '*'), std::string(50'000, '<')}};
  }
  const std::string text = markdown_of(facts);
  EXPECT_LE(text.size(), kMarkdownLimit);
  EXPECT_THAT(text, HasSubstr("## fusegate"));
  EXPECT_THAT(text, HasSubstr("left out"));
}

TEST(MarkdownReport, FoldsWhatTheHostDoesAndShowsOtherKernels) {
  GateFacts facts = example_facts();
  add_kernel_diff(&facts, "a", baselines::KernelCause::kGaps, "");
  add_kernel_diff(&facts, "a", baselines::KernelCause::kOtherKernel, "other_kernel");
  const std::string text = markdown_of(facts);
  EXPECT_LT(text.find("| `a` | different kernel: other_kernel |"),
            text.find("1 benchmark with other gaps"));
  EXPECT_LT(text.find("<details>"), text.find("| `a` | the same kernels with 5.000 us more"));
}

const Section& section_of(const std::vector<Section>& sections, std::string_view title) {
  return *std::ranges::find(sections, title, &Section::title);
}

TEST(VerdictSections, SetKernelsOfBothSidesSideBySide) {
  baselines::KernelDiff diff;
  diff.benchmark = "a";
  diff.kind = baselines::KernelCause::kOtherKernel;
  baselines::ProfiledKernel kernel;
  kernel.name = "sm80_gemm";
  kernel.stage = "gate_proj";
  kernel.duration_ns = 52310;
  diff.pairs = {{kernel, std::nullopt, {}}, {kernel, kernel, {"tile 128x128 -> 64x64"}}};
  diff.gaps_ns = {1000, 2000};
  GateFacts facts;
  facts.result.kernel_diffs = {diff};
  const auto sections = verdict_sections(facts);
  const Section& kernels = section_of(sections, "Kernel changes").parts.front();
  EXPECT_TRUE(kernels.is_page_only);
  EXPECT_THAT(kernels.table.rows()[0],
              ElementsAre("sm80_gemm", "gate_proj", "52.31 us", "none", "", "-", ""));
  EXPECT_THAT(kernels.table.rows()[1],
              ElementsAre("sm80_gemm", "gate_proj", "52.31 us", "sm80_gemm", "gate_proj",
                          "52.31 us", "tile 128x128 -> 64x64"));
  EXPECT_THAT(kernels.table.rows()[2],
              ElementsAre("gaps between kernels", "", "1.000 us", "", "", "2.000 us", ""));
}

TEST(VerdictSections, ShowWhatCreptSinceTheAnchor) {
  GateFacts facts;
  add(&facts, "much", baselines::VerdictKind::kUnchanged, 0.05);
  add(&facts, "little", baselines::VerdictKind::kUnchanged, 0.021);
  facts.result.creep = {"pr.anchor.json", "2026-10-01", {}, false, facts.result.verdicts};
  facts.options.max_creep = 0.03;
  const auto sections = verdict_sections(facts);
  const Section& creep = section_of(sections, "Slower than the anchor");
  EXPECT_THAT(creep.sentences.front(), HasSubstr("2026-10-01 (pr.anchor.json)"));
  EXPECT_THAT(creep.table.rows()[0], ElementsAre("much", "+5.00 %", "[+4.90, +5.10] %"));
  EXPECT_EQ(creep.table.rows()[0][0].tone, Tone::kBad);
  EXPECT_EQ(creep.table.rows()[1][0].tone, Tone::kPlain);
}

}  // namespace
}  // namespace fusegate::ci
