#include "ci/bisect/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <utility>
#include <vector>

namespace fusegate::ci {
namespace {

using State = LineCommit::State;

class SearchTest : public ::testing::Test {
 protected:
  static constexpr double kLeast = 0.001;

  // commits: after the good one. levels: of each commit, by its position.
  void line_is(std::size_t commits, std::function<double(std::size_t)> levels) {
    levels_ = std::move(levels);
    line_.assign(commits + 1, {});
    know(0);
    know(commits);
  }
  void know(std::size_t i) { line_[i] = {State::kKnown, i, {levels_(i), i == 0 ? 0 : 0.0005}}; }
  // Until nothing is left to narrow down; returns how many were measured.
  int search_on() {
    int measured = 0;
    for (auto next = state().next; next; next = state().next) {
      if (broken_.contains(*next)) {
        line_[*next].state = State::kSkipped;
        continue;
      }
      know(*next);
      ++measured;
    }
    return measured;
  }
  SearchState state() const { return search(line_, kLeast); }
  // "before-after" of each change.
  std::vector<std::pair<std::size_t, std::size_t>> changes() const {
    std::vector<std::pair<std::size_t, std::size_t>> found;
    for (const Segment& change : state().changes) found.emplace_back(change.before, change.after);
    return found;
  }
  static std::function<double(std::size_t)> step_at(std::size_t at, double size = 0.05) {
    return [=](std::size_t i) { return i >= at ? size : 0.0; };
  }

  std::function<double(std::size_t)> levels_;
  std::vector<LineCommit> line_;
  std::set<std::size_t> broken_;
};

using Changes = std::vector<std::pair<std::size_t, std::size_t>>;

TEST_F(SearchTest, OfOneCommitNothingIsMeasured) {
  line_is(1, step_at(1));
  EXPECT_EQ(search_on(), 0);
  EXPECT_EQ(changes(), (Changes{{0, 1}}));
}

TEST_F(SearchTest, FindsEachOf64CommitsBySixLevelsAtMost) {
  for (std::size_t at = 1; at <= 64; ++at) {
    for (const double size : {0.02, -0.3}) {
      line_is(64, step_at(at, size));
      EXPECT_LE(search_on(), 6) << at;
      EXPECT_EQ(changes(), (Changes{{at - 1, at}})) << at;
    }
  }
}

TEST_F(SearchTest, WhatCannotBeMeasuredIsGoneAround) {
  line_is(20, step_at(9));
  broken_ = {10, 11, 12, 4};
  search_on();
  EXPECT_EQ(changes(), (Changes{{8, 9}}));
  broken_ = {8, 9, 10};
  line_is(20, step_at(9));
  search_on();
  EXPECT_EQ(changes(), (Changes{{7, 11}})) << "one of 8, 9, 10 and 11";
}

TEST_F(SearchTest, FollowsEveryCommitThatSharesTheChange) {
  line_is(40, [](std::size_t i) { return (i >= 7 ? 0.02 : 0) + (i >= 31 ? 0.03 : 0.0); });
  EXPECT_LE(search_on(), 12);
  EXPECT_EQ(changes(), (Changes{{6, 7}, {30, 31}}));
}

TEST_F(SearchTest, FollowsWhatWasTakenBackInPart) {
  line_is(16, [](std::size_t i) { return (i >= 4 ? 0.08 : 0) - (i >= 12 ? 0.03 : 0.0); });
  search_on();
  EXPECT_EQ(changes(), (Changes{{3, 4}, {11, 12}}));
}

TEST_F(SearchTest, FollowsNoNoise) {
  // A tenth of the change at most, however certain; and what is not certain, however large.
  line_is(64, [](std::size_t i) {
    return (i >= 20 ? 0.05 : 0) + (i % 3 == 0 && i > 0 && i < 64 ? 0.004 : 0.0);
  });
  EXPECT_LE(search_on(), 6);
  EXPECT_EQ(changes(), (Changes{{19, 20}}));
  line_is(8, step_at(8));
  line_[4] = {State::kKnown, 4, {0.02, 0.01}};
  EXPECT_EQ(changes(), (Changes{{4, 8}}));
  line_[4].level.standard_error = 0.0005;
  EXPECT_EQ(changes(), (Changes{{0, 4}, {4, 8}}));
}

TEST_F(SearchTest, SaysHowManyAreLeftOnEitherSideOfTheNext) {
  line_is(11, step_at(3));
  EXPECT_EQ(state().next, 5u);
  EXPECT_EQ(state().left_before, 4u);
  EXPECT_EQ(state().left_after, 5u);
}

TEST_F(SearchTest, OfACreepTheLargestPartIsFollowed) {
  line_is(16, [](std::size_t i) { return 0.001 * static_cast<double>(i); });
  search_on();
  EXPECT_GE(changes().size(), 1u);
}

TEST_F(SearchTest, CommitsThatRunTheSameCodeDoNotDiffer) {
  line_is(4, step_at(2));
  know(2);
  line_[3] = {State::kKnown, 2, {0.05, 0.0005}};
  line_[4].level = {0.07, 0.0001};
  // Whatever the two were measured as.
  line_[4].same_as = 2;
  EXPECT_EQ(changes(), (Changes{{0, 2}}));
  EXPECT_EQ(state().next, 1u);
  EXPECT_EQ(state().left_before, 0u);
  EXPECT_EQ(state().left_after, 0u);
}

}  // namespace
}  // namespace fusegate::ci
