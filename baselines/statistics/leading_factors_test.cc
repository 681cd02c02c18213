#include "baselines/statistics/leading_factors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace fusegate::baselines {
namespace {

class TwoFactors : public testing::Test {
 protected:
  TwoFactors() {
    for (auto& loadings : loadings_) {
      for (int i = 0; i < kRows; ++i) loadings.push_back(normal_(random_));
    }
  }

  std::vector<double> card(double first, double second, double noise) {
    std::vector<double> values;
    for (std::size_t i = 0; i < kRows; ++i) {
      values.push_back(first * loadings_[0][i] + second * loadings_[1][i] +
                       noise * normal_(random_));
    }
    return values;
  }

  static constexpr int kRows = 300;
  std::mt19937 random_{3};
  std::normal_distribution<double> normal_;
  Factors loadings_{2};
};

TEST_F(TwoFactors, AreLearntFromCardsAndTakenOutOfAnother) {
  std::vector<std::vector<double>> cards;
  for (int i = 0; i < 20; ++i) cards.push_back(card(3 * normal_(random_), normal_(random_), 0.5));
  const Factors factors = leading_factors(cards, 2);
  ASSERT_EQ(factors.size(), 2u);
  std::vector<double> values = card(4, -2, 0.5);
  values[7] += 50;  // code
  std::vector<FactorRow> rows;
  for (std::size_t i = 0; i < kRows; ++i) {
    rows.push_back({values[i] + 1, 0.25, {1, factors[0][i], factors[1][i]}});
  }
  const auto [scores, error] = factor_scores(rows);
  EXPECT_NEAR(scores[0], 1, 4 * error);
  EXPECT_NEAR(error, 0.5 / std::sqrt(kRows), 0.02);
  double squares = 0;
  for (std::size_t i = 0; i < kRows; ++i) {
    const double left = values[i] - scores[1] * factors[0][i] - scores[2] * factors[1][i];
    if (i == 7) {
      EXPECT_NEAR(left, 50, 2.5);
    } else {
      squares += left * left;
    }
  }
  EXPECT_NEAR(std::sqrt(squares / kRows), 0.6, 0.1);
}

TEST_F(TwoFactors, AreNoMoreThanThereAre) {
  EXPECT_EQ(leading_factors({card(1, 0, 0), card(-1, 0, 0)}, 2).size(), 1u);
  EXPECT_TRUE(leading_factors({std::vector<double>(5), {NAN, 0, 0, 0, 0}}, 2).empty());
}

}  // namespace
}  // namespace fusegate::baselines
