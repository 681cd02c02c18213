#include "ci/report/report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/record/load_run.h"
#include "ci/gate/gate_headline.h"
#include "tests/fakes/fake_program.h"

namespace fusegate::ci {
namespace {

using tests::FakeRunFile;
using tests::write_run;

using ::testing::HasSubstr;

Report example(bool judged) {
  const baselines::ScratchFolder folder;
  FakeRunFile file;
  file.times["geglu/unfused/bf16/batch:64/seq:128/dim:768/hidden:3072"] = 30000;
  file.times["BM_other/8"] = 10;
  file.failures = {{"geglu/odd/bf16/batch:1/seq:1/dim:8/hidden:8", "threw"}};
  Report report;
  report.title = "a title";
  report.gate.candidate = baselines::load_run({write_run(folder, "run", file)});
  report.sweeps = shape_sweeps(report.gate.candidate);
  if (judged) {
    report.gate.baseline = {report.gate.candidate, baselines::Acceptance{"me", "today", "why"}};
    report.gate.result = baselines::gate(report.gate.candidate, report.gate.candidate, {});
  }
  return report;
}

std::vector<std::string> titles(const Document& document) {
  std::vector<std::string> titles;
  for (const Section& section : document.sections) {
    if (!section.empty()) titles.push_back(section.title);
  }
  return titles;
}

TEST(ReportDocument, HasTheGatesHeadlineOrSaysThatNothingWasCompared) {
  const Report judged = example(true);
  EXPECT_EQ(report_document(judged).headline, gate_headline(judged.gate));
  EXPECT_EQ(report_document(judged).outcome, "could not judge");  // one failed on both sides
  const Document shown = report_document(example(false));
  EXPECT_THAT(shown.headline, HasSubstr("5 benchmarks in 5 processes on NVIDIA H200"));
  EXPECT_EQ(shown.outcome, "not compared");
}

TEST(ReportDocument, ShowsAsPassedOnlyWhereHalfIsDecided) {
  Report report = example(true);
  baselines::GateResult& result = report.gate.result;
  result.exit_code = baselines::ExitCode::kNoRegression;
  result.causes = {baselines::GateCause::kNoRegression};
  result.verdicts.assign(3, {});
  result.verdicts[0].kind = result.verdicts[1].kind = baselines::VerdictKind::kUnchanged;
  EXPECT_EQ(report_document(report).outcome, "pass");
  result.verdicts[1].kind = baselines::VerdictKind::kInconclusive;
  const Document document = report_document(report);
  EXPECT_EQ(document.outcome, "undecided");
  EXPECT_THAT(markdown(document), HasSubstr("\u26a0\ufe0f **No regression in 1 of 3 benchmarks"));
}

TEST(ReportDocument, NamesBothRunsWhoAcceptedAndWhatDiffers) {
  Report report = example(true);
  report.gate.candidate.warnings = {baselines::Warning::kThrottled};
  report.gate.result.environment_differences = {{"driver", "1", "2"}};
  std::vector<std::string> facts;
  for (const Fact& fact : report_document(report).facts) {
    facts.push_back(fact.label + ": " + fact.text.text);
  }
  EXPECT_THAT(facts, testing::IsSupersetOf(
                         {std::string("accepted: by me, today: why"),
                          fmt::format("note: Candidate: {}",
                                      baselines::warning_sentence(baselines::Warning::kThrottled)),
                          std::string("differs: driver: 1 in the baseline, 2 in "
                                      "the candidate")}));
  EXPECT_THAT(facts[0], testing::StartsWith("baseline: "));
  EXPECT_THAT(facts[2], testing::StartsWith("candidate: "));
}

TEST(ReportDocument, HasTheCandidatesOwnFiguresWhereItIsToShowThem) {
  Report report = example(false);
  EXPECT_TRUE(titles(report_document(report)).empty());
  report.peer_comparison = peer_comparison(report.gate.candidate, {});
  const Document document = report_document(report);
  EXPECT_THAT(titles(document),
              testing::ElementsAre("Compared with the roofline", "Where fusion wins",
                                   "Where fusion stops paying", "What bounds each benchmark",
                                   "5 benchmarks, all figures", "Environment and origin"));
  const auto& figures = document.sections[document.sections.size() - 3].table;
  EXPECT_EQ(figures.rows()[0][0], "BM_other/8");
  EXPECT_EQ(figures.rows()[2].back(), "threw");
}

TEST(ReportDocument, MarksTheEnvironmentThatDiffers) {
  Report report = example(true);
  report.peer_comparison = peer_comparison(report.gate.candidate, {});
  report.gate.baseline->run.environment["driver"] = "1";
  report.gate.candidate.environment["driver"] = "2";
  const Section origin = report_document(report).sections.back();
  const auto row_of = [&](std::string_view field) {
    return *std::ranges::find_if(origin.table.rows(),
                                 [&](const auto& row) { return row[0].text == field; });
  };
  EXPECT_THAT(row_of("driver"), testing::ElementsAre("driver", "1", "2"));
  EXPECT_EQ(row_of("driver")[1].tone, Tone::kBad);
  EXPECT_EQ(row_of("device")[1].tone, Tone::kPlain);
}

TEST(FailureDocument, SaysWhatIsWrongAndEscapesIt) {
  const std::string text = markdown(failure_document("fusegate", "x.json: <field>: bad"));
  EXPECT_THAT(text, HasSubstr("Could not judge"));
  EXPECT_THAT(text, HasSubstr("x.json: &#60;field&#62;: bad"));
}

TEST(EnvironmentText, ListsFieldsByName) {
  EXPECT_EQ(environment_text({{"power_limit_w", 700}, {"device", "NVIDIA H200"}, {"mig", false}}),
            "device NVIDIA H200, mig false, power_limit_w 700");
}

TEST(Describe, NamesDeviceCommitAndDate) {
  fusegate::baselines::Run run = example(false).gate.candidate;
  EXPECT_EQ(describe(run),
            "5 processes on NVIDIA H200, commit 0123456789ab, 2026-11-21T02:53:32+00:00");
  run.provenance.dirty = true;
  EXPECT_THAT(describe(run), HasSubstr("with uncommitted changes"));
  run.environment.clear();
  run.provenance = {};
  EXPECT_EQ(describe(run), "5 processes on an unnamed device");
}

}  // namespace
}  // namespace fusegate::ci
