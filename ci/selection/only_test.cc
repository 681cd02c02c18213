#include "ci/selection/only.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"
#include "baselines/io/scratch_folder.h"
#include "baselines/record/test_run.h"

namespace fusegate::ci {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSubsetOf;
using ::testing::SizeIs;

baselines::Run fifty() {
  std::vector<baselines::BenchmarkSeries> all;
  for (int i = 10; i < 60; ++i) {
    all.push_back(baselines::test_series(fmt::format("row/{}", i), {100.0 * i, 101.0 * i}));
  }
  return baselines::test_run(std::move(all));
}

class OnlyTest : public ::testing::Test {
 protected:
  Only from(const std::string& text) { return Only({.file = folder_.write("diff.json", text)}); }
  std::string problem_of(const std::string& text) try {
    from(text);
    return "none";
  } catch (const baselines::InputError& error) {
    return error.what();
  }

  baselines::ScratchFolder folder_;
};

TEST_F(OnlyTest, TakesWhatAPatternFits) {
  const Only only({.patterns = {"/1[01]$", "59"}});
  EXPECT_TRUE(only.takes("row/10"));
  EXPECT_TRUE(only.takes("row/59"));
  EXPECT_FALSE(only.takes("row/12"));
  EXPECT_EQ(only.reason(), "not asked for: --only /1[01]$, --only 59");
}

TEST_F(OnlyTest, TakesWhatCanHaveChanged) {
  const Only only = from(R"({"fusegate_codes_diff": 1, "gpu": "some",
      "benchmarks": {"all": 50, "touched": ["row/10"], "choosing": ["row/11"], "unknown": ["row/20"]}})");
  EXPECT_TRUE(only.takes("row/10"));
  EXPECT_TRUE(only.takes("row/11")) << "it autotunes, and may choose what changed";
  EXPECT_TRUE(only.takes("row/20")) << "nobody knows what it launches";
  EXPECT_FALSE(only.takes("row/30"));
  EXPECT_THAT(only.reason(), HasSubstr("--only-from "));
}

TEST_F(OnlyTest, TakesAllWhereTheHostsCodeChanged) {
  const Only only = from(R"({"fusegate_codes_diff": 1, "gpu": "identify",
      "benchmarks": {"all": 50, "touched": ["row/10"], "choosing": [], "unknown": []}})");
  EXPECT_TRUE(only.takes("row/30"));
  EXPECT_THAT(only.asked(fifty(), ControlUse::kSideBySide), SizeIs(50));
}

TEST_F(OnlyTest, AsksForControlsToo) {
  const Only only({.patterns = {"/10$"}});
  const auto side_by_side = only.asked(fifty(), ControlUse::kSideBySide);
  EXPECT_THAT(side_by_side, SizeIs(1 + 2 * kControlsSideBySide));
  EXPECT_THAT(side_by_side, Contains("row/10"));
  EXPECT_THAT(only.asked(fifty(), ControlUse::kStored), SizeIs(1 + kControls));
}

TEST_F(OnlyTest, AsksForWhatTheStoredRunLacks) {
  const Only only = from(R"({"fusegate_codes_diff": 1, "gpu": "some",
      "benchmarks": {"all": 1, "touched": ["new"], "choosing": [], "unknown": []}})");
  EXPECT_THAT(only.asked(fifty(), ControlUse::kSideBySide), Contains("new"));
}

TEST_F(OnlyTest, RefusesWhatNamesNoBenchmarks) {
  EXPECT_THAT(problem_of("{}"), HasSubstr("diff.json: fusegate_codes_diff: is missing"));
  EXPECT_THAT(problem_of(R"({"fusegate_codes_diff": 1, "gpu": "some", "benchmarks": null})"),
              HasSubstr("diff.json: benchmarks: names none: give codes-diff the --baseline"));
  EXPECT_THAT(
      problem_of(R"({"fusegate_codes_diff": 1, "gpu": "some", "benchmarks": {"touched": ["a"]}})"),
      HasSubstr("benchmarks.choosing"));
}

}  // namespace
}  // namespace fusegate::ci
