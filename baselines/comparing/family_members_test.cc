#include "baselines/comparing/family_members.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fusegate::baselines {
namespace {

using testing::ElementsAre;

std::string name(const std::string& dtype, int batch, int seq, int dim = 768, int hidden = 3072) {
  return "geglu/fused/" + dtype + "/batch:" + std::to_string(batch) +
         "/seq:" + std::to_string(seq) + "/dim:" + std::to_string(dim) +
         "/hidden:" + std::to_string(hidden);
}

std::vector<std::string> benchmarks_of(const Family& family) {
  std::vector<std::string> names;
  for (const FamilyMember& member : family.members) names.push_back(member.benchmark);
  return names;
}

std::string described(const Family& family, const std::vector<std::size_t>& part) {
  const FamilyRange range = describe_range(family, part);
  return range.family + ", " + range.range;
}

TEST(FamiliesOf, AreOperationAndImplementationOrderedByM) {
  const auto families =
      families_of({name("bf16", 64, 128), name("bf16", 8, 128), name("bf16", 1, 128),
                   "geglu/unfused/bf16/batch:1/seq:1/dim:8/hidden:8"});
  ASSERT_EQ(families.size(), 2u);
  EXPECT_EQ(families[0].name, "geglu/fused");
  EXPECT_THAT(benchmarks_of(families[0]),
              ElementsAre(name("bf16", 1, 128), name("bf16", 8, 128), name("bf16", 64, 128)));
  EXPECT_EQ(families[1].name, "geglu/unfused");
}

TEST(FamiliesOf, OtherNamesGoByTheirFirstPartAndByNumbers) {
  const auto families = families_of({"BM_copy/1024/2", "BM_copy/64/10", "BM_copy/64/2", "BM_copy",
                                     "BM_sort/8", "geglu/fused", "BM_copy/64/x", "BM_copy/064/2"});
  ASSERT_EQ(families.size(), 3u);
  EXPECT_EQ(families[0].name, "BM_copy");
  EXPECT_THAT(benchmarks_of(families[0]),
              ElementsAre("BM_copy", "BM_copy/64/2", "BM_copy/64/10", "BM_copy/64/x",
                          "BM_copy/064/2", "BM_copy/1024/2"));
  EXPECT_EQ(families[2].name, "geglu");
}

TEST(DescribeRange, NamesWhatSetsThePartApart) {
  const Family family = families_of({name("bf16", 1, 128), name("bf16", 8, 128),
                                     name("bf16", 64, 128), name("bf16", 64, 512)})[0];
  EXPECT_EQ(described(family, {0, 1, 2, 3}), "geglu/fused/bf16, all 4 shapes");
  EXPECT_EQ(described(family, {0, 1}), "geglu/fused/bf16, M <= 1024");
  EXPECT_EQ(described(family, {2, 3}), "geglu/fused/bf16, M >= 8192");
  EXPECT_EQ(described(family, {1, 2}), "geglu/fused/bf16, M 1024 to 8192");
  EXPECT_EQ(described(family, {0, 3}), "geglu/fused/bf16, 2 of 4 shapes");
  EXPECT_EQ(described(family, {0, 2}), "geglu/fused/bf16, M <= 8192, 2 of 3 shapes");
  EXPECT_EQ(described(family, {1}), "geglu/fused/bf16, batch 8, seq 128, dim 768, hidden 3072");
}

TEST(DescribeRange, NamesHiddenAndDim) {
  const Family family =
      families_of({name("bf16", 1, 1, 768, 3072), name("bf16", 1, 1, 768, 11008),
                   name("bf16", 1, 1, 4096, 3072), name("bf16", 1, 1, 4096, 11008),
                   name("bf16", 8, 1, 768, 3072), name("bf16", 8, 1, 768, 11008),
                   name("bf16", 8, 1, 4096, 3072), name("bf16", 8, 1, 4096, 11008)})[0];
  EXPECT_EQ(described(family, {2, 3, 6, 7}), "geglu/fused/bf16, hidden 11008");
  EXPECT_EQ(described(family, {0, 2, 4, 6}), "geglu/fused/bf16, dim 768");
  EXPECT_EQ(described(family, {6, 7}), "geglu/fused/bf16, M 8, hidden 11008");
}

TEST(DescribeRange, NamesNoAxisThatSaysNothingNew) {
  const Family family =
      families_of({name("bf16", 1, 1, 768, 3072), name("bf16", 8, 1, 768, 3072),
                   name("bf16", 1, 1, 4096, 11008), name("bf16", 64, 1, 4096, 11008)})[0];
  EXPECT_EQ(described(family, {0, 2}), "geglu/fused/bf16, hidden 3072");
  EXPECT_EQ(described(family, {1, 3}), "geglu/fused/bf16, hidden 11008");
}

TEST(DescribeRange, SaysDtypesTogether) {
  const Family family =
      families_of({name("bf16", 1, 128), name("fp16", 1, 128), name("bf16", 8, 128),
                   name("fp16", 8, 128), name("fp32", 1, 128), name("fp32", 8, 128)})[0];
  EXPECT_EQ(described(family, {0, 1, 2, 3, 4, 5}), "geglu/fused, all 6 benchmarks");
  EXPECT_EQ(described(family, {0, 1, 2}), "geglu/fused, M 128");
  EXPECT_EQ(described(family, {0, 3}), "geglu/fused/bf16, all 2 shapes");
  EXPECT_EQ(described(family, {0, 1, 3, 4}), "geglu/fused, bf16, fp16");
}

TEST(DescribeRange, OfOtherNamesIsFromOneToAnother) {
  const Family family = families_of({"BM_copy/8", "BM_copy/64", "BM_copy/512", "BM_copy/4096"})[0];
  EXPECT_EQ(described(family, {0, 1, 2, 3}), "BM_copy, all 4 benchmarks");
  EXPECT_EQ(described(family, {0, 1}), "BM_copy, 8 to 64");
  EXPECT_EQ(described(family, {0, 2}), "BM_copy, 8 to 512, 2 of 3 benchmarks");
  EXPECT_EQ(described(family, {3}), "BM_copy, 4096");
}

}  // namespace
}  // namespace fusegate::baselines
