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
  EXPECT_EQ(name->axis("dim"), 768);
  EXPECT_EQ(name->axis("hidden"), 3072);
  EXPECT_EQ(name->axis("heads"), 0);
  EXPECT_EQ(problem_text(*name), "batch 64, seq 128, dim 768, hidden 3072");
}

TEST(ParseBenchmarkName, ReadsAnyAxes) {
  const auto name = parse_benchmark_name("softmax/online/fp8_e4m3/heads:16/kv:4096");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->dtype, "fp8_e4m3");
  EXPECT_EQ(name->axis("kv"), 4096);
  EXPECT_EQ(name->rows(), 0);
  EXPECT_EQ(problem_text(*name), "heads 16, kv 4096");
}

TEST(ParseBenchmarkName, ReadsNamesFractionsAndSwitches) {
  const auto name = parse_benchmark_name("attention/a/fp16/kind:gelu/kv:4096/p:0.5/causal:true");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->axis("kv"), 4096);
  EXPECT_EQ(problem_text(*name), "kv 4096, kind gelu, p 0.5, causal true");
  EXPECT_EQ(dtype_text(*name), "fp16, kind gelu, p 0.5, causal true");
  EXPECT_TRUE(parse_benchmark_name("a/b/c/kv:1/p:1e-06/q:-0.5/r:0.0"));
  EXPECT_FALSE(parse_benchmark_name("a/b/c/kind:gelu")) << "there is nothing to sweep over";
  EXPECT_FALSE(parse_benchmark_name("a/b/c/kv:1/kind:gelu/kind:silu"));
}

TEST(ParseBenchmarkName, LeavesOtherNamesAlone) {
  for (const char* name : {
           "",
           "BM_copy/1024",
           "a/b/c",
           "a/b/c/heads",
           "a/b/c/heads:1/heads:1",
           "a/b/c/1x:1",
           "a/b/c/:1",
           "a/b/c/heads:1/",
           "BM_sort/8/16/n:4",
           "BM_sort/m:8/std/n:16",
           "BM_sort/random/std/threads:4",
           "BM_sort/random/std/n:4/repeats:3",
           "a/b/c/batch:1/seq:1/dim:1/hidden:1/manual_time",
           "a/b/c/batch:0/seq:1/dim:1/hidden:1",
           "a/b/c/batch:-1/seq:1/dim:1/hidden:1",
           "a/b/c/batch:1x/seq:1/dim:1/hidden:1",
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
