#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/cuda/autotuning/autotune.h"
#include "kernels/cuda/autotuning/launch_choice.h"
#include "kernels/cuda/device/cuda_graph.h"
#include "kernels/cuda/device/gpu_test_fixture.h"

namespace fusegate::kernels {
namespace {

class Autotune : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    x_ = random(1, 8, Dtype::kBf16, 1.0, 1);
    out_ = random(1024, 8192, Dtype::kBf16, 1.0, 2);
  }

  // Takes longer the more of out it writes.
  Candidate writer(std::string name, std::int64_t rows) {
    return {std::move(name), [=, this] {
              device_->poison({out_.data, {rows, out_.cols()}, out_.dtype});
            }};
  }

  // Of kernels that do not depend on each other.
  TunedPair tuned(const std::string& work, const std::vector<Candidate>& first_candidates,
                  const std::vector<Candidate>& second_candidates, std::size_t of_library = 0) {
    return tune_pair(*device_, {.work = work,
                                .first = {"one", first_candidates},
                                .second = {"two", second_candidates, of_library},
                                .x = x_,
                                .between = x_,
                                .out = out_});
  }

  Tensor x_, out_;
};

TEST_F(Autotune, TakesTheFirstOfEquals) {
  const TakenLaunch taken =
      fastest(*device_, {writer("", 1024).launch, writer("", 1024).launch}, x_, out_);
  EXPECT_EQ(taken.index, 0u);
  EXPECT_NEAR(taken.ahead, 0, kPinnedMargin);
}

TEST_F(Autotune, LeavesOutWhatTheDeviceRefuses) {
  const auto refused = [] { throw DeviceError("not this"); };
  const TakenLaunch taken = fastest(*device_, {refused, writer("", 8).launch}, x_, out_);
  EXPECT_EQ(taken.index, 1u);
  EXPECT_TRUE(std::isnan(taken.ahead)) << "it was alone";
  EXPECT_THROW(fastest(*device_, {refused}, x_, out_), DeviceError);
}

TEST_F(Autotune, TakesTheFastestPairAndNamesIt) {
  const TunedPair result = tuned("both", {writer("slow", 1024), writer("quick", 8)},
                                 {writer("quick", 8), writer("slow", 1024)});
  EXPECT_EQ(result.first.taken, 1u);
  EXPECT_EQ(result.first.choice, "measured: candidate 2 of 2, quick");
  EXPECT_EQ(result.first.note, "measured; the next is over 10 % slower");
  EXPECT_EQ(result.second.taken, 0u);
  EXPECT_EQ(result.second.choice, "measured: candidate 1 of 2, quick");
}

TEST_F(Autotune, NamesASingleCandidate) {
  const TunedPair result = tuned("both", {writer("only", 8)}, {writer("a", 8)});
  EXPECT_EQ(result.first.choice, "only");
  EXPECT_EQ(result.first.note, "");
}

// The first that writes more lets the second write less.
TEST_F(Autotune, MeasuresFirstKernelsInFrontOfASecond) {
  std::int64_t rows = 1024;
  const auto first = [&, this](const std::string& name, std::int64_t own, std::int64_t left) {
    return Candidate{name, [=, &rows, launch = writer(name, own).launch] {
                       launch();
                       rows = left;
                     }};
  };
  const Candidate second{"second", [&, this] {
                           device_->poison({out_.data, {rows, out_.cols()}, out_.dtype});
                         }};
  const TunedPair result = tuned("both", {first("a", 64, 1024), first("b", 512, 8)}, {second});
  EXPECT_EQ(result.first.choice, "measured: candidate 2 of 2, b");
  EXPECT_EQ(result.first.note, "measured; the next is over 10 % slower");
}

// The one that is fastest alone is the slowest in front of the best second, and the fastest in
// front of another.
TEST_F(Autotune, MeasuresFirstKernelsThatAreFastestAlone) {
  bool apart = false;  // whether that one was launched last
  std::vector<Candidate> first_candidates;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "apart"}) {
    const bool sets = std::string(name) == "apart";
    first_candidates.push_back({name, [=, &apart, launch = writer(name, sets ? 8 : 256).launch] {
                                  launch();
                                  apart = sets;
                                }});
  }
  const auto second = [&](std::int64_t behind_others, std::int64_t behind_it) {
    return [=, this, &apart] {
      device_->poison({out_.data, {apart ? behind_it : behind_others, out_.cols()}, out_.dtype});
      apart = false;
    };
  };
  const TunedPair result =
      tuned("both", first_candidates, {{"best", second(256, 1024)}, {"its own", second(272, 8)}});
  EXPECT_EQ(result.first.choice, "measured: candidate 7 of 7, apart");
  EXPECT_EQ(result.second.choice, "measured: candidate 2 of 2, its own");
}

// Writes little behind that first, and much alone.
TEST_F(Autotune, MeasuresALibrarysKernelsBehindAFirst) {
  std::int64_t rows = 1024;
  const Candidate first{"first", [&] { rows = 8; }};
  const Candidate second{"behind", [&, this] {
                           device_->poison({out_.data, {rows, out_.cols()}, out_.dtype});
                           rows = 1024;
                         }};
  std::vector<Candidate> second_candidates{writer("own", 600)};
  for (const char* name : {"a", "b", "c", "d"}) second_candidates.push_back(writer(name, 512));
  second_candidates.push_back(second);
  const TunedPair as_library = tuned("both", {first}, second_candidates, 5);
  EXPECT_EQ(as_library.second.choice, "measured: candidate 6 of 6, behind");
  EXPECT_EQ(as_library.second.note, "measured; the next is over 10 % slower");
}

TEST_F(Autotune, TakesOurOwnBeforeALibraryThatIsSlowerAndTheOtherWayRound) {
  const std::vector<Candidate> first_candidates{writer("first", 8)};
  const std::vector<Candidate> quick_own{writer("own", 8), writer("library", 1024)};
  const std::vector<Candidate> slow_own{writer("own", 1024), writer("library", 8)};
  EXPECT_EQ(tuned("both", first_candidates, quick_own, 1).second.taken, 0u);
  EXPECT_EQ(tuned("swapped", first_candidates, slow_own, 1).second.taken, 1u);
}

TEST_F(Autotune, TakesAPinnedLibraryKernelThatIsNotShortlisted) {
  std::vector<Candidate> equals;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) equals.push_back(writer(name, 1024));
  device_->pin_choices({{{"one", "first"}, {"two", "f"}}});
  EXPECT_EQ(tuned("both", {writer("first", 8)}, equals, 5).second.taken, 5u);
}

TEST_F(Autotune, MeasuresTheSameWorkAndNamesOnce) {
  const std::vector<Candidate> second_candidates{writer("c", 8)};
  tuned("work", {writer("a", 8), writer("b", 1024)}, second_candidates);
  // The other way round by now, but what is known holds, even where nothing could be measured.
  const Graph captured(device_->stream(), [&] {
    const std::vector<Candidate> swapped{writer("a", 1024), writer("b", 8)};
    EXPECT_EQ(tuned("work", swapped, second_candidates).first.taken, 0u);
    EXPECT_THROW(tuned("other", swapped, second_candidates), DeviceError);
  });
  EXPECT_EQ(device_->launch_choices().size(), 1u);
}

TEST_F(Autotune, TakesAPinnedChoiceUnlessItIsSlower) {
  const std::vector<Candidate> equals{writer("a", 1024), writer("b", 1024)};
  const std::vector<Candidate> unequal{writer("a", 8), writer("b", 1024)};
  const std::vector<Candidate> second_candidates{writer("c", 8)};
  device_->pin_choices({{{"one", "measured: candidate 7 of 9, b"}, {"two", "c"}, {"three", "a"}}});
  EXPECT_EQ(tuned("equals", equals, second_candidates).first.choice,
            "measured: candidate 2 of 2, b");
  EXPECT_EQ(tuned("unequal", unequal, second_candidates).first.taken, 0u);
  device_->pin_choices({{{"one", "measured: candidate 7 of 9, gone"}, {"two", "c"}}});
  EXPECT_EQ(tuned("gone", equals, second_candidates).first.taken, 0u);
}

TEST_F(Autotune, TakesAPinnedPairThatIsNotShortlisted) {
  std::vector<Candidate> equals;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    equals.push_back(writer(name, 1024));
  }
  device_->pin_choices({{{"one", "h"}, {"two", "g"}}});
  const TunedPair result = tuned("both", equals, equals);
  EXPECT_EQ(result.first.taken, 7u);
  EXPECT_EQ(result.second.taken, 6u);
}

// Candidates that fail the test where they are launched.
class RequiredPinned : public Autotune {
 protected:
  Candidate never(std::string name) {
    return {std::move(name), [] { FAIL() << "launched"; }};
  }
  TunedPair pair() { return tuned("both", {never("a"), never("b")}, {never("c"), never("d")}); }
};

TEST_F(RequiredPinned, IsTakenWithoutMeasuring) {
  device_->pin_choices({{{"one", "measured: candidate 7 of 9, b"}, {"two", "d"}}, true});
  const TunedPair result = pair();
  EXPECT_EQ(result.first.choice, "measured: candidate 2 of 2, b");
  EXPECT_EQ(result.first.note, "pinned, not measured");
  EXPECT_EQ(result.second.taken, 1u);
  device_->pin_choices({{{"one", "a"}, {"two", "d"}}, true});
  EXPECT_EQ(pair().first.taken, 0u) << "what was pinned before";
  EXPECT_TRUE(device_->launch_choices().empty());
}

TEST_F(RequiredPinned, IsAnErrorWhereItIsNotThere) {
  device_->pin_choices({{{"one", "b"}, {"two", "algo 66"}}, true});
  EXPECT_THROW(pair(), DeviceError);
  device_->pin_choices({{{"one", "gone"}, {"two", "c"}}, true});
  EXPECT_THROW(pair(), DeviceError);
  EXPECT_THROW(tuned("both", {never("a")}, {never("c")}), DeviceError);
}

TEST_F(Autotune, LeavesTheTensorsAsTheyWere) {
  const Bytes x = bytes(x_), out = bytes(out_);
  fastest(*device_, {writer("", 1024).launch, writer("", 8).launch}, x_, out_);
  EXPECT_EQ(bytes(x_), x);
  EXPECT_EQ(bytes(out_), out);
}

}  // namespace
}  // namespace fusegate::kernels
