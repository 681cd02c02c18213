#include "baselines/comparing/family_contrast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace fusegate::baselines {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

RangeContrast contrast_of(const std::vector<RangeRow>& rows) {
  NormalEstimates estimates(0.95);
  return contrast_of_range(rows, estimates);
}

TEST(NormalEstimates, AreWiderForFewDegreesOfFreedom) {
  NormalEstimates estimates(0.95);
  EXPECT_NEAR(estimates.of({0.1, 0.01, kInfinity}).standard_error, 0.01, 1e-12);
  // Student's t with two degrees of freedom: 4.3027 where the normal has 1.96.
  EXPECT_NEAR(estimates.of({0.1, 0.01, 2}).standard_error, 0.01 * 4.3027 / 1.96, 1e-5);
  EXPECT_EQ(estimates.of({0.1, 0.01, 2}).effect, 0.1);
}

// Rows by five processes a side: what such a process does to all rows at once, and what is each
// row's own.
std::vector<RangeRow> rows_of(std::mt19937& random, double shared, double own, int count = 20) {
  std::normal_distribution<double> normal;
  std::vector<double> of_process;
  for (int i = 0; i < 10; ++i) of_process.push_back(shared * normal(random));
  std::vector<RangeRow> rows(static_cast<std::size_t>(count));
  for (RangeRow& row : rows) {
    double difference = 0;
    for (int i = 0; i < 10; ++i) {
      const double value = of_process[static_cast<std::size_t>(i)] + own * normal(random);
      (i < 5 ? row.sides.baseline : row.sides.candidate).push_back(value);
      difference += (i < 5 ? -value : value) / 5;
    }
    row.contrast = {difference, std::hypot(shared, own) * std::sqrt(0.4), kInfinity};
  }
  return rows;
}

TEST(ContrastOfRange, GetsSurerWithRowsWhoseNoiseIsTheirOwn) {
  std::mt19937 random(1);
  const RangeContrast range = contrast_of(rows_of(random, 0, 0.01));
  EXPECT_LT(range.contrast.standard_error, 0.01 * std::sqrt(0.4 / 20) * 2);
  EXPECT_GE(range.contrast.standard_error, 0.01 * std::sqrt(0.4 / 20) * 0.999);
}

TEST(ContrastOfRange, GetsNoSurerWithRowsThatShareTheirNoise) {
  std::mt19937 random(1);
  const RangeContrast range = contrast_of(rows_of(random, 0.01, 0.001));
  EXPECT_GT(range.contrast.standard_error, 0.01 * std::sqrt(0.4) / 2);
  EXPECT_EQ(range.contrast.degrees_of_freedom, 8);
}

// The interval keeps its promise whether noise is shared or not.
TEST(ContrastOfRange, CoversTheTruth) {
  std::mt19937 random(20261121);
  for (const double shared : {0.0, 0.003, 0.01}) {
    int covered = 0;
    for (int i = 0; i < 1000; ++i) {
      const RangeContrast range = contrast_of(rows_of(random, shared, 0.01, 8));
      const Interval interval = confidence_interval(range.contrast, 0.95);
      covered += interval.low <= 0 && interval.high >= 0;
    }
    EXPECT_GT(covered, 940) << shared;
  }
}

TEST(ContrastOfRange, UsesTheInvocationsThatAllRowsHave) {
  std::mt19937 random(1);
  std::vector<RangeRow> rows = rows_of(random, 0.01, 0.001);
  rows[3].sides.candidate.push_back(5);  // this benchmark alone was measured once more
  EXPECT_LT(contrast_of(rows).contrast.standard_error, 0.02);
}

TEST(ContrastOfRange, ComparesWithinBlocksWhereThereAreSome) {
  std::mt19937 random(1);
  std::vector<RangeRow> rows = rows_of(random, 0, 0.001);
  for (RangeRow& row : rows) {
    for (int block = 0; block < 5; ++block) {
      const double drift = 0.03 * block;  // the machine's, on both sides alike
      row.sides.baseline[static_cast<std::size_t>(block)] += drift;
      row.sides.candidate[static_cast<std::size_t>(block)] += drift;
    }
  }
  EXPECT_GT(contrast_of(rows).contrast.standard_error, 0.01);
  for (RangeRow& row : rows) {
    row.sides.baseline_blocks = row.sides.candidate_blocks = {1, 2, 3, 4, 5};
  }
  EXPECT_LT(contrast_of(rows).contrast.standard_error, 0.001);
}

TEST(ContrastOfRange, MoreRowsDoNotTellTwoCardsApart) {
  std::mt19937 random(1);
  std::vector<RangeRow> rows = rows_of(random, 0, 0.001);
  for (RangeRow& row : rows) row.between_cards = VarianceEstimate{0.007 * 0.007, 1};
  const Contrast contrast = contrast_of(rows).contrast;
  EXPECT_GT(contrast.standard_error, 0.007 * std::sqrt(2) * 0.999);
  EXPECT_LT(contrast.degrees_of_freedom, 1.1);
}

}  // namespace
}  // namespace fusegate::baselines
