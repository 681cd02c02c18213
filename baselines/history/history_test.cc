#include "baselines/history/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/history/night_json.h"
#include "baselines/history/test_night.h"
#include "baselines/io/error.h"
#include "baselines/io/scratch_folder.h"

namespace fusegate::baselines {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class HistoryTest : public ::testing::Test {
 protected:
  HistoryTest() : history_(file(), DatabaseUse::kWrite) {}

  std::filesystem::path file() const { return folder_.path() / "kept" / "history.db"; }
  double kilobytes() const { return static_cast<double>(std::filesystem::file_size(file())) / 1e3; }

  ScratchFolder folder_;
  History history_;
};

TEST_F(HistoryTest, GivesBackWhatWasAdded) {
  const Night first = test_night(1, 30);
  Night second = test_night(2, 30);
  second.benchmarks.at(3) = {.name = second.benchmarks.at(3).name};  // nothing is known
  second.commit = "";
  EXPECT_TRUE(history_.add(first));
  EXPECT_TRUE(history_.add(second));
  const std::vector<Night> nights = History(file(), DatabaseUse::kRead).whole_nights();
  ASSERT_THAT(nights, SizeIs(2));
  EXPECT_EQ(night_line(nights[0]), night_line(first));
  EXPECT_EQ(night_line(nights[1]), night_line(second));
}

TEST_F(HistoryTest, KeepsASessionOnce) {
  EXPECT_TRUE(history_.add(test_night(1)));
  Night again = test_night(1, 20);
  EXPECT_FALSE(history_.add(again));
  EXPECT_THAT(history_.benchmarks(), SizeIs(2));
  EXPECT_TRUE(history_.add(test_night(2)));
  EXPECT_THAT(history_.nights(), SizeIs(2));
}

TEST_F(HistoryTest, NightsStayInTheOrderInWhichTheyWereAdded) {
  for (const int number : {3, 1, 2}) history_.add(test_night(number));
  const std::vector<Night> nights = history_.nights();
  EXPECT_THAT(nights,
              ElementsAre(Field(&Night::session, "night 3"), Field(&Night::session, "night 1"),
                          Field(&Night::session, "night 2")));
  EXPECT_THAT(nights.front().benchmarks, IsEmpty());
  EXPECT_EQ(measured_before(test_night(2), nights)->session, "night 3");
  EXPECT_EQ(measured_before(test_night(3), nights), nullptr);
}

TEST_F(HistoryTest, ReadsABenchmarksSeries) {
  for (int number = 1; number <= 40; ++number) history_.add(test_night(number, number));
  const std::string name = test_night(1).benchmarks.at(1).name;
  const std::vector<HistoryPoint> points = history_.series(name);
  ASSERT_THAT(points, SizeIs(39));
  Night third = test_night(3);
  third.benchmarks = {third.benchmarks.at(1)};
  Night got = points[1].night;
  got.benchmarks = {points[1].benchmark};
  EXPECT_EQ(night_line(got), night_line(third));
  EXPECT_THAT(history_.series("no such"), IsEmpty());
}

TEST_F(HistoryTest, ClocksStayThoseOfADevicesFirstNight) {
  Night first = test_night(1);
  first.benchmarks.at(1).clock_ghz = kUnknown;
  Night second = test_night(2, 3);
  Night other = test_night(3);
  for (NightBenchmark& benchmark : second.benchmarks) benchmark.clock_ghz = 1.5;
  other.device = "NVIDIA H100";
  for (const Night& night : {first, second, other}) history_.add(night);
  const auto clocks = history_.clocks("NVIDIA H200");
  ASSERT_THAT(clocks, SizeIs(3));
  EXPECT_EQ(clocks.at(first.benchmarks.at(0).name).ghz, 1.9755);
  EXPECT_EQ(clocks.at(first.benchmarks.at(1).name).ghz, 1.5);
  EXPECT_EQ(clocks.at(second.benchmarks.at(2).name).share, second.benchmarks.at(2).clock_share);
  EXPECT_THAT(history_.clocks("another"), IsEmpty());
}

TEST_F(HistoryTest, KeepsChangePointsWithWhatPeopleSayOfThem) {
  const ChangePoint point{.subject = "kernel gelu_mul",
                          .benchmarks = {"a", "b"},
                          .first_session = "night 7",
                          .last_session_before = "night 6",
                          .alarm_session = "night 9",
                          .effect = 0.012,
                          .low = 0.01,
                          .high = 0.014,
                          .of_class = ChangeClass::kLibrary,
                          .reason = "cublas 13.0 -> 13.1",
                          .confirmation = Confirmation::kAsked};
  const std::int64_t id = history_.add(point);
  history_.add(ChangePoint{.subject = "c"});
  history_.set_is_true(id, false);
  history_.set_confirmation(id, Confirmation::kConfirmed);
  ChangePoint changed = point;
  changed.first_session = "night 6";
  changed.is_true = true;  // by who does not know that somebody said otherwise
  history_.update({id, changed});
  const auto points = History(file(), DatabaseUse::kRead).change_points();
  ASSERT_THAT(points, SizeIs(2));
  const ChangePoint& got = points[0].point;
  EXPECT_EQ(points[0].id, id);
  EXPECT_EQ(got.subject, point.subject);
  EXPECT_EQ(got.benchmarks, point.benchmarks);
  EXPECT_EQ(got.first_session, "night 6");
  EXPECT_EQ(got.last_session_before, point.last_session_before);
  EXPECT_EQ(got.alarm_session, point.alarm_session);
  EXPECT_EQ(got.effect, point.effect);
  EXPECT_EQ(got.low, point.low);
  EXPECT_EQ(got.high, point.high);
  EXPECT_EQ(got.of_class, point.of_class);
  EXPECT_EQ(got.reason, point.reason);
  EXPECT_EQ(got.confirmation, Confirmation::kConfirmed);
  EXPECT_EQ(got.is_true, false);
  EXPECT_EQ(points[1].point.is_true, std::nullopt);
  EXPECT_EQ(points[1].point.confirmation, std::nullopt);
  history_.set_is_true(id, std::nullopt);
  EXPECT_EQ(history_.change_points()[0].point.is_true, std::nullopt);
  EXPECT_THROW(history_.set_is_true(99, true), InputError);
}

TEST_F(HistoryTest, RemembersByKey) {
  EXPECT_EQ(history_.state("issue"), std::nullopt);
  history_.set_state("issue", "7");
  history_.set_state("issue", "8");
  EXPECT_EQ(History(file(), DatabaseUse::kRead).state("issue"), "8");
}

TEST_F(HistoryTest, ANightTakesAtMost60Kilobytes) {
  constexpr int kNights = 40;
  for (int number = 1; number <= kNights; ++number) history_.add(test_night(number, 344));
  EXPECT_LT(kilobytes() / kNights, 60) << kilobytes() / kNights;
  RecordProperty("kilobytes_a_night", std::to_string(kilobytes() / kNights));
}

TEST_F(HistoryTest, WhoReadsMayNotWrite) {
  history_.add(test_night(1));
  History reader(file(), DatabaseUse::kRead);
  EXPECT_THROW(reader.add(test_night(2)), InputError);
  EXPECT_THAT(reader.nights(), SizeIs(1));
}

}  // namespace
}  // namespace fusegate::baselines
