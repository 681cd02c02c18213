#include "ci/sweep/sweep_axis.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace fusegate::ci {
namespace {

std::vector<baselines::BenchmarkName> names(std::initializer_list<const char*> texts) {
  std::vector<baselines::BenchmarkName> names;
  for (const char* text : texts) names.push_back(*baselines::parse_benchmark_name(text));
  return names;
}

TEST(SweepAxes, AreMWhereThereAreBatchAndSeq) {
  const auto all = names({"geglu/fused/bf16/batch:2/seq:64/dim:768/hidden:3072",
                          "geglu/fused/bf16/batch:2/seq:64/dim:768/hidden:4096"});
  const SweepPosition position = SweepAxes(all).position(all[0]);
  EXPECT_EQ(position.axis, "M");
  EXPECT_EQ(position.along, 128);
  EXPECT_EQ(shape_text(position.shape), "dim 768, hidden 3072");
  EXPECT_EQ(shape_text(position.split), "batch 2, seq 64");
}

TEST(SweepAxes, AreElseWhatVariesMost) {
  const auto all = names({"softmax/a/fp16/heads:8/kv:4096", "softmax/a/fp16/heads:16/kv:4096",
                          "scan/a/fp32/batch:2/items:10", "scan/a/fp32/batch:4/items:20"});
  const SweepAxes axes(all);
  EXPECT_EQ(axes.position(all[1]).axis, "heads");
  EXPECT_EQ(axes.position(all[1]).along, 16);
  EXPECT_EQ(shape_text(axes.position(all[1]).shape), "kv 4096");
  EXPECT_EQ(axes.position(all[2]).axis, "items") << "of equals the last";
  EXPECT_TRUE(axes.position(all[2]).split.empty()) << "batch alone is no M";
}

TEST(SweepAxes, TakeANameThatLacksTheAxis) {
  const auto all =
      names({"softmax/a/fp16/heads:8", "softmax/a/fp16/heads:9", "softmax/b/fp16/rows:7"});
  EXPECT_EQ(SweepAxes(all).position(all[2]).axis, "rows");
  EXPECT_EQ(SweepAxes({}).position(all[0]).axis, "heads");
  EXPECT_EQ(shape_text(SweepAxes(all).position(all[0]).shape), "");
}

}  // namespace
}  // namespace fusegate::ci
