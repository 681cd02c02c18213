#include "baselines/comparing/verdict_reason.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "baselines/record/test_run.h"

namespace fusegate::baselines {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A benchmark that was not called, with these effects in time, in cycles and at equal clock; the
// interval lies half a percent around the last.
class UndecidedReason : public ::testing::Test {
 protected:
  std::string reason(double time, double cycles, double equal_clock) {
    Comparison comparison{.baseline = &series_, .candidate = &series_};
    comparison.time = contrast(time);
    comparison.cycles = contrast(cycles);
    comparison.equal_clock = contrast(equal_clock);
    Verdict verdict;
    verdict.kind = VerdictKind::kInconclusive;
    verdict.effect = equal_clock;
    verdict.effect_time = time;
    verdict.effect_cycles = cycles;
    verdict.interval = {equal_clock - 0.005, equal_clock + 0.005};
    return reason_of(comparison, circumstances_, verdict, rule_);
  }

  Circumstances circumstances_;
  Rule rule_;

 private:
  static Contrast contrast(double effect) { return {std::log1p(effect), 0.002, 4}; }

  BenchmarkSeries series_ = test_series("a", {1000, 1001});
};

TEST_F(UndecidedReason, SaysThatTimeAndCyclesDisagreeOnlyWhereTheyDo) {
  EXPECT_THAT(reason(0.001, 0.02, 0.01),
              HasSubstr("+1.00 % at equal clock, but time (+0.10 %) and cycles (+2.00 %) do not"));
  EXPECT_THAT(reason(-0.001, -0.02, -0.01), HasSubstr("do not both show it"));
  // Both do: it is the suite's other benchmarks that it takes more certainty for.
  EXPECT_THAT(reason(0.01, 0.01, 0.01), HasSubstr("not far enough to call it"));
  EXPECT_THAT(reason(-0.01, -0.01, -0.01), HasSubstr("not far enough to call it"));
}

TEST_F(UndecidedReason, HasNoSuchDisagreementWhereCyclesAloneDecide) {
  circumstances_.cycles_alone = true;
  EXPECT_THAT(reason(0.001, 0.02, 0.01), Not(HasSubstr("do not both show it")));
}

TEST_F(UndecidedReason, NamesBothEndsOfABandWhoseEndsDiffer) {
  EXPECT_THAT(reason(0, 0, 0), HasSubstr("reaches past 0.30 %,"));
  // 1 / 1.5 is 33 % faster.
  rule_.min_effect = 0.5;
  EXPECT_THAT(reason(-0.333, -0.333, -0.333), HasSubstr("reaches past [-33.33, +50.00] %,"));
  EXPECT_THAT(reason(-0.4, -0.1, -0.4), HasSubstr("do not both show it"));
  circumstances_.other_card = true;
  EXPECT_THAT(reason(-0.333, -0.333, -0.333),
              HasSubstr("widened by what two cards differ by, reaches past [-33.33, +50.00] %"));
}

}  // namespace
}  // namespace fusegate::baselines
