#include "baselines/comparing/clock_share.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {
namespace {

// A process's samples of a kernel whose time goes with the clock by the share.
struct Kernel {
  double share = 0.8;
  double clock_noise = 0.002;
  double time_noise = 0.0005;
};

struct Samples {
  std::vector<double> times_ns;
  std::vector<double> cycles;
};

Samples sample(const Kernel& kernel, int count, std::mt19937_64& random, double clock_shift = 0) {
  std::normal_distribution<double> normal;
  Samples samples;
  for (int i = 0; i < count; ++i) {
    const double clock = clock_shift + kernel.clock_noise * normal(random);  // logarithms
    const double time = std::log(1e4) - kernel.share * clock + kernel.time_noise * normal(random);
    samples.times_ns.push_back(std::exp(time));
    samples.cycles.push_back(std::exp(time + clock) * 1.8);
  }
  return samples;
}

ProcessSummary summary_of(const Samples& samples) {
  ProcessSummary summary;
  summary.time_ns = fast_half(samples.times_ns);
  summary.cycles = fast_half(samples.cycles);
  summary.clock_fit = fit_clock(samples.times_ns, samples.cycles);
  return summary;
}

BenchmarkSeries series_of(const Kernel& kernel, int processes, int samples,
                          std::mt19937_64& random) {
  BenchmarkSeries series;
  for (int i = 0; i < processes; ++i) {
    series.processes.push_back(summary_of(sample(kernel, samples, random)));
  }
  return series;
}

TEST(ClockShareTest, FitsTheSumsOfATextbookExample) {
  // Logarithms of time 0, 0.1, 0.5 and of the clock 0, -0.1, -0.2: deviations -0.2, -0.1, 0.3 and
  // 0.1, 0, -0.1.
  const ClockFit fit =
      fit_clock({1, std::exp(0.1), std::exp(0.5)}, {1, std::exp(0.0), std::exp(0.3)});
  EXPECT_NEAR(fit.time_squares, 0.14, 1e-12);
  EXPECT_NEAR(fit.clock_squares, 0.02, 1e-12);
  EXPECT_NEAR(fit.products, -0.05, 1e-12);
  EXPECT_EQ(fit.degrees_of_freedom, 2);
}

TEST(ClockShareTest, FindsTheShare) {
  std::mt19937_64 random(1);
  for (const double share : {0.0, 0.3, 0.8, 1.0}) {
    const BenchmarkSeries series = series_of({.share = share}, 10, 48, random);
    EXPECT_NEAR(clock_share({&series}), share, 0.05) << share;
  }
}

TEST(ClockShareTest, TakesTheSamplesOfAllSeriesTogether) {
  std::mt19937_64 random(2);
  const BenchmarkSeries one = series_of({.share = 0.2}, 5, 48, random);
  const BenchmarkSeries other = series_of({.share = 0.6}, 5, 48, random);
  EXPECT_NEAR(clock_share({&one, &other}), 0.4, 0.05);
}

// Processes at other clocks do not show the share: other code may have brought them there.
TEST(ClockShareTest, ComparesWithinProcessesAlone) {
  std::mt19937_64 random(3);
  BenchmarkSeries series;
  for (int i = 0; i < 10; ++i) {
    Samples samples = sample({.share = 0.8}, 48, random);
    for (double& cycles : samples.cycles) cycles *= 1 + 0.05 * i;  // a faster clock, the same time
    series.processes.push_back(summary_of(samples));
  }
  EXPECT_NEAR(clock_share({&series}), 0.8, 0.05);
}

TEST(ClockShareTest, IsDrawnToAHalfBySamplesThatShowLittle) {
  std::mt19937_64 random(4);
  const BenchmarkSeries noisy =
      series_of({.share = 0, .clock_noise = 1e-4, .time_noise = 0.01}, 5, 48, random);
  EXPECT_NEAR(clock_share({&noisy}), 0.5, 0.05);
  BenchmarkSeries unknown;
  unknown.processes.push_back({.time_ns = 1, .cycles = 1});
  EXPECT_EQ(clock_share({&unknown}), 0);
}

TEST(ClockShareTest, MayBeAnythingWhereTheClockIsLocked) {
  std::mt19937_64 random(5);
  const BenchmarkSeries locked = series_of({.clock_noise = 0, .time_noise = 0.001}, 5, 48, random);
  EXPECT_TRUE(std::isfinite(clock_share({&locked})));
  const BenchmarkSeries frozen = series_of({.clock_noise = 0, .time_noise = 0}, 5, 48, random);
  EXPECT_TRUE(std::isfinite(clock_share({&frozen})));
}

TEST(ClockShareTest, LeavesOutSamplesThatWereDisturbed) {
  std::mt19937_64 random(6);
  BenchmarkSeries series;
  for (int i = 0; i < 10; ++i) {
    Samples samples = sample({.share = 0.8}, 48, random);
    samples.times_ns[0] *= 1.5;  // while the clock was fast
    samples.cycles[0] *= 1.5 * 1.05;
    series.processes.push_back(summary_of(samples));
    EXPECT_LE(series.processes.back().clock_fit.degrees_of_freedom, 46);
  }
  EXPECT_NEAR(clock_share({&series}), 0.8, 0.05);
}

TEST(ClockShareTest, LearnsFromClocksThatDipped) {
  std::mt19937_64 random(9);
  const Kernel kernel{.share = 0.8, .clock_noise = 2e-4, .time_noise = 0.001};
  BenchmarkSeries dipping;
  for (int i = 0; i < 10; ++i) {
    Samples samples = sample(kernel, 46, random);
    const Samples dip = sample(kernel, 2, random, -0.15);
    samples.times_ns.insert(samples.times_ns.end(), dip.times_ns.begin(), dip.times_ns.end());
    samples.cycles.insert(samples.cycles.end(), dip.cycles.begin(), dip.cycles.end());
    dipping.processes.push_back(summary_of(samples));
  }
  EXPECT_NEAR(clock_share({&dipping}), 0.8, 0.01);
}

// What it is for: processes that ran at clocks of their own agree at equal clock.
TEST(ClockShareTest, TakesTheClockOut) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  BenchmarkSeries series;
  for (int i = 0; i < 40; ++i) {
    series.processes.push_back(summary_of(sample({}, 48, random, 0.002 * normal(random))));
  }
  const auto deviation = [&](double share) {
    std::vector<double> values;
    for (const ProcessSummary& summary : series.processes) {
      values.push_back(log_at_share(summary, share));
    }
    return std::sqrt(pooled_variance({values}).variance);
  };
  const double at_equal_clock = deviation(clock_share({&series}));
  EXPECT_LT(at_equal_clock, 0.15 * deviation(0));
  EXPECT_LT(at_equal_clock, 0.5 * deviation(1));
}

TEST(ClockShareTest, MixesTimeAndCycles) {
  const ProcessSummary summary{.time_ns = std::exp(2.0), .cycles = std::exp(6.0)};
  EXPECT_NEAR(log_at_share(summary, 0), 2, 1e-12);
  EXPECT_NEAR(log_at_share(summary, 1), 6, 1e-12);
  EXPECT_NEAR(log_at_share(summary, 0.25), 3, 1e-12);
  const ProcessSummary without{.time_ns = 1, .cycles = std::numeric_limits<double>::quiet_NaN()};
  EXPECT_EQ(log_at_share(without, 0), 0);
}

}  // namespace
}  // namespace fusegate::baselines
