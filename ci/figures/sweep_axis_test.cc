#include "ci/figures/sweep_axis.h"

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
  const SweepPlace place = SweepAxes(all).place(all[0]);
  EXPECT_EQ(place.axis, "M");
  EXPECT_EQ(place.along, 128);
  EXPECT_EQ(shape_text(place.shape), "dim 768, hidden 3072");
  EXPECT_EQ(shape_text(place.split), "batch 2, seq 64");
}

TEST(SweepAxes, AreElseWhatVariesMost) {
  const auto all = names({"softmax/a/fp16/heads:8/kv:4096", "softmax/a/fp16/heads:16/kv:4096",
                          "scan/a/fp32/batch:2/items:10", "scan/a/fp32/batch:4/items:20"});
  const SweepAxes axes(all);
  EXPECT_EQ(axes.place(all[1]).axis, "heads");
  EXPECT_EQ(axes.place(all[1]).along, 16);
  EXPECT_EQ(shape_text(axes.place(all[1]).shape), "kv 4096");
  EXPECT_EQ(axes.place(all[2]).axis, "items") << "of equals the last";
  EXPECT_TRUE(axes.place(all[2]).split.empty()) << "batch alone is no M";
}

TEST(SweepAxes, TakeANameThatLacksTheAxis) {
  const auto all =
      names({"softmax/a/fp16/heads:8", "softmax/a/fp16/heads:9", "softmax/b/fp16/rows:7"});
  EXPECT_EQ(SweepAxes(all).place(all[2]).axis, "rows");
  EXPECT_EQ(SweepAxes({}).place(all[0]).axis, "heads");
  EXPECT_EQ(shape_text(SweepAxes(all).place(all[0]).shape), "");
}

}  // namespace
}  // namespace fusegate::ci
