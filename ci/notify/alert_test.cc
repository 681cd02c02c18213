#include "ci/notify/alert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "baselines/io/error.h"

namespace fusegate::ci {
namespace {

using baselines::ChangeClass;
using baselines::ChangePoint;
using baselines::Confirmation;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kSlowed = "geglu/fused/bf16/batch:8";

// A slowdown of 3 % within half a percent, by a commit, which a duet confirmed.
ChangePoint confirmed_change() {
  return {.subject = kSlowed,
          .benchmarks = {kSlowed},
          .first_session = "night-3",
          .last_session_before = "night-2",
          .alarm_session = "night-4",
          .effect = 0.03,
          .low = 0.025,
          .high = 0.035,
          .of_class = ChangeClass::kCode,
          .reason = "commit a..b",
          .confirmation = Confirmation::kConfirmed};
}

ChangePoint later_change(double effect) {
  ChangePoint point = confirmed_change();
  point.first_session = point.alarm_session = "night-9";
  point.effect = effect;
  point.low = effect - 0.005;
  point.high = effect + 0.005;
  return point;
}

std::string fact_of(const Alert& alert, const std::string& label) {
  for (const Fact& fact : alert.facts) {
    if (fact.label == label) return fact.text.text;
  }
  return "";
}

TEST(ChangeAlerts, NameWhatWasConfirmed) {
  const auto alerts = alerts_of({{confirmed_change()}}, {{"^geglu/", {.owner = "@team"}}});
  ASSERT_THAT(alerts, SizeIs(1));
  const Alert& alert = alerts.front();
  EXPECT_EQ(alert.kind, "change");
  EXPECT_EQ(alert.title, "geglu/fused/bf16/batch:8 is 3.00 % slower since night-3");
  EXPECT_THAT(alert.owners, ElementsAre("@team"));
  EXPECT_TRUE(alert.needs_action);
  EXPECT_EQ(alert.gone, "");
  EXPECT_EQ(fact_of(alert, "effect"), "+3.00 %, 95 % interval [+2.50, +3.50] %");
  EXPECT_EQ(fact_of(alert, "class"), "code: commit a..b");
  EXPECT_THAT(fact_of(alert, "true or false"), HasSubstr("fusegate triage " + alert.id + " true"));
  EXPECT_EQ(alert.json["confirmation"], "confirmed");
}

TEST(ChangeAlerts, NameTheDayOfASessionThatHasATime) {
  ChangePoint point = confirmed_change();
  point.first_session = "20261103T021700Z-pr-28638b72";
  const Alert alert = alerts_of({{point}}, {}).front();
  EXPECT_THAT(alert.title, testing::EndsWith("since 2026-11-03"));
  EXPECT_THAT(fact_of(alert, "since"), HasSubstr(point.first_session));
}

TEST(ChangeAlerts, GatherWhatWasNotConfirmedInOneLine) {
  std::vector<ChangePoint> points(2, confirmed_change());
  points[0].confirmation = Confirmation::kAsked;
  points[1].subject = "linear/addmm";
  points[1].confirmation.reset();
  points[1].of_class = ChangeClass::kUnexplained;
  const auto alerts = alerts_of(points, {});
  ASSERT_THAT(alerts, SizeIs(1));
  EXPECT_EQ(alerts[0].title,
            "2 changes are not confirmed: linear/addmm (+3.00 %), geglu/fused/bf16/batch:8 "
            "(+3.00 %)");
  EXPECT_FALSE(alerts[0].needs_action);
}

TEST(ChangeAlerts, NameADriverACardAndAMethodWithoutADuet) {
  for (const ChangeClass of : {ChangeClass::kLibrary, ChangeClass::kCard, ChangeClass::kMethod}) {
    ChangePoint point = confirmed_change();
    point.subject = "everything";
    point.of_class = of;
    point.confirmation.reset();
    const auto alerts = alerts_of(
        {{point}}, {{"^geglu/", {.owner = "@team"}}, {"^everything$", {.owner = "@infra"}}});
    ASSERT_THAT(alerts, SizeIs(1));
    EXPECT_EQ(alerts[0].kind, "change");
    EXPECT_THAT(alerts[0].owners, ElementsAre("@infra"));
  }
}

TEST(ChangeAlerts, ASpeedUpAsksNobodyToAct) {
  ChangePoint point = confirmed_change();
  point.effect = -0.03;
  const auto alerts = alerts_of({{point}}, {});
  ASSERT_THAT(alerts, SizeIs(1));
  EXPECT_EQ(alerts[0].title, "geglu/fused/bf16/batch:8 is 3.00 % faster since night-3");
  EXPECT_FALSE(alerts[0].needs_action);
}

// Of the change in night 3, where another one follows.
std::string gone_after(const ChangePoint& later) {
  for (const Alert& alert : alerts_of({{confirmed_change(), later}}, {})) {
    if (alert.title.ends_with("night-3")) return alert.gone;
  }
  return "no alert";
}

TEST(ChangeAlerts, AreGoneWhereALaterChangeTakesThemBack) {
  EXPECT_EQ(gone_after(later_change(-0.029)), "it was taken back: +0.01 % is left of it");
  EXPECT_EQ(gone_after(later_change(-0.05)), "it was taken back: -2.15 % is left of it");
  EXPECT_EQ(gone_after(later_change(-0.01)), "");  // two thirds are left
  EXPECT_EQ(gone_after(later_change(0.03)), "");
}

TEST(ChangeAlerts, AreNotGoneByWhatIsOfAnotherSubjectOrNotCertain) {
  ChangePoint other = later_change(-0.03);
  other.subject = "linear/addmm";
  EXPECT_EQ(gone_after(other), "");
  other = later_change(-0.03);
  other.confirmation = Confirmation::kAsked;
  EXPECT_EQ(gone_after(other), "");
  other = later_change(-0.03);
  other.is_true = false;
  EXPECT_EQ(gone_after(other), "");
}

TEST(ChangeAlerts, FollowTriageRatherThanADuet) {
  ChangePoint point = confirmed_change();
  point.is_true = false;
  auto alerts = alerts_of({{point}}, {});
  ASSERT_THAT(alerts, SizeIs(1));
  EXPECT_EQ(alerts[0].gone, "it was a false alarm, as triage says");
  point.is_true = true;
  point.confirmation = Confirmation::kRefuted;
  alerts = alerts_of({{point}}, {});
  ASSERT_THAT(alerts, SizeIs(1));
  EXPECT_EQ(alerts[0].gone, "");
}

TEST(ChangeAlerts, OfWhatADuetRefutedAreGoneAndStillSaidToBeNotConfirmed) {
  ChangePoint point = confirmed_change();
  point.confirmation = Confirmation::kRefuted;
  const auto alerts = alerts_of({{point}}, {});
  ASSERT_THAT(alerts, SizeIs(2));
  EXPECT_EQ(alerts[0].gone, "a duet of the commits around it does not show it");
  EXPECT_THAT(alerts[1].title, HasSubstr("1 change is not confirmed: geglu"));
}

TEST(ChangeAlerts, HaveAnotherStateOnlyWhereTheySaySomethingElse) {
  const ChangePoint point = confirmed_change();
  const auto state = [](const ChangePoint& of) { return alerts_of({{of}}, {}).front().state(); };
  EXPECT_EQ(state(point), state(point));
  ChangePoint other = point;
  other.effect = 0.031;
  EXPECT_NE(state(point), state(other));
  other = point;
  other.is_true = true;
  EXPECT_NE(state(point), state(other));
}

TEST(MissingAlert, NamesWhatAndSinceWhen) {
  const Alert alert =
      alert_of({.what = "card GPU-1", .since = "night-3", .text = "card GPU-1 stopped reporting"},
               {{"^card ", {.owner = "@infra"}}});
  EXPECT_EQ(alert.title, "card GPU-1 stopped reporting");
  EXPECT_THAT(alert.owners, ElementsAre("@infra"));
  EXPECT_NE(alert.id, alert_of({.what = "card GPU-1", .since = "night-4", .text = ""}, {}).id);
}

Alert gate_alert(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text);
  return alert_of_gate(baselines::JsonField(json, "gate.json", ""));
}

TEST(GateAlert, NamesRegressionsTheLargestFirstAndTheirOwners) {
  const Alert alert = gate_alert(R"({"exit_code": 1, "headline": "Regression", "verdicts": [
      {"benchmark": "a", "verdict": "regression", "effect": 0.02},
      {"benchmark": "b", "verdict": "improvement", "effect": -0.5},
      {"benchmark": "c", "verdict": "regression", "effect": 0.04},
      {"benchmark": "d", "verdict": "regression", "effect": null}],
      "settings": {"a": {"owner": "@ann"}, "b": {"owner": "@bob"}}})");
  EXPECT_EQ(alert.title, "gate: Regression");
  std::vector<std::string> labels;
  for (const Fact& fact : alert.facts) labels.push_back(fact.label);
  EXPECT_THAT(labels, ElementsAre("c", "a", "d"));
  EXPECT_EQ(fact_of(alert, "c"), "+4.00 %");
  EXPECT_EQ(fact_of(alert, "d"), "-");
  EXPECT_THAT(alert.owners, ElementsAre("@ann"));
  EXPECT_TRUE(alert.needs_action);
  EXPECT_EQ(alert.gone, "");
}

TEST(GateAlert, IsGoneWhereItPassesAndStaysWhereItCouldNotJudge) {
  const Alert passed = gate_alert(R"({"exit_code": 0, "headline": "Fine", "verdicts": []})");
  EXPECT_EQ(passed.gone, "the gate passes");
  const Alert failed = gate_alert(R"({"exit_code": 2, "headline": "No run", "verdicts": []})");
  EXPECT_EQ(failed.gone, "");
  EXPECT_FALSE(failed.needs_action);
}

TEST(GateAlert, RefusesWhatIsNoGatesFileByItsField) {
  for (const auto& [text, problem] : {
           std::pair(R"({"headline": "x", "verdicts": []})", "gate.json: exit_code: is missing"),
           std::pair(R"({"exit_code": 1, "headline": 3, "verdicts": []})", "headline: must be"),
           std::pair(R"({"exit_code": 1, "headline": "x", "verdicts": [1]})", "verdicts[0]"),
           std::pair(R"({"exit_code": 1, "headline": "x", "verdicts": [], "owners": {"a": "b"}})",
                     "owners.a: must be"),
       }) {
    try {
      gate_alert(text);
      ADD_FAILURE() << text;
    } catch (const baselines::InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(problem));
    }
  }
}

}  // namespace
}  // namespace fusegate::ci
