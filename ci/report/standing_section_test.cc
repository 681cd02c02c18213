#include "ci/report/standing_section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "ci/console/test_table.h"

namespace fusegate::ci {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// One problem with peers, one where the peer failed, one without, one that ours failed at.
OperationStanding operation(bool with_yardsticks) {
  const auto problem = [](std::int64_t batch) {
    return baselines::BenchmarkName{
        "geglu_mlp", "", "bf16", {{"batch", batch}, {"seq", 128}, {"dim", 768}, {"hidden", 3072}}};
  };
  const Yardstick yardstick = with_yardsticks ? Yardstick{10e3, 8, 0.125, 0.1} : Yardstick{};
  const BoundClass bound =
      with_yardsticks ? BoundClass{Bound::kMemory, Bound::kLaunch} : BoundClass{};
  OperationStanding standing{"geglu_mlp", "bf16", {"fused", "unfused"}, {"liger"}, {}};
  standing.problems = {
      {problem(1),
       {{"fused", 80e3, "", yardstick, bound}, {"unfused", 90e3, "", {}}},
       {{"liger", 160e3, ""}}},
      {problem(2), {{"fused", 80e3, "", yardstick, bound}}, {{"liger", kNan, "threw"}}},
      {problem(3), {{"fused", 80e3, "", yardstick, bound}}, {}},
      {problem(4), {{"fused", kNan, "threw", {}}}, {{"liger", 160e3, ""}}},
      {problem(5), {}, {{"liger", 160e3, ""}}}};
  return standing;
}

TEST(BestTable, SaysWhoseTimeTheBestIsOrWhyThereIsNone) {
  const Table table = best_table(operation(true), true);
  EXPECT_THAT(headers(table),
              ElementsAre("problem", "our best", "implementation", "best peer", "peer", "ratio",
                          "yardstick", "time / yardstick", "class"));
  const auto& rows = table.rows();
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_THAT(rows[0], ElementsAre("batch 1, seq 128, dim 768, hidden 3072", "80.00 us", "fused",
                                   "160.0 us", "liger", "0.500", "10.00 us", "8.00",
                                   "memory-bound, launch-bound on a stream"));
  EXPECT_EQ(rows[1][3], "failed");
  EXPECT_EQ(rows[2][3], "no peer");
  EXPECT_EQ(rows[2][5], "-");
  EXPECT_EQ(rows[3][1], "failed");
  EXPECT_EQ(rows[4][1], "not measured");
}

TEST(BestTable, LeavesOutWhatIsNotKnown) {
  EXPECT_THAT(headers(best_table(operation(false), false)),
              ElementsAre("problem", "our best", "implementation"));
}

TEST(BestTable, SaysWhatACallOfTheBestTakesWhereItIsKnown) {
  OperationStanding standing = operation(false);
  standing.problems[0].ours[1].energy_j = 0.1;  // not the fastest
  EXPECT_THAT(headers(best_table(standing, true)), Not(Contains("our energy")));
  standing.problems[0].ours[0].energy_j = 0.0944;
  standing.problems[0].peers[0].energy_j = 1.5;
  const Table table = best_table(standing, true);
  EXPECT_THAT(headers(table), ElementsAre("problem", "our best", "implementation", "best peer",
                                          "peer", "ratio", "our energy", "peer's energy"));
  const auto ending = [&](std::size_t row) {
    const auto& cells = table.rows()[row];
    return std::vector<Cell>(cells.end() - 2, cells.end());
  };
  EXPECT_THAT(ending(0), ElementsAre("94.40 mJ", "1.500 J"));
  EXPECT_THAT(ending(1), ElementsAre("-", "-")) << "one not measured, the other failed";
  EXPECT_THAT(headers(best_table(standing, false)),
              ElementsAre("problem", "our best", "implementation", "our energy"));
}

TEST(TimesTable, HasAColumnForEveryImplementation) {
  const Table table = times_table(operation(true));
  EXPECT_THAT(headers(table), ElementsAre("problem", "fused", "unfused", "liger"));
  EXPECT_THAT(table.rows()[0], ElementsAre("batch 1, seq 128, dim 768, hidden 3072", "80.00 us",
                                           "90.00 us", "160.0 us"));
  EXPECT_THAT(table.rows()[1],
              ElementsAre("batch 2, seq 128, dim 768, hidden 3072", "80.00 us", "-", "failed"));
}

TEST(StandingSection, HasTablesOfEveryOperationBelowItsNotes) {
  Standings standings;
  standings.peers = "3 invocations of peers";
  standings.notes = {"warning: a note"};
  standings.operations = {operation(true)};
  const std::string text = markdown({.sections = {standing_section(standings)}});
  EXPECT_THAT(text, HasSubstr("\n- Peers: 3 invocations of peers\n- warning: a note\n"));
  EXPECT_THAT(text, HasSubstr("### geglu_mlp, bf16\n\n| problem | our best | implementation | "
                              "best peer | peer | ratio | yardstick | time / yardstick | class |\n"
                              "| --- | ---: | --- | ---: | --- | ---: | ---: | ---: | --- |\n"
                              "| batch 1, seq 128, dim 768, hidden 3072 | 80.00 us | `fused` |"));
  EXPECT_THAT(text, HasSubstr("<details><summary>geglu_mlp, bf16: every implementation's time"));
  EXPECT_EQ(standing_section(standings).notes[1].tone, Tone::kUnsure);
}

TEST(StandingSection, MarksTheBest) {
  const auto row = times_table(operation(true)).rows()[0];
  EXPECT_EQ(row[1].tone, Tone::kStrong);
  EXPECT_EQ(row[2].tone, Tone::kPlain);
  EXPECT_EQ(best_table(operation(true), true).rows()[0][5].tone, Tone::kGood);
}

TEST(StandingSection, MarksNeitherWhereBothPrintAsEquallyFast) {
  OperationStanding standing = operation(false);
  const auto tone_of = [&](double our_ns) {
    standing.problems[0].ours[0].time_ns = our_ns;
    standing.problems[0].ours[1].time_ns = our_ns;
    return best_table(standing, true).rows()[0][5];
  };
  EXPECT_EQ(tone_of(160.4e3), Cell("1.00"));
  EXPECT_EQ(tone_of(160.4e3).tone, Tone::kPlain);
  EXPECT_EQ(tone_of(159.95e3).tone, Tone::kPlain);
  EXPECT_EQ(tone_of(159e3).tone, Tone::kGood);
  EXPECT_EQ(tone_of(161.6e3).tone, Tone::kBad);
}

}  // namespace
}  // namespace fusegate::ci
