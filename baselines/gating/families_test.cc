#include "baselines/gating/families.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fusegate::baselines {
namespace {

Verdict verdict(const std::string& benchmark, double effect,
                VerdictKind kind = VerdictKind::kUnchanged) {
  Verdict verdict;
  verdict.benchmark = benchmark;
  verdict.estimates.effect = effect;
  verdict.kind = kind;
  return verdict;
}

TEST(FamilyOf, EndsBeforeTheFirstParameter) {
  EXPECT_EQ(family_of("geglu/fused/bf16/batch:64/seq:128/dim:768/hidden:3072"), "geglu/fused/bf16");
  EXPECT_EQ(family_of("gemm/m:8192/n:3072/k:768"), "gemm");
  EXPECT_EQ(family_of("BM_copy/4096/repeats:10"), "BM_copy");
  EXPECT_EQ(family_of("BM_copy/stream/4096"), "BM_copy/stream");
  EXPECT_EQ(family_of("BM_copy"), "BM_copy");
  EXPECT_EQ(family_of("BM_copy/manual_time"), "BM_copy/manual_time");
  EXPECT_EQ(family_of(""), "");
}

TEST(Families, CountTheirRowsAndGiveRangeAndGeometricMean) {
  const std::vector<Family> families = families_of(
      {verdict("geglu/fused/bf16/batch:1", 0.10, VerdictKind::kRegression),
       verdict("geglu/fused/bf16/batch:8", -0.02), verdict("geglu/fused/fp32/batch:1", 0.5),
       verdict("geglu/fused/bf16/batch:64", -0.01, VerdictKind::kImprovement)});
  ASSERT_EQ(families.size(), 2u);
  EXPECT_EQ(families[0].name, "geglu/fused/fp32");  // the slowest first
  EXPECT_FALSE(families[0].changed());
  const Family& bf16 = families[1];
  EXPECT_EQ(bf16.name, "geglu/fused/bf16");
  EXPECT_EQ(bf16.rows, 3u);
  EXPECT_EQ(bf16.regressions, 1u);
  EXPECT_EQ(bf16.improvements, 1u);
  EXPECT_TRUE(bf16.changed());
  EXPECT_DOUBLE_EQ(bf16.lowest_effect, -0.02);
  EXPECT_DOUBLE_EQ(bf16.highest_effect, 0.10);
  EXPECT_NEAR(bf16.mean_effect, std::cbrt(1.10 * 0.98 * 0.99) - 1, 1e-12);
}

TEST(Families, LeaveOutControlsIdenticalCodeAndWhatHasNoEffect) {
  std::vector<Verdict> verdicts{verdict("control_copy/memcpy/4096", 0.2),
                                verdict("a/b/batch:8", 0.2, VerdictKind::kIdentical),
                                verdict("a/b/batch:1", std::nan(""), VerdictKind::kNew)};
  verdicts[0].is_control = true;
  EXPECT_TRUE(families_of(verdicts).empty());
}

}  // namespace
}  // namespace fusegate::baselines
