// Runs that other tools measured, five processes a side, with the code as it was and with a part of
// it slowed (baselines/formats/testdata/README.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/scratch_folder.h"
#include "ci/gate/judging.h"

namespace fusegate::ci {
namespace {

using baselines::ExitCode;
using baselines::VerdictKind;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

namespace fs = std::filesystem;

const fs::path kFormats = FUSEGATE_FORMATS;

GateFacts judged_files(const fs::path& baseline, const fs::path& candidate) {
  JudgingRequest request;
  request.baseline = {baseline};
  request.candidate = {candidate};
  return ci::judged(request);
}

std::vector<std::string> called(const GateFacts& facts) {
  std::vector<std::string> names;
  for (const baselines::Verdict& verdict : facts.result.verdicts) {
    if (verdict.kind == VerdictKind::kRegression || verdict.kind == VerdictKind::kImprovement) {
      names.push_back(verdict.benchmark);
    }
  }
  return names;
}

// One benchmark or six do not show how far a machine moved.
TEST(OfNvbench, UnchangedCodePassesAndFivePercentAreRuledOut) {
  for (const char* program : {"throughput", "axes"}) {
    const GateFacts facts = judged_files(kFormats / "nvbench" / program / "base",
                                         kFormats / "nvbench" / program / "same");
    EXPECT_EQ(facts.result.exit_code, ExitCode::kNoRegression) << program;
    EXPECT_THAT(called(facts), IsEmpty());
    for (const baselines::Verdict& verdict : facts.result.verdicts) {
      EXPECT_LT(verdict.estimates.ruled_out, 0.05) << verdict.benchmark;
    }
  }
}

TEST(OfNvbench, FailsWhatCopiesFourPercentMoreAndNamesNothingElse) {
  const fs::path program = kFormats / "nvbench/axes";
  const GateFacts facts = judged_files(program / "base", program / "slow");
  EXPECT_EQ(facts.result.exit_code, ExitCode::kRegression);
  EXPECT_THAT(called(facts),
              UnorderedElementsAre("copy_sweep_grid_shape/BlockSize:256/NumBlocks:256",
                                   "copy_sweep_grid_shape/BlockSize:256/NumBlocks:1024"));
  const baselines::Verdict& worst = facts.result.verdicts.front();
  EXPECT_NEAR(worst.estimates.effect, 0.0404, 0.0005);
  EXPECT_NEAR(worst.estimates.in_cycles, 0.0406, 0.0005);
  EXPECT_TRUE(std::isfinite(worst.estimates.at_equal_clock));
}

// A single benchmark, 3.9 % slower than in another session.
TEST(OfNvbench, ItsThroughputExampleFails) {
  const fs::path program = kFormats / "nvbench/throughput";
  const GateFacts facts = judged_files(program / "base", program / "slow");
  EXPECT_EQ(facts.result.exit_code, ExitCode::kRegression);
  EXPECT_THAT(called(facts), ElementsAre("throughput_bench"));
}

// Files without the folders beside them.
fs::path without_samples(const baselines::ScratchFolder& folder, const std::string& side) {
  for (int i = 1; i <= 5; ++i) {
    const std::string name = std::to_string(i) + ".json";
    folder.write(side + "/" + name, baselines::read_file(kFormats / "nvbench/axes" / side / name));
  }
  return folder.path() / side;
}

TEST(OfNvbench, MeansAloneAreJudgedTooAndSaidToBeDoubtful) {
  const baselines::ScratchFolder folder;
  const fs::path base = without_samples(folder, "base");
  EXPECT_THAT(baselines::load_run({base}).warnings, ElementsAre(baselines::Warning::kMeansOnly));
  EXPECT_EQ(judged_files(base, without_samples(folder, "same")).result.exit_code,
            ExitCode::kNoRegression);
  const GateFacts facts = judged_files(base, without_samples(folder, "slow"));
  EXPECT_EQ(facts.result.exit_code, ExitCode::kRegression);
  EXPECT_THAT(called(facts), testing::SizeIs(2));
}

TEST(OfNvbench, MeansAreNotComparedWithSamples) {
  const baselines::ScratchFolder folder;
  const GateFacts facts =
      judged_files(kFormats / "nvbench/axes/base", without_samples(folder, "slow"));
  EXPECT_EQ(facts.result.exit_code, ExitCode::kCouldNotJudge);
  EXPECT_THAT(called(facts), IsEmpty());
  EXPECT_THROW(
      baselines::load_run({kFormats / "nvbench/axes/base/1.json", folder.path() / "slow/2.json"}),
      baselines::InputError);
}

TEST(OfNvbench, AnAcceptedRunJudgesTheNext) {
  const baselines::ScratchFolder folder;
  baselines::Baseline baseline;
  baseline.acceptance = {"somebody", "2026-11-22T21:00:00+00:00", "first"};
  baseline.run = baselines::load_run({kFormats / "nvbench/axes/base"});
  EXPECT_THAT(reasons_not_to_accept(baseline.run), IsEmpty());
  const fs::path stored = folder.write("axes.json", baseline_text(baseline));
  EXPECT_EQ(judged_files(stored, kFormats / "nvbench/axes/same").result.exit_code,
            ExitCode::kNoRegression);
  EXPECT_EQ(judged_files(stored, kFormats / "nvbench/axes/slow").result.exit_code,
            ExitCode::kRegression);
}

// Measured on two shared cores, whose noise decides little.
TEST(OfPytestBenchmark, UnchangedCodeIsNotBlamedAndTheSlowedTestIsNamed) {
  const fs::path tests = kFormats / "pytest-benchmark";
  EXPECT_THAT(called(judged_files(tests / "base", tests / "same")), IsEmpty());
  const GateFacts facts = judged_files(tests / "base", tests / "slow");
  EXPECT_EQ(facts.result.exit_code, ExitCode::kRegression);
  EXPECT_THAT(called(facts), ElementsAre("test_small.py::test_checksum"));
}

}  // namespace
}  // namespace fusegate::ci
