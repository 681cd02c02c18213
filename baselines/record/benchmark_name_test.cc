#include "baselines/record/benchmark_name.h"

#include <gtest/gtest.h>

namespace fusegate::baselines {
namespace {

TEST(ParseBenchmarkName, ReadsEveryPart) {
  const auto name =
      parse_benchmark_name("geglu_mlp/fused_pointwise/bf16/batch:64/seq:128/dim:768/hidden:3072");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->operation, "geglu_mlp");
  EXPECT_EQ(name->implementation, "fused_pointwise");
  EXPECT_EQ(name->dtype, "bf16");
  EXPECT_EQ(name->rows(), 64 * 128);
  EXPECT_EQ(name->dim, 768);
  EXPECT_EQ(name->hidden, 3072);
  EXPECT_EQ(problem_text(*name), "batch 64, seq 128, dim 768, hidden 3072");
}

TEST(ParseBenchmarkName, LeavesOtherNamesAlone) {
  for (const char* name : {
           "",
           "BM_copy/1024",
           "a/b/c",
           "a/b/c/batch:1/seq:1/dim:1",
           "a/b/c/batch:1/seq:1/dim:1/hidden:1/manual_time",
           "a/b/c/batch:0/seq:1/dim:1/hidden:1",
           "a/b/c/batch:-1/seq:1/dim:1/hidden:1",
           "a/b/c/batch:1x/seq:1/dim:1/hidden:1",
           "a/b/c/seq:1/batch:1/dim:1/hidden:1",
           "/b/c/batch:1/seq:1/dim:1/hidden:1",
           "a/b/c/batch1/seq:1/dim:1/hidden:1",
           "a/b/c/batch:99999999999999999999/seq:1/dim:1/hidden:1",
           "a/b/c/batch:9999999999/seq:9999999999/dim:1/hidden:1",
       }) {
    EXPECT_FALSE(parse_benchmark_name(name)) << name;
  }
}

}  // namespace
}  // namespace fusegate::baselines
