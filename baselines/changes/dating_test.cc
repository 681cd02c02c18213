#include "baselines/changes/dating.h"

#include <gtest/gtest.h>

#include <random>

namespace fusegate::baselines {
namespace {

std::vector<KnownNormal> step(double size, std::size_t from, std::size_t count) {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  std::vector<KnownNormal> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back({normal(random) + (i >= from ? size : 0), 1});
  return values;
}

const auto kNothingKnown = [](std::size_t) { return false; };

TEST(Dating, FindsTheFirstElementAfterAStep) {
  for (const std::size_t after : {2u, 3u, 20u}) {
    const DatedChange change = date_change(step(12, 40, 40 + after), kNothingKnown);
    EXPECT_EQ(change.first, 40u);
    EXPECT_NEAR(change.effect, 12, 4 * std::sqrt(change.variance));
    EXPECT_NEAR(change.variance, 1 / 40.0 + 1.0 / static_cast<double>(after), 1e-9);
  }
}

TEST(Dating, IsNotMisledByAnOddNight) {
  auto values = step(5, 40, 44);
  values[20].value = 100;
  EXPECT_EQ(date_change(values, kNothingKnown).first, 40u);
}

TEST(Dating, PrefersWhereSomethingIsKnownToHaveChanged) {
  std::vector<KnownNormal> values(40);
  values.push_back({0.7, 1});
  values.insert(values.end(), 9, {1.5, 1});
  const auto first_where = [&](std::size_t known) {
    return date_change(values, [=](std::size_t i) { return i == known; }).first;
  };
  EXPECT_EQ(date_change(values, kNothingKnown).first, 41u);
  EXPECT_EQ(first_where(40), 40u);
  EXPECT_EQ(first_where(10), 41u);
}

TEST(Dating, TwoElementsAreOneChange) {
  EXPECT_EQ(date_change(step(9, 1, 2), kNothingKnown).first, 1u);
  EXPECT_EQ(date_change(step(9, 1, 3), kNothingKnown).first, 1u);
}

}  // namespace
}  // namespace fusegate::baselines
