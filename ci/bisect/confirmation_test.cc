#include "ci/bisect/confirmation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <sstream>

#include "baselines/history/change_id.h"
#include "baselines/io/error.h"
#include "baselines/io/scratch_folder.h"

namespace fusegate::ci {
namespace {

using baselines::ChangeClass;
using baselines::ChangePoint;
using baselines::Confirmation;
using baselines::History;
using baselines::VerdictKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

baselines::Night night(const std::string& session, const std::string& commit, double slower) {
  baselines::Night night{.session = session, .commit = commit, .card = "GPU-1"};
  for (const auto& [name, ns] : {std::pair("mlp/a", 1000.0), std::pair("mlp/b", 2000.0)}) {
    const bool moves_most = name == std::string("mlp/b");
    night.benchmarks.push_back(
        {.name = name,
         .processes = 5,
         .log_equal_clock = std::log(ns) + std::log1p(moves_most ? slower : slower / 2)});
  }
  return night;
}

class ConfirmationTest : public testing::Test {
 protected:
  ConfirmationTest() {
    History history(request_.database, baselines::DatabaseUse::kWrite);
    history.add(night("one", "aaaa", 0));
    history.add(night("two", "bbbb", 0.02));
    history.add(night("three", "bbbb", 0.02));
  }

  ChangePoint change(const std::string& before = "one", const std::string& first = "two") const {
    return {.subject = "kernel gelu",
            .benchmarks = {"mlp/a", "mlp/b"},
            .first_session = first,
            .last_session_before = before,
            .alarm_session = "three",
            .effect = 0.02,
            .of_class = ChangeClass::kCode};
  }
  void add(const ChangePoint& point) {
    History(request_.database, baselines::DatabaseUse::kWrite).add(point);
  }
  std::optional<Confirmation> stored(std::size_t i = 0) const {
    return History(request_.database, baselines::DatabaseUse::kRead)
        .change_points()
        .at(i)
        .point.confirmation;
  }
  ConfirmationResult confirm(VerdictKind kind, double effect) {
    const ConfirmationTools tools{.duet =
                                      [&, kind, effect](const CommitDuetRequest& request) {
                                        asked_.push_back(request);
                                        CommitDuet duet;
                                        duet.verdict.kind = kind;
                                        duet.verdict.estimates.effect = effect;
                                        duet.interrupted = interrupts_;
                                        return duet;
                                      },
                                  .free_card =
                                      [&](const std::string& other_than) {
                                        not_on_ = other_than;
                                        return free_card_;
                                      }};
    Console console{out_, out_};
    return confirm_changes(request_, tools, console);
  }

  baselines::ScratchFolder folder_;
  ConfirmationRequest request_{.database = folder_.path() / "history.db"};
  std::vector<CommitDuetRequest> asked_;
  std::string not_on_, free_card_;
  bool interrupts_ = false;
  std::ostringstream out_;
};

TEST_F(ConfirmationTest, IsByTheBenchmarkThatMovedMostOnAnotherCard) {
  add(change());
  free_card_ = "GPU-2";
  EXPECT_EQ(confirm(VerdictKind::kRegression, 0.019).decided, 1u);
  EXPECT_EQ(stored(), Confirmation::kConfirmed);
  ASSERT_EQ(asked_.size(), 1u);
  EXPECT_EQ(asked_[0].good, "aaaa");
  EXPECT_EQ(asked_[0].bad, "bbbb");
  EXPECT_EQ(asked_[0].measuring.benchmark, "mlp/b");
  EXPECT_EQ(not_on_, "GPU-1");
  EXPECT_THAT(asked_[0].measuring.environment,
              ElementsAre(std::pair("CUDA_VISIBLE_DEVICES", "GPU-2")));
  EXPECT_THAT(out_.str(), HasSubstr("confirmed, by mlp/b on another card, GPU-2: regression, "));
  EXPECT_EQ(confirm(VerdictKind::kRegression, 0.019).decided, 0u) << "it is decided";
}

TEST_F(ConfirmationTest, DecidesByTheVerdict) {
  for (const auto& [kind, effect, expected] :
       {std::tuple(VerdictKind::kUnchanged, 0.0, Confirmation::kRefuted),
        {VerdictKind::kIdentical, 0.0, Confirmation::kRefuted},
        {VerdictKind::kImprovement, -0.02, Confirmation::kRefuted},
        {VerdictKind::kInconclusive, 0.01, Confirmation::kAsked}}) {
    add(change());
    const ChangePoint last = change();
    request_.ids = {change_id(last)};
    const ConfirmationResult result = confirm(kind, effect);
    EXPECT_EQ(result.undecided, expected == Confirmation::kAsked ? 1u : 0u);
    EXPECT_EQ(stored(), expected);
  }
  EXPECT_THAT(asked_[0].measuring.environment, IsEmpty()) << "there is one card";
}

TEST_F(ConfirmationTest, OfCommitsThatCannotBeMeasuredIsNotGiven) {
  add(change("two", "three"));
  EXPECT_EQ(confirm(VerdictKind::kRegression, 0.02).undecided, 1u);
  EXPECT_THAT(asked_, IsEmpty());
  EXPECT_EQ(stored(), Confirmation::kAsked);
  EXPECT_THAT(out_.str(), HasSubstr("not confirmed, as the nights around it are of the same "
                                    "commit"));
}

TEST_F(ConfirmationTest, IsAskedForAgainWhereSomebodyInterrupted) {
  add(change());
  interrupts_ = true;
  EXPECT_TRUE(confirm(VerdictKind::kRegression, 0.02).interrupted);
  EXPECT_EQ(stored(), Confirmation::kAsked);
  interrupts_ = false;
  EXPECT_EQ(confirm(VerdictKind::kRegression, 0.02).decided, 1u);
}

TEST_F(ConfirmationTest, IsOfCodeAloneAndOfTheNewestFirst) {
  ChangePoint driver = change();
  driver.of_class = ChangeClass::kLibrary;
  driver.subject = "everything";
  add(driver);
  for (const char* subject : {"kernel a", "kernel b"}) {
    ChangePoint point = change();
    point.subject = subject;
    add(point);
  }
  request_.most = 1;
  confirm(VerdictKind::kRegression, 0.02);
  EXPECT_EQ(stored(0), std::nullopt);
  EXPECT_EQ(stored(1), std::nullopt);
  EXPECT_EQ(stored(2), Confirmation::kConfirmed);
}

TEST_F(ConfirmationTest, NamesAnUnknownIdAndADatabaseThatIsNotThere) {
  request_.ids = {"0123456789ab"};
  EXPECT_THROW(confirm(VerdictKind::kRegression, 0.02), baselines::InputError);
  request_.database += "x";
  EXPECT_THROW(confirm(VerdictKind::kRegression, 0.02), baselines::InputError);
}

}  // namespace
}  // namespace fusegate::ci
