#include "baselines/launches/launch_facts.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fusegate::baselines {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> texts(const std::vector<LaunchFact>& facts) {
  std::vector<std::string> texts;
  for (const LaunchFact& fact : facts) {
    texts.push_back(
        fmt::format("{}: {} -> {} [{}]", fact.what, fact.before, fact.after, fact.unit));
  }
  return texts;
}

std::vector<std::string> changed(const LaunchIdentity& before, const LaunchIdentity& after) {
  return texts(changed_facts(before, after));
}

const LaunchIdentity kKernel{
    .instructions = 1204,
    .launch =
        "grid 192x1x1, block 128x1x1, cluster 2x1x1, cluster scheduling 1, 0 + 10240 B "
        "shared, 166 registers, 0 B local, carveout 100 %"};

TEST(LaunchFacts, AreThoseThatDiffer) {
  EXPECT_THAT(changed(kKernel, kKernel), IsEmpty());
  const LaunchIdentity other{
      .instructions = 1310,
      .launch =
          "grid 96x2x1, block 256x1x1, cluster 1x1x1, cluster scheduling 1, 2048 + 0 B "
          "shared, 168 registers, 64 B local, carveout 100 %"};
  EXPECT_THAT(changed(kKernel, other),
              ElementsAre("grid: 192 -> 96x2 []", "block: 128 -> 256 [threads]",
                          "cluster: 2x1x1 -> 1x1x1 []", "dynamic shared memory: 0 -> 2048 [B]",
                          "static shared memory: 10240 -> 0 [B]", "registers: 166 -> 168 []",
                          "local memory: 0 -> 64 [B]", "instructions: 1204 -> 1310 []"));
}

TEST(LaunchFacts, HaveWhatOneSideAloneHas) {
  EXPECT_THAT(changed({.launch = "grid 8x1x1, cooperative"}, {.launch = "grid 8x1x1, priority 3"}),
              ElementsAre("priority: none -> 3 []", "cooperative: yes -> none []"));
}

TEST(LaunchFacts, OfAMemoryOperationAreWhole) {
  EXPECT_THAT(
      changed({.launch = "4 x 1 elements of 1 B, pitch 0, value 0"},
              {.launch = "8 x 1 elements of 1 B, pitch 0, value 1"}),
      ElementsAre("size: 4 x 1 elements of 1 B -> 8 x 1 elements of 1 B []", "value: 0 -> 1 []"));
}

TEST(LaunchFacts, NeverCompareInstructionsThatASideDoesNotKnow) {
  LaunchIdentity older = kKernel;
  older.instructions = 0;
  EXPECT_THAT(changed(older, kKernel), IsEmpty());
  EXPECT_THAT(changed(kKernel, older), IsEmpty());
}

TEST(LaunchFacts, ThatAreKeptAreWhatACompilerGives) {
  LaunchIdentity other = kKernel;
  EXPECT_THAT(texts(kept_facts(kKernel, other)),
              ElementsAre("registers: 166 -> 166 []", "static shared memory: 10240 -> 10240 [B]",
                          "instructions: 1204 -> 1204 []"));
  other.instructions = 0;
  other.launch = "4 x 1 elements of 1 B, pitch 0, value 0";
  EXPECT_THAT(kept_facts(kKernel, other), IsEmpty());
}

TEST(LaunchFacts, OfAnyTextAreRead) {
  for (const char* text : {", ,grid , block x", " B shared", " registers", " B local", " + ", ""}) {
    EXPECT_NO_THROW(changed_facts({}, {.launch = text})) << text;
  }
}

}  // namespace
}  // namespace fusegate::baselines
