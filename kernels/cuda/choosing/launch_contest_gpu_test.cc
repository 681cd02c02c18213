#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/cuda/choosing/launch_choice.h"
#include "kernels/cuda/choosing/launch_contest.h"
#include "kernels/cuda/device/cuda_graph.h"
#include "kernels/cuda/device/gpu_test_fixture.h"

namespace fusegate::kernels {
namespace {

class Contest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    x_ = random(1, 8, Dtype::kBf16, 1.0, 1);
    out_ = random(1024, 8192, Dtype::kBf16, 1.0, 2);
  }

  // Takes the longer the more of out it writes.
  Contestant writer(std::string name, std::int64_t rows) {
    return {std::move(name), [=, this] {
              device_->poison({out_.data, {rows, out_.cols()}, out_.dtype});
            }};
  }

  Tensor x_, out_;
};

TEST_F(Contest, TakesTheFastestAndTellsWhich) {
  const std::vector<Contestant> both{writer("all", 1024), writer("little", 8)};
  const ContestResult result = contest(*device_, "writing", {"stage", both}, x_, out_);
  EXPECT_EQ(result.taken, 1u);
  EXPECT_EQ(result.choice, "measured: candidate 2 of 2, little");
  EXPECT_EQ(result.note, "measured, over 10 % ahead of the next");
}

TEST_F(Contest, TakesTheFirstOfEquals) {
  const TakenLaunch taken =
      fastest(*device_, {writer("", 1024).launch, writer("", 1024).launch}, x_, out_);
  EXPECT_EQ(taken.place, 0u);
  EXPECT_NEAR(taken.ahead, 0, kKept);
}

TEST_F(Contest, LeavesOutWhatTheDeviceRefuses) {
  const auto refused = [] { throw DeviceError("not this"); };
  const TakenLaunch taken = fastest(*device_, {refused, writer("", 8).launch}, x_, out_);
  EXPECT_EQ(taken.place, 1u);
  EXPECT_TRUE(std::isnan(taken.ahead)) << "it was alone";
  EXPECT_THROW(fastest(*device_, {refused}, x_, out_), DeviceError);
}

TEST_F(Contest, IsHeldOnceForTheSameWorkAndNames) {
  contest(*device_, "work", {"stage", {writer("a", 8), writer("b", 1024)}}, x_, out_);
  // The other way round by now, but what is known holds, even where nothing could be measured.
  const Graph captured(device_->stream(), [&] {
    const StageContest swapped{"stage", {writer("a", 1024), writer("b", 8)}};
    EXPECT_EQ(contest(*device_, "work", swapped, x_, out_).taken, 0u);
    EXPECT_THROW(contest(*device_, "other", swapped, x_, out_), DeviceError);
  });
  EXPECT_EQ(device_->launch_choices().size(), 1u);
}

TEST_F(Contest, TakesTheFastestPair) {
  const StageContest firsts{"one", {writer("slow", 1024), writer("quick", 8)}};
  const StageContest seconds{"two", {writer("quick", 8), writer("slow", 1024)}};
  const PairResult result = contest_of_pairs(*device_, "both", firsts, seconds, x_,
                                             random(1, 8, Dtype::kBf16, 1, 3), out_);
  EXPECT_EQ(result.first.choice, "measured: candidate 2 of 2, quick");
  EXPECT_EQ(result.second.choice, "measured: candidate 1 of 2, quick");
}

TEST_F(Contest, KeepsWhatAnEarlierProcessTookUnlessItIsSlower) {
  const StageContest equals{"stage", {writer("a", 1024), writer("b", 1024)}};
  const StageContest unequal{"stage", {writer("a", 8), writer("b", 1024)}};
  device_->keep_choices({{{"stage", "measured: candidate 7 of 9, b"}, {"other", "a"}}});
  EXPECT_EQ(contest(*device_, "equals", equals, x_, out_).choice, "measured: candidate 2 of 2, b");
  EXPECT_EQ(contest(*device_, "unequal", unequal, x_, out_).taken, 0u);
  device_->keep_choices({{{"stage", "measured: candidate 7 of 9, gone"}}});
  EXPECT_EQ(contest(*device_, "gone", equals, x_, out_).taken, 0u);
}

TEST_F(Contest, KeepsAPairThatWouldNotBeAmongTheFew) {
  StageContest firsts{"one", {}}, seconds{"two", {}};
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    firsts.contestants.push_back(writer(name, 1024));
    seconds.contestants.push_back(writer(name, 1024));
  }
  device_->keep_choices({{{"one", "h"}, {"two", "g"}}});
  const PairResult result = contest_of_pairs(*device_, "both", firsts, seconds, x_,
                                             random(1, 8, Dtype::kBf16, 1, 3), out_);
  EXPECT_EQ(result.first.taken, 7u);
  EXPECT_EQ(result.second.taken, 6u);
}

// Contestants that fail the test where they are launched.
class StrictlyKept : public Contest {
 protected:
  Contestant never(std::string name) {
    return {std::move(name), [] { FAIL() << "launched"; }};
  }
  PairResult pair() {
    return contest_of_pairs(*device_, "both", {"one", {never("a"), never("b")}},
                            {"two", {never("c"), never("d")}}, x_, x_, out_);
  }
};

TEST_F(StrictlyKept, IsTakenWithoutMeasuring) {
  const StageContest stage{"stage", {never("a"), never("b")}};
  device_->keep_choices({{{"stage", "measured: candidate 7 of 9, b"}}, true});
  const ContestResult result = contest(*device_, "work", stage, x_, out_);
  EXPECT_EQ(result.choice, "measured: candidate 2 of 2, b");
  EXPECT_EQ(result.note, "kept without measuring");
  device_->keep_choices({{{"stage", "a"}}, true});
  EXPECT_EQ(contest(*device_, "work", stage, x_, out_).taken, 0u) << "what was kept before";
  EXPECT_TRUE(device_->launch_choices().empty());
}

TEST_F(StrictlyKept, IsAnErrorWhereItIsNotThere) {
  device_->keep_choices({{{"stage", "gone"}}, true});
  EXPECT_THROW(contest(*device_, "work", {"stage", {never("a"), never("b")}}, x_, out_),
               DeviceError);
  EXPECT_THROW(contest(*device_, "work", {"stage", {never("a")}}, x_, out_), DeviceError);
}

TEST_F(StrictlyKept, PairsAreTakenWithoutMeasuring) {
  device_->keep_choices({{{"one", "b"}, {"two", "d"}}, true});
  const PairResult result = pair();
  EXPECT_EQ(result.first.taken, 1u);
  EXPECT_EQ(result.second.taken, 1u);
  device_->keep_choices({{{"one", "b"}, {"two", "algo 66"}}, true});
  EXPECT_THROW(pair(), DeviceError);
}

TEST_F(Contest, LeavesTheTensorsAsTheyWere) {
  const Bytes x = bytes(x_), out = bytes(out_);
  fastest(*device_, {writer("", 1024).launch, writer("", 8).launch}, x_, out_);
  EXPECT_EQ(bytes(x_), x);
  EXPECT_EQ(bytes(out_), out);
}

}  // namespace
}  // namespace fusegate::kernels
