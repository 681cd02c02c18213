#include "ci/peers/peer_section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ci/console/test_table.h"
#include "ci/sweep/test_figures.h"

namespace fusegate::ci {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// One problem with peers, one where the peer failed, one without, one that ours failed at.
OperationComparison operation(bool with_roofline_times) {
  const auto problem = [](std::int64_t batch) {
    return baselines::BenchmarkName{
        "geglu_mlp", "", "bf16", {{"batch", batch}, {"seq", 128}, {"dim", 768}, {"hidden", 3072}}};
  };
  MeasuredImplementation fused{"fused", 80e3};
  if (with_roofline_times) {
    fused.roofline_time = {10e3, 8, 0.125, 0.1};
    fused.bottlenecks = {Bottleneck::kMemory, Bottleneck::kLaunch};
  }
  OperationComparison comparison{"geglu_mlp", "bf16", {"fused", "unfused"}, {"liger"}, {}};
  comparison.problems = {{problem(1), {fused, {"unfused", 90e3}}, {{"liger", 160e3}}},
                         {problem(2), {fused}, {{"liger", kNan}}},
                         {problem(3), {fused}, {}},
                         {problem(4), {{"fused", kNan}}, {{"liger", 160e3}}},
                         {problem(5), {}, {{"liger", 160e3}}}};
  return comparison;
}

TEST(BestTable, SaysWhoseTimeTheBestIsOrWhyThereIsNone) {
  const Table table = best_table(operation(true), true);
  EXPECT_THAT(headers(table), ElementsAre("problem", "our best", "implementation", "best peer",
                                          "peer", "ratio", "roofline time", "gap", "class"));
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
  OperationComparison comparison = operation(false);
  comparison.problems[0].ours[1].energy_j = 0.1;  // not the fastest
  EXPECT_THAT(headers(best_table(comparison, true)), Not(Contains("our energy")));
  comparison.problems[0].ours[0].energy_j = 0.0944;
  comparison.problems[0].peers[0].energy_j = 1.5;
  const Table table = best_table(comparison, true);
  EXPECT_THAT(headers(table), ElementsAre("problem", "our best", "implementation", "best peer",
                                          "peer", "ratio", "our energy", "peer's energy"));
  const auto ending = [&](std::size_t row) {
    const auto& cells = table.rows()[row];
    return std::vector<Cell>(cells.end() - 2, cells.end());
  };
  EXPECT_THAT(ending(0), ElementsAre("94.40 mJ", "1.500 J"));
  EXPECT_THAT(ending(1), ElementsAre("-", "-")) << "one not measured, the other failed";
  EXPECT_THAT(headers(best_table(comparison, false)),
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

TEST(PeerSection, HasTablesOfEveryOperationBelowItsNotes) {
  PeerComparison peer_comparison;
  peer_comparison.peers = "3 processes of peers";
  peer_comparison.notes = {"warning: a note"};
  peer_comparison.operations = {operation(true)};
  const std::string text = markdown({.sections = {peer_section(peer_comparison)}});
  EXPECT_THAT(text, HasSubstr("\n- Peers: 3 processes of peers\n- warning: a note\n"));
  EXPECT_THAT(text, HasSubstr("### geglu_mlp, bf16\n\n| problem | our best | implementation | "
                              "best peer | peer | ratio | roofline time | gap | class |\n"
                              "| --- | ---: | --- | ---: | --- | ---: | ---: | ---: | --- |\n"
                              "| batch 1, seq 128, dim 768, hidden 3072 | 80.00 us | `fused` |"));
  EXPECT_THAT(text, HasSubstr("<details><summary>geglu_mlp, bf16: every implementation's time"));
  EXPECT_EQ(peer_section(peer_comparison).notes[1].tone, Tone::kUnsure);
}

TEST(PeerSection, SaysHowItStandsOverAllProblems) {
  OperationComparison comparison = operation(false);
  comparison.problems[1].peers[0].time_ns = 40e3;  // ours takes twice as long
  const PeerComparison whole{.operations = {comparison}, .rates = {}, .peers = "p", .notes = {}};
  EXPECT_THAT(
      peer_section(whole).sentences,
      Contains("Over 2 problems the geometric mean is 1.00, one is above 1, and the largest "
               "2.00 (geglu_mlp, bf16: batch 2, seq 128, dim 768, hidden 3072)."));
  comparison.problems.resize(0);
  const PeerComparison none{.operations = {comparison}, .rates = {}, .peers = "p", .notes = {}};
  EXPECT_EQ(peer_section(none).sentences.size(), 1u);
}

TEST(PeerSection, MarksTheBest) {
  const auto row = times_table(operation(true)).rows()[0];
  EXPECT_EQ(row[1].tone, Tone::kStrong);
  EXPECT_EQ(row[2].tone, Tone::kPlain);
  EXPECT_EQ(best_table(operation(true), true).rows()[0][5].tone, Tone::kGood);
}

TEST(PeerSection, MarksNeitherWhereBothPrintAsEquallyFast) {
  OperationComparison comparison = operation(false);
  const auto tone_of = [&](double our_ns) {
    comparison.problems[0].ours[0].time_ns = our_ns;
    comparison.problems[0].ours[1].time_ns = our_ns;
    return best_table(comparison, true).rows()[0][5];
  };
  EXPECT_EQ(tone_of(160.4e3), Cell("1.00"));
  EXPECT_EQ(tone_of(160.4e3).tone, Tone::kPlain);
  EXPECT_EQ(tone_of(159.95e3).tone, Tone::kPlain);
  EXPECT_EQ(tone_of(159e3).tone, Tone::kGood);
  EXPECT_EQ(tone_of(161.6e3).tone, Tone::kBad);
}

}  // namespace
}  // namespace fusegate::ci
