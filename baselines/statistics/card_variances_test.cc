#include "baselines/statistics/card_variances.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "baselines/statistics/moderated_contrasts.h"

namespace fusegate::baselines {
namespace {

// Standard deviations, of logarithms.
struct Truth {
  double process = 0.001;
  double card = 0.003;   // card x benchmark
  double group = 0.004;  // what a card does to all rows of a group
};

struct MeasuredCards {
  int baseline = 5;
  int candidate = 1;
  int processes = 2;
};

constexpr int kRows = 60, kGroups = 3;

class SimulatedCards {
 public:
  SimulatedCards(const Truth& truth, unsigned seed) : truth_(truth), random_(seed) {}

  std::vector<CardRow> suite(const MeasuredCards& cards) {
    std::vector<CardRow> rows(kRows);
    for (int row = 0; row < kRows; ++row) {
      rows[static_cast<std::size_t>(row)].group = row % kGroups;
      rows[static_cast<std::size_t>(row)].sides.covariate = row;
    }
    for (int card = 0; card < cards.baseline + cards.candidate; ++card) {
      add_card(card, card < cards.baseline, cards.processes, rows);
    }
    return rows;
  }

 private:
  double draw(double deviation) { return deviation * normal_(random_); }

  void add_card(int card, bool is_baseline, int processes, std::vector<CardRow>& rows) {
    std::vector<double> groups;
    for (int group = 0; group < kGroups; ++group) groups.push_back(draw(truth_.group));
    for (CardRow& row : rows) {
      const double level = groups[static_cast<std::size_t>(row.group)] + draw(truth_.card);
      SideValues& side = is_baseline ? row.sides.baseline : row.sides.candidate;
      for (int process = 0; process < processes; ++process) {
        side.values.push_back(level + draw(truth_.process));
        side.cards.push_back(card);
      }
    }
  }

  Truth truth_;
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
};

std::vector<TwoSides> sides_of(const std::vector<CardRow>& suite) {
  std::vector<TwoSides> sides;
  for (const CardRow& row : suite) sides.push_back(row.sides);
  return sides;
}

// The share of p values of "slower by more than nothing" below the level, where nothing is.
double alarm_rate(const Truth& truth, const MeasuredCards& cards, double level) {
  SimulatedCards simulated(truth, 7);
  int alarms = 0;
  constexpr int kSuites = 400;
  for (int i = 0; i < kSuites; ++i) {
    const std::vector<CardRow> suite = simulated.suite(cards);
    const auto contrasts = moderated_contrasts(sides_of(suite));
    const auto variances = card_variances(suite);
    for (std::size_t row = 0; row < suite.size(); ++row) {
      Contrast contrast = contrasts[row].contrast;
      add_cards(variances[row], contrasts[row].variance, contrast);
      alarms += p_above(contrast, 0) < level;
    }
  }
  return static_cast<double>(alarms) / (kSuites * kRows);
}

TEST(CardVariances, AreNotKnownFromOneCardASide) {
  SimulatedCards simulated({}, 1);
  for (const CardVariance& own : card_variances(simulated.suite({.baseline = 1}))) {
    EXPECT_FALSE(own.is_known());
  }
}

TEST(CardVariances, AreThoseOfTheCards) {
  SimulatedCards simulated({}, 2);
  double own = 0;
  double group = 0;
  constexpr int kSuites = 100;
  for (int i = 0; i < kSuites; ++i) {
    for (const CardVariance& variance : card_variances(simulated.suite({}))) {
      EXPECT_TRUE(variance.is_known());
      EXPECT_DOUBLE_EQ(variance.noise_share, 0.5);
      EXPECT_DOUBLE_EQ(variance.share(), 1.2);
      EXPECT_EQ(variance.group.degrees_of_freedom, 4);
      own += variance.own.variance / (kSuites * kRows);
      group += variance.group.variance / (kSuites * kRows);
    }
  }
  EXPECT_NEAR(own, 0.003 * 0.003 + 0.001 * 0.001 / 2, 0.05 * own);
  EXPECT_NEAR(group, 0.004 * 0.004, 0.12 * group);
}

// However many rows a card moves together, it is one card: taken row by row, sixty rows that all
// moved would know the cards as if there were sixty.
TEST(CardVariances, RaiseNoMoreAlarmsThanTheLevel) {
  for (const double level : {0.05, 0.01}) {
    EXPECT_LT(alarm_rate({}, {}, level), 1.2 * level);
    EXPECT_LT(alarm_rate({.group = 0.0003}, {.baseline = 4}, level), 1.2 * level);
  }
  // More processes than the baseline's cards had: wider than need be, never narrower.
  EXPECT_LT(alarm_rate({}, {.processes = 5}, 0.01), 0.014);
  EXPECT_LT(alarm_rate({}, {.baseline = 3, .candidate = 3}, 0.01), 0.014);
}

// However many rows agree: a card of another kind moves many of them.
TEST(AddCards, KnowsNoMoreThanTheNumberOfCards) {
  SimulatedCards simulated({.group = 0.0003}, 4);
  const std::vector<CardRow> suite = simulated.suite({.baseline = 4});
  const auto contrasts = moderated_contrasts(sides_of(suite));
  const auto variances = card_variances(suite);
  EXPECT_GT(variances[0].own.degrees_of_freedom, 10);
  Contrast contrast = contrasts[0].contrast;
  add_cards(variances[0], contrasts[0].variance, contrast);
  EXPECT_LE(contrast.degrees_of_freedom, 3);
}

TEST(CardVariances, ARowThatCardsMoveFurtherIsLessSure) {
  SimulatedCards simulated({}, 3);
  std::vector<CardRow> suite = simulated.suite({});
  for (double& value : suite[7].sides.baseline.values) value *= 5;
  const auto variances = card_variances(suite);
  EXPECT_GT(variances[7].own.variance, 4 * variances[10].own.variance);
}

}  // namespace
}  // namespace fusegate::baselines
