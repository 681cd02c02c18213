#include "baselines/statistics/scatter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace fusegate::baselines {
namespace {

constexpr double kTail = 1e-4;

double near_quantile(const ScaledT& t) { return upper_quantile(t, 0.025); }
double far_quantile(const ScaledT& t) { return upper_quantile(t, kTail); }

template <typename Distribution>
std::vector<Residual> draws(int count, double scale, Distribution distribution, unsigned seed,
                            double error = 1e-4) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, error);
  std::vector<Residual> residuals;
  for (int i = 0; i < count; ++i) {
    residuals.push_back({scale * distribution(random) + noise(random), error, i % 3});
  }
  return residuals;
}

TEST(Scatter, EstimatesScaleAndTails) {
  const Scatter normal(draws(3000, 0.002, std::normal_distribution<double>(), 1), kTail);
  EXPECT_NEAR(near_quantile(normal.of(0)), 1.96 * 0.002, 0.0002);
  EXPECT_NEAR(far_quantile(normal.of(0)), 3.72 * 0.002, 0.001);
  const Scatter heavy(draws(3000, 0.002, std::student_t_distribution<double>(3), 2), kTail);
  EXPECT_NEAR(near_quantile(heavy.of(1)), 3.18 * 0.002, 0.0006);
  EXPECT_NEAR(far_quantile(heavy.of(1)), 22.2 * 0.002, 0.01);
}

TEST(Scatter, IsNoiseAloneWhereResidualsAreNoLarger) {
  const Scatter scatter(draws(300, 0, std::normal_distribution<double>(), 3, 0.002), kTail);
  EXPECT_LT(near_quantile(scatter.of(0)), 0.0015);
}

TEST(Scatter, OfNothingMayBeAnything) {
  const ScaledT any = Scatter({}, kTail).of(0);
  EXPECT_GT(near_quantile(any), 0.01);
  EXPECT_GT(far_quantile(any), 0.2);
}

TEST(Scatter, FewResidualsLeaveTheTailsOpen) {
  const auto of = [](int count) {
    return Scatter(draws(count, 0.001, std::normal_distribution<double>(), 4), kTail).of(0);
  };
  EXPECT_GT(far_quantile(of(6)), 4 * far_quantile(of(600)));
}

TEST(Scatter, GroupsKeepTheirScales) {
  auto residuals = draws(90, 0.0005, std::normal_distribution<double>(), 5);
  for (Residual& residual : residuals) {
    if (residual.group == 2) residual.value *= 8;
  }
  const Scatter scatter(residuals, kTail);
  EXPECT_GT(scatter.of(2).scale, 4 * scatter.of(0).scale);
  // One that nobody has seen may be like either.
  EXPECT_GT(near_quantile(scatter.of(7)), near_quantile(scatter.of(0)));
}

// What is promised of the next one, over many small samples of either kind.
TEST(Scatter, CoversTheNextOne) {
  std::mt19937 random(6);
  std::student_t_distribution<double> t(3);
  int covered = 0, all = 0;
  for (unsigned i = 0; i < 300; ++i) {
    const Scatter scatter(draws(40, 0.001, std::student_t_distribution<double>(3), 100 + i), kTail);
    for (int k = 0; k < 10; ++k, ++all) {
      covered += std::abs(0.001 * t(random)) < near_quantile(scatter.of(k % 3));
    }
  }
  EXPECT_NEAR(static_cast<double>(covered) / all, 0.95, 0.02);
}

}  // namespace
}  // namespace fusegate::baselines
