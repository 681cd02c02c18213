#include "baselines/statistics/card_factors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace fusegate::baselines {
namespace {

// Four stored cards and a new one that differ by one factor of 0.3 % and by 0.01 % of their own;
// every other row is of identical code.
struct Cards {
  std::vector<CardFactorRow> rows;
  std::vector<double> truth;  // what the new card does to each row
};

Cards one_factor(unsigned seed, int count) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> scores(5);
  for (double& score : scores) score = 0.003 * normal(random);
  Cards cards;
  for (int i = 0; i < count; ++i) {
    const double loading = normal(random);
    std::vector<double> values;
    for (const double score : scores) values.push_back(score * loading + 1e-4 * normal(random));
    const double mean = (values[0] + values[1] + values[2] + values[3]) / 4;
    CardFactorRow& row = cards.rows.emplace_back();
    for (int card = 0; card < 4; ++card) row.deviations.push_back(values.at(card) - mean);
    row.contrast = {values[4] - mean, 2e-4, 20};
    row.is_identical = i % 2 == 0;
    cards.truth.push_back(values[4] - mean);
  }
  return cards;
}

double rms_error(const Cards& cards, const std::vector<CardPrediction>& predictions) {
  double squares = 0;
  for (std::size_t i = 1; i < cards.rows.size(); i += 2) {
    squares += std::pow(predictions[i].shift - cards.truth[i], 2);
  }
  return std::sqrt(squares / static_cast<double>(cards.rows.size() / 2));
}

TEST(CardFactors, IdenticalCodeShowsWhatANewCardDoesToTheOthers) {
  for (const unsigned seed : {1u, 2u, 3u}) {
    const Cards cards = one_factor(seed, 100);
    EXPECT_LT(rms_error(cards, predict_card(cards.rows)), 0.0004);
  }
}

// A change of code in a row cannot be taken for the card.
TEST(CardFactors, OtherRowsDoNotCount) {
  Cards cards = one_factor(4, 100);
  const auto before = predict_card(cards.rows);
  for (std::size_t i = 1; i < cards.rows.size(); i += 2) cards.rows[i].contrast.effect += 0.05;
  const auto after = predict_card(cards.rows);
  EXPECT_DOUBLE_EQ(before[1].shift, after[1].shift);
}

TEST(CardFactors, AFewRowsFarOffDoNotLead) {
  Cards cards = one_factor(5, 100);
  for (std::size_t i = 0; i < 8; i += 2) cards.rows[i].contrast.effect += 0.02;
  EXPECT_LT(rms_error(cards, predict_card(cards.rows)), 0.0006);
}

// A row that the cards move in a way that no row of identical code shows.
TEST(CardFactors, WhatIsNotDeterminedStaysInTheError) {
  Cards cards = one_factor(6, 100);
  cards.rows[1].deviations = {0.02, -0.02, 0.001, -0.001};
  const auto predictions = predict_card(cards.rows);
  EXPECT_GT(std::sqrt(predictions[1].error.variance), 0.005);
  EXPECT_LT(std::sqrt(predictions[3].error.variance), 0.002);
  EXPECT_EQ(predictions[1].error.degrees_of_freedom, 3);
}

// Of few processes a card: what these err by is in what is predicted from them.
TEST(CardFactors, TheNoiseOfStoredCardsStaysInTheErrorToo) {
  constexpr double kNoise = 0.002;
  std::mt19937 random(9);
  std::normal_distribution<double> normal(0, kNoise);
  int covered = 0, all = 0;
  for (unsigned seed = 20; seed < 60; ++seed) {
    Cards cards = one_factor(seed, 100);
    for (std::size_t i = 1; i < cards.rows.size(); i += 2) {
      for (double& deviation : cards.rows[i].deviations) deviation += normal(random);
      cards.rows[i].noise = {kNoise * kNoise, 100};
    }
    const auto predictions = predict_card(cards.rows);
    for (std::size_t i = 1; i < cards.rows.size(); i += 2, ++all) {
      covered += std::abs(predictions[i].shift - cards.truth[i]) <
                 3 * std::sqrt(predictions[i].error.variance + 1e-8);
    }
  }
  EXPECT_GT(covered, 0.98 * all);
}

TEST(CardFactors, OneStoredCardOrFewRowsPredictNothing) {
  Cards one_card = one_factor(7, 100);
  for (CardFactorRow& row : one_card.rows) row.deviations = {0};
  for (const Cards& cards : {one_card, one_factor(8, 10)}) {
    for (const CardPrediction& own : predict_card(cards.rows)) EXPECT_EQ(own.shift, 0);
  }
}

}  // namespace
}  // namespace fusegate::baselines
