#include "baselines/comparing/outlier_processes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "baselines/comparing/judge.h"
#include "baselines/record/test_run.h"

namespace fusegate::baselines {
namespace {

constexpr double kMinEffect = 0.003;

// A suite of a process for each factor, in which every row scatters by 0.05 % in its own way.
Run run_with(const std::vector<double>& factors, int rows = 12) {
  std::vector<BenchmarkSeries> suite;
  for (int row = 0; row < rows; ++row) {
    std::vector<double> times;
    for (std::size_t process = 0; process < factors.size(); ++process) {
      const double own =
          1 + 1e-4 * static_cast<double>((row * 7 + static_cast<int>(process) * 5) % 11 - 5);
      times.push_back(1e4 * (1 + row) * factors[process] * own);
    }
    suite.push_back(test_series(fmt::format("{:02}", row), times));
  }
  Run run = test_run(std::move(suite));
  number_processes(run);
  return run;
}

TEST(Outliers, AreNamedWithTheirDeviation) {
  const auto outliers = outlier_processes(run_with({1, 1, 1.1, 1, 1}), kMinEffect);
  ASSERT_EQ(outliers.size(), 1u);
  EXPECT_EQ(outliers[0].process, 2);
  EXPECT_EQ(outliers[0].name, "3");
  EXPECT_NEAR(outliers[0].relative_deviation, 0.1, 0.001);
  EXPECT_EQ(outliers[0].benchmarks, 12u);
  EXPECT_TRUE(outliers[0].is_set_aside);
  EXPECT_NEAR(outlier_processes(run_with({1, 0.95, 1, 1}), kMinEffect).at(0).relative_deviation,
              -0.05, 0.001);
}

TEST(Outliers, OfThreeAreNamedAndKept) {
  const auto outliers = outlier_processes(run_with({1, 1, 1.1}), kMinEffect);
  ASSERT_EQ(outliers.size(), 1u);
  EXPECT_FALSE(outliers[0].is_set_aside);
  EXPECT_TRUE(outlier_processes(run_with({1, 1.1}), kMinEffect).empty());
}

TEST(Outliers, MustDeviateByWhatMattersAndByMoreThanInliersDo) {
  EXPECT_TRUE(outlier_processes(run_with({1, 1, 1, 1.1}), 0.2).empty());
  EXPECT_TRUE(outlier_processes(run_with({1, 1.03, 0.98, 1.1}), kMinEffect).empty());
  EXPECT_EQ(outlier_processes(run_with({1, 1.003, 1.001, 1.1}), kMinEffect).size(), 1u);
}

TEST(Outliers, AreAQuarterAtMost) {
  EXPECT_EQ(outlier_processes(run_with({1, 1, 1, 1, 1, 1, 1.1, 0.9}), kMinEffect).size(), 2u);
  EXPECT_TRUE(outlier_processes(run_with({1, 1, 1, 1.1, 1.1}), kMinEffect).empty());
}

TEST(Outliers, AreNotFoundByFewBenchmarks) {
  EXPECT_TRUE(outlier_processes(run_with({1, 1, 1, 1.1}, 7), kMinEffect).empty());
  EXPECT_EQ(outlier_processes(run_with({1, 1, 1, 1.1}, 8), kMinEffect).size(), 1u);
}

TEST(Outliers, AreHeldAgainstTheirCard) {
  auto run = run_with({1, 1, 1, 1, 1.1, 1.1, 1.1, 1.2});
  run.cards = {"one", "two"};
  for (BenchmarkSeries& series : run.benchmarks) {
    for (std::size_t i = 4; i < 8; ++i) series.processes[i].card = 1;
  }
  const auto outliers = outlier_processes(run, kMinEffect);
  ASSERT_EQ(outliers.size(), 1u);
  EXPECT_EQ(outliers[0].process, 7);
}

TEST(Judge, SetsAnOutlierAside) {
  auto slower = run_with({1, 1, 1.1, 1, 1});
  for (ProcessSummary& summary : slower.benchmarks[0].processes) {
    summary.time_ns *= 1.05;
    summary.cycles *= 1.05;
  }
  const auto verdicts = judge(run_with({1, 1, 1, 1}), slower, {});
  EXPECT_EQ(verdicts[0].kind, VerdictKind::kRegression);
  EXPECT_NEAR(verdicts[0].estimates.effect, 0.05, 0.002);
  EXPECT_EQ(verdicts[0].candidate.processes, 4);
  EXPECT_EQ(verdicts[1].kind, VerdictKind::kUnchanged);
}

}  // namespace
}  // namespace fusegate::baselines
