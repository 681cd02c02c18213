#include "ci/selection/control_choice.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace fusegate::ci {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::UnorderedElementsAre;

// Calls of 2, 20 and 200 us, of memory ("m") and of arithmetic ("a"), ten of each: the higher the
// number, the more they take.
std::vector<KnownBenchmark> sixty() {
  std::vector<KnownBenchmark> all;
  for (const double time_us : {2, 20, 200}) {
    for (int i = 0; i < 10; ++i) {
      const double time_ns = 1e3 * time_us * (1 + 0.01 * i);
      all.push_back({fmt::format("m{}/{}", time_us, i), time_ns, time_ns * 1e3, time_ns * 3e3});
      all.push_back({fmt::format("a{}/{}", time_us, i), time_ns, time_ns * 6e5, time_ns * 1e3});
    }
  }
  return all;
}

std::vector<KnownBenchmark> changed() {
  return {{"x", 1.5e3, 3e6, 9e6}, {"y", 15e3, 3e7, 9e7}, {"z", 150e3, 3e8, 9e8}};
}

TEST(ControlsSideBySide, AreTheCheapestOfEachDurationAndBound) {
  EXPECT_THAT(controls_side_by_side(sixty(), changed()),
              UnorderedElementsAre("a2/0", "a20/0", "a200/0", "m2/0", "m20/0", "m200/0"));
}

TEST(ControlsSideBySide, AreOfEachDurationFirst) {
  EXPECT_THAT(controls_side_by_side(sixty(), changed(), 3),
              UnorderedElementsAre(HasSubstr("2/0"), HasSubstr("20/0"), HasSubstr("200/0")));
}

TEST(ControlsSideBySide, DependOnNoOrder) {
  std::vector<KnownBenchmark> equal = sixty();
  const auto chosen = controls_side_by_side(equal, changed());
  std::mt19937_64 random(3);
  for (int i = 0; i < 5; ++i) {
    std::ranges::shuffle(equal, random);
    EXPECT_EQ(controls_side_by_side(equal, changed()), chosen);
  }
}

TEST(ControlsSideBySide, HaveThoseThatTheSuiteDeclares) {
  std::vector<KnownBenchmark> equal = sixty();
  equal.push_back({"control_copy/memcpy", 40e3, 0, 4e7, true});
  equal.push_back({"control_gemm/cublas", 60e3, 4e10, 4e7, true});
  const auto chosen = controls_side_by_side(equal, changed());
  EXPECT_THAT(chosen, SizeIs(kControlsSideBySide));
  EXPECT_THAT(chosen, Contains("control_copy/memcpy"));
  EXPECT_THAT(chosen, Contains("control_gemm/cublas"));
  // Those two are of the second third.
  EXPECT_THAT(chosen, Not(Contains("m20/0")));
  EXPECT_THAT(chosen, Not(Contains("a20/0")));
}

TEST(ControlsSideBySide, AreNoMoreWhereTheSuiteDeclaresMore) {
  std::vector<KnownBenchmark> equal;
  for (int i = 0; i < 12; ++i)
    equal.push_back({.name = fmt::format("control_copy/{:02}", i), .is_control = true});
  equal.push_back({"a"});
  EXPECT_THAT(controls_side_by_side(equal, changed()), SizeIs(kControlsSideBySide));
  EXPECT_THAT(controls_side_by_side(equal, changed()), Not(Contains("a")));
}

TEST(ControlsSideBySide, ChooseNoKernelWhereAnotherDoesNot) {
  std::vector<KnownBenchmark> equal;
  for (int i = 0; i < 8; ++i) {
    const double size = 1e6 * (1 + i);
    equal.push_back({fmt::format("tuned/{}", i), 1e3, size, size, false, true});
    equal.push_back({fmt::format("fixed/{}", i), 1e3, 20 * size, 20 * size});
  }
  for (const std::string& name : controls_side_by_side(equal, {})) {
    EXPECT_TRUE(name.starts_with("fixed/")) << name;
  }
}

TEST(ControlsSideBySide, GoBySizesWhereNothingElseIsKnown) {
  std::vector<KnownBenchmark> equal;
  for (int batch = 1; batch <= 64; batch *= 2) {
    equal.push_back({fmt::format("geglu/fused/batch:{}/seq:128", batch)});
  }
  const std::vector<KnownBenchmark> differing{
      {"geglu/new/batch:2/seq:128"}, {"geglu/new/batch:8/seq:128"}, {"geglu/new/batch:32/seq:128"}};
  const auto chosen = controls_side_by_side(equal, differing);
  EXPECT_THAT(chosen, SizeIs(6));
  EXPECT_THAT(chosen, Not(Contains("geglu/fused/batch:4/seq:128"))) << "the third of its third";
}

TEST(ControlsSideBySide, AreAllWhereThereAreFew) {
  EXPECT_THAT(controls_side_by_side({{"a"}, {"b"}}, changed()), UnorderedElementsAre("a", "b"));
  EXPECT_THAT(controls_side_by_side({}, changed()), IsEmpty());
}

TEST(ControlsForStored, AreAsManyAsShowWhatTheMachineDoes) {
  std::vector<KnownBenchmark> equal = sixty();
  equal.push_back({.name = "control_copy/memcpy", .is_control = true});
  const auto chosen = controls_for_stored(equal);
  EXPECT_THAT(chosen, SizeIs(kControls));
  EXPECT_THAT(chosen, Contains("control_copy/memcpy"));
}

}  // namespace
}  // namespace fusegate::ci
