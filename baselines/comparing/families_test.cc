// Sweeps whose truth is known, judged as the gate judges them. The seeds are fixed, so a failure is
// a change of the code and not of luck.
#include "baselines/comparing/families.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "baselines/record/test_run.h"

namespace fusegate::baselines {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct Shape {
  std::string family = "geglu/fused/bf16";
  int batch = 1;
  int seq = 128;
  int hidden = 3072;

  int rows() const { return batch * seq; }
  std::string name() const {
    return fmt::format("{}/batch:{}/seq:{}/dim:768/hidden:{}", family, batch, seq, hidden);
  }
};

struct Noise {
  double own = 0.001;  // standard deviation between invocations
  double shared = 0;   // of what a process does to all its benchmarks
  int invocations = 5;
};

struct Sweep {
  Run baseline;
  Run candidate;
};

class Simulator {
 public:
  explicit Simulator(unsigned seed = 20261121) : random_(seed) {}

  // slowdown: the true effect by shape.
  Sweep sweep(const std::vector<Shape>& shapes, const std::function<double(const Shape&)>& slowdown,
              const Noise& noise = {}) {
    const auto shared = [&] {
      std::vector<double> values;
      for (int i = 0; i < noise.invocations; ++i) values.push_back(noise.shared * normal_(random_));
      return values;
    };
    const std::vector<double> baseline = shared();
    const std::vector<double> candidate = shared();
    Sweep sweep;
    for (const Shape& shape : shapes) {
      sweep.baseline.benchmarks.push_back(series(shape.name(), 1, noise, baseline));
      sweep.candidate.benchmarks.push_back(
          series(shape.name(), 1 + slowdown(shape), noise, candidate));
    }
    return sweep;
  }
  double normal() { return normal_(random_); }
  double uniform() { return uniform_(random_); }

 private:
  BenchmarkSeries series(const std::string& name, double ratio, const Noise& noise,
                         const std::vector<double>& shared) {
    std::vector<double> times;
    for (const double of_process : shared) {
      times.push_back(1e4 * ratio * std::exp(of_process + noise.own * normal_(random_)));
    }
    return test_series(name, times);
  }

  std::mt19937 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
};

std::vector<FamilyFinding> findings_of(const Sweep& sweep, const Rule& rule = {}) {
  return find_families(sweep.baseline, sweep.candidate,
                       judge(sweep.baseline, sweep.candidate, rule), rule);
}

std::vector<Shape> grid(const std::string& family = "geglu/fused/bf16") {
  std::vector<Shape> shapes;
  for (const int batch : {1, 4, 16, 64}) {
    for (const int seq : {1, 128, 512}) {
      for (const int hidden : {3072, 11008}) shapes.push_back({family, batch, seq, hidden});
    }
  }
  return shapes;
}

TEST(FindFamilies, NothingWhereNothingChanged) {
  EXPECT_THAT(findings_of(Simulator().sweep(grid(), [](const Shape&) { return 0.0; })), IsEmpty());
}

TEST(FindFamilies, TellsFromWhereToWhereItIsSlower) {
  const auto findings = findings_of(Simulator().sweep(
      grid(), [](const Shape& shape) { return shape.rows() <= 1024 ? 0.03 : 0.0; }));
  ASSERT_THAT(findings, SizeIs(1));
  const FamilyFinding& finding = findings[0];
  EXPECT_EQ(finding.family, "geglu/fused/bf16");
  EXPECT_EQ(finding.range, "M <= 512");
  EXPECT_EQ(finding.trend, FamilyTrend::kSlower);
  EXPECT_TRUE(finding.certain_together);
  EXPECT_NEAR(finding.effect_time, 0.03, 0.001);
  EXPECT_NEAR(finding.effect_cycles, 0.03, 0.001);
  EXPECT_LT(finding.interval.low, 0.03);
  EXPECT_GT(finding.interval.high, 0.03);
  EXPECT_LT(finding.heterogeneity, 0.6);
  EXPECT_FALSE(finding.rows_differ);
  ASSERT_THAT(finding.rows, SizeIs(14));
  EXPECT_EQ(finding.regressions, 14u);
  EXPECT_EQ(finding.rows[0].benchmark, "geglu/fused/bf16/batch:1/seq:1/dim:768/hidden:3072");
  EXPECT_EQ(rows_text(finding), "all 14 are regressions");
}

TEST(FindFamilies, TellsThatItDependsOnHidden) {
  const auto findings = findings_of(Simulator().sweep(
      grid(), [](const Shape& shape) { return shape.hidden == 11008 ? 0.02 : 0.0; }));
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].range, "hidden 11008");
}

TEST(FindFamilies, NamesTheOneOddShape) {
  const auto findings = findings_of(Simulator().sweep(grid(), [](const Shape& shape) {
    return shape.batch == 4 && shape.seq == 128 && shape.hidden == 3072 ? 0.05 : 0.0;
  }));
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].range, "batch 4, seq 128, dim 768, hidden 3072");
  EXPECT_FALSE(findings[0].certain_together);
  EXPECT_EQ(rows_text(findings[0]), "a regression");
}

TEST(FindFamilies, SaysTogetherWhatNoSingleRowCanSay) {
  // Slower by 0.8 %, while a row's own interval is 1.8 % wide.
  const auto findings =
      findings_of(Simulator(3).sweep(grid(), [](const Shape&) { return 0.008; }, {.own = 0.007}));
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].range, "all 24 shapes");
  EXPECT_EQ(findings[0].regressions, 0u);
  EXPECT_TRUE(findings[0].certain_together);
  EXPECT_GT(findings[0].interval.low, 0.003);
  EXPECT_EQ(rows_text(findings[0]), "together slower, no single row is certain");
}

TEST(FindFamilies, OneFamilyWithoutAPatternIsOneFinding) {
  Simulator simulator;
  const auto findings = findings_of(
      simulator.sweep(grid(), [&](const Shape&) { return 0.02 + 0.02 * simulator.normal(); }));
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].range, "all 24 shapes");
  EXPECT_GT(findings[0].heterogeneity, 0.95);
  EXPECT_NEAR(findings[0].spread, 0.02, 0.008);
  EXPECT_TRUE(findings[0].rows_differ);
  EXPECT_THAT(rows_text(findings[0]), HasSubstr("rows differ, from -"));
}

TEST(FindFamilies, PutsTheWorstFirstAndTheFasterLast) {
  std::vector<Shape> shapes;
  for (const char* family : {"a/x/bf16", "b/x/bf16", "c/x/bf16"}) {
    for (const Shape& shape : grid(family)) shapes.push_back(shape);
  }
  const auto findings = findings_of(Simulator().sweep(shapes, [](const Shape& shape) {
    return shape.family[0] == 'a' ? -0.04 : shape.family[0] == 'b' ? 0.02 : 0.05;
  }));
  ASSERT_THAT(findings, SizeIs(3));
  EXPECT_EQ(findings[0].family, "c/x/bf16");
  EXPECT_EQ(findings[1].family, "b/x/bf16");
  EXPECT_EQ(findings[2].family, "a/x/bf16");
  EXPECT_EQ(findings[2].trend, FamilyTrend::kFaster);
  EXPECT_EQ(rows_text(findings[2]), "all 24 are improvements");
}

TEST(FindFamilies, SaysDtypesThatAgreeTogether) {
  std::vector<Shape> shapes = grid("geglu/fused/bf16");
  for (const Shape& shape : grid("geglu/fused/fp16")) shapes.push_back(shape);
  auto findings = findings_of(Simulator().sweep(shapes, [](const Shape&) { return 0.02; }));
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].family, "geglu/fused");
  EXPECT_EQ(findings[0].range, "all 48 benchmarks");
  findings = findings_of(Simulator().sweep(
      shapes, [](const Shape& shape) { return shape.family.ends_with("fp16") ? 0.02 : 0; }));
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].family, "geglu/fused/fp16");
  EXPECT_EQ(findings[0].range, "all 24 shapes");
}

TEST(FindFamilies, ReadsOtherProgramsNamesToo) {
  Sweep sweep;
  for (int i = 3; i < 13; ++i) {
    const std::string name = fmt::format("BM_copy/{}", 1 << i);
    const double ratio = i < 7 ? 1.04 : 1;
    sweep.baseline.benchmarks.push_back(test_series(name, {1000, 1001, 999, 1000.5}));
    sweep.candidate.benchmarks.push_back(
        test_series(name, {1000 * ratio, 1001 * ratio, 999.5 * ratio, 1000 * ratio}));
  }
  const auto findings = findings_of(sweep);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].family, "BM_copy");
  EXPECT_EQ(findings[0].range, "8 to 64");
}

TEST(FindFamilies, AFamilyOfOneIsItsRow) {
  const std::vector<Shape> one{{"geglu/fused/bf16", 8, 128, 3072}};
  EXPECT_THAT(findings_of(Simulator().sweep(one, [](const Shape&) { return 0.05; })), IsEmpty());
}

TEST(FindFamilies, AFamilyOfTwoAgreesOrDoesNot) {
  const std::vector<Shape> two{{"geglu/fused/bf16", 1}, {"geglu/fused/bf16", 8}};
  auto findings = findings_of(Simulator().sweep(two, [](const Shape&) { return 0.05; }));
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].range, "all 2 shapes");
  findings = findings_of(
      Simulator().sweep(two, [](const Shape& shape) { return shape.batch == 8 ? 0.05 : 0.0; }));
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].range, "batch 8, seq 128, dim 768, hidden 3072");
}

TEST(FindFamilies, ASlowerClockIsNoSlowerFamily) {
  Sweep sweep = Simulator().sweep(grid(), [](const Shape&) { return 0.02; });
  for (BenchmarkSeries& series : sweep.candidate.benchmarks) {
    for (InvocationSummary& summary : series.invocations) summary.cycles /= 1.02;
  }
  EXPECT_THAT(findings_of(sweep), IsEmpty());
}

TEST(FindFamilies, InTheSustainedRegimeCyclesAloneDecide) {
  Sweep sweep = Simulator().sweep(grid(), [](const Shape&) { return 0.02; });
  sweep.baseline.provenance.protocol = {{"regime", "sustained"}};
  sweep.candidate.provenance.protocol = {{"regime", "sustained"}};
  for (BenchmarkSeries& series : sweep.candidate.benchmarks) {
    for (InvocationSummary& summary : series.invocations) summary.time_ns /= 1.05;
  }
  const auto findings = findings_of(sweep);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_NEAR(findings[0].effect, 0.02, 0.001);
  EXPECT_GT(findings[0].interval.low, 0.015);
  EXPECT_NEAR(findings[0].rows[0].shrunken_effect, 0.02, 0.001);
}

TEST(FindFamilies, OfRunsSideBySideAreComparedBlockByBlock) {
  Sweep sweep = Simulator().sweep(grid(), [](const Shape&) { return 0.02; });
  const auto drift = [](fusegate::baselines::Run& run) {
    run.session = "one command";
    for (BenchmarkSeries& series : run.benchmarks) {
      int block = 0;
      for (InvocationSummary& summary : series.invocations) {
        summary.block = ++block;
        summary.time_ns *= 1 + 0.1 * block;
        summary.cycles *= 1 + 0.1 * block;
      }
    }
  };
  drift(sweep.baseline);
  drift(sweep.candidate);
  const auto findings = findings_of(sweep);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_TRUE(findings[0].certain_together);
  sweep.candidate.session = "another";
  EXPECT_THAT(findings_of(sweep), IsEmpty());
}

TEST(FindFamilies, WhatWasMeasuredAfreshIsNoInvocationOfAll) {
  Sweep sweep = Simulator().sweep(grid(), [](const Shape&) { return 0.02; });
  InvocationSummary fresh = sweep.candidate.benchmarks[3].invocations[0];
  fresh.extension = true;
  fresh.time_ns *= 1.1;
  sweep.candidate.benchmarks[3].invocations.push_back(fresh);
  const auto findings = findings_of(sweep);
  ASSERT_FALSE(findings.empty());
  EXPECT_TRUE(findings[0].certain_together);
  for (BenchmarkSeries& series : sweep.candidate.benchmarks) {
    for (InvocationSummary& summary : series.invocations) summary.extension = true;
  }
  EXPECT_THAT(findings_of(sweep), IsEmpty());
}

// A card holds a lower clock than another in all of its benchmarks: more rows tell no more of it.
TEST(FindFamilies, AnotherCardIsNoSlowerFamily) {
  Sweep sweep = Simulator().sweep(grid(), [](const Shape&) { return 0.01; });
  sweep.baseline.provenance.device_uuid = "GPU-1";
  sweep.candidate.provenance.device_uuid = "GPU-2";
  EXPECT_THAT(findings_of(sweep), IsEmpty());
  sweep.candidate.provenance.device_uuid = "GPU-1";
  EXPECT_THAT(findings_of(sweep), SizeIs(1));
}

TEST(FindFamilies, NothingIsBlamedOnCodeThatControlsShowToo) {
  std::vector<Shape> shapes = grid();
  for (const Shape& shape : grid("control_copy/memcpy/bf16")) shapes.push_back(shape);
  EXPECT_THAT(findings_of(Simulator().sweep(shapes, [](const Shape&) { return 0.02; })), IsEmpty());
  const auto findings = findings_of(Simulator().sweep(
      shapes, [](const Shape& shape) { return shape.family[0] == 'c' ? 0.02 : 0.05; }));
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].family, "geglu/fused/bf16");
}

TEST(FindFamilies, WithoutCyclesTimeDecides) {
  Sweep sweep = Simulator().sweep(grid(), [](const Shape&) { return 0.02; });
  sweep.candidate.benchmarks[5].invocations[0].cycles = std::nan("");
  const auto findings = findings_of(sweep);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_TRUE(std::isnan(findings[0].effect_cycles));
  EXPECT_EQ(findings[0].regressions, 24u);
}

TEST(FindFamilies, LeavesOutWhatSaysNothing) {
  const Sweep sweep = Simulator().sweep(grid(), [](const Shape&) { return 0.02; });
  auto verdicts = judge(sweep.baseline, sweep.candidate, {});
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  verdicts[0].log_time.standard_error = kInfinity;
  verdicts[1].log_time.standard_error = std::nan("");
  verdicts[2].log_time.effect = std::nan("");
  verdicts[3].log_time.standard_error = 0;
  verdicts[4].log_time = {};
  verdicts[5].candidate_invocations = 1;
  const auto findings = find_families(sweep.baseline, sweep.candidate, verdicts, {});
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].rows, SizeIs(18));
  for (Verdict& verdict : verdicts) verdict.log_time.standard_error = kInfinity;
  EXPECT_THAT(find_families(sweep.baseline, sweep.candidate, verdicts, {}), IsEmpty());
}

TEST(FindFamilies, OneInvocationASideSaysNothing) {
  EXPECT_THAT(
      findings_of(Simulator().sweep(grid(), [](const Shape&) { return 0.1; }, {.invocations = 1})),
      IsEmpty());
}

// Five hundred families of unchanged code, of which a suite has up to ten. Noise from 0.02 % to
// 1.7 %, as on an H200, and the same with half of it shared by all benchmarks of a process.
TEST(FindFamilies, InventsNothingUnderTheNull) {
  for (const double shared : {0.0, 0.004}) {
    Simulator simulator;
    std::size_t found = 0;
    for (int suite = 0; suite < 50; ++suite) {
      std::vector<Shape> shapes;
      for (int family = 0; family < 10; ++family) {
        for (const Shape& shape : grid(fmt::format("op{}/x/bf16", family))) shapes.push_back(shape);
      }
      const double own = 2e-4 * std::pow(85, simulator.uniform());
      const Noise noise{.own = own, .shared = shared, .invocations = 3 + suite % 3};
      found += findings_of(simulator.sweep(
                               shapes, [](const Shape&) { return 0.0; }, noise))
                   .size();
    }
    EXPECT_LE(found, 3u) << shared;
  }
}

}  // namespace
}  // namespace fusegate::baselines
