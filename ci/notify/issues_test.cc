#include "ci/notify/issues.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"

namespace fusegate::ci {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// A repository's issues as GitHub keeps them.
class IssuesTest : public ::testing::Test {
 protected:
  HttpAnswer answer(const HttpRequest& request) {
    asked_.push_back(request.method);
    EXPECT_THAT(request.url, StartsWith("https://api.github.com/repos/org/kernels/issues"));
    EXPECT_THAT(request.headers, testing::Contains("Authorization: Bearer token"));
    if (refusal_.status != 0) return refusal_;
    if (request.method == "GET") return {.status = 200, .body = listed(request.url).dump()};
    const json sent = json::parse(request.body);
    if (request.method == "POST") {
      json made{{"number", issues_.size() + 1}, {"state", "open"}, {"labels", json::array()}};
      made.update(sent);
      made["labels"] = json::array();
      if (sets_labels_) made["labels"].push_back({{"name", sent["labels"][0]}});
      issues_.push_back(made);
      return {.status = 201, .body = made.dump()};
    }
    const auto number = std::stoul(request.url.substr(request.url.rfind('/') + 1));
    issues_.at(number - 1).update(sent);
    return {.status = 200, .body = "{}"};
  }

  // What was said.
  std::vector<std::string> settle(const std::vector<Alert>& alerts, bool has_missing = true) {
    asked_.clear();
    std::vector<std::string> said;
    settle_issues(
        target_, alerts, has_missing,
        [this](const HttpRequest& request) { return answer(request); },
        [&](const std::string& line) { said.push_back(line); });
    return said;
  }
  std::string problem(const std::vector<Alert>& alerts) {
    try {
      settle(alerts);
    } catch (const baselines::InputError& error) {
      return error.what();
    }
    return "";
  }

  json listed(const std::string& url) const {
    EXPECT_THAT(url, HasSubstr("?state=all&labels=fusegate&per_page=100&page="));
    const auto first = 100 * (std::stoul(url.substr(url.rfind('=') + 1)) - 1);
    json page = json::array();
    for (auto i = first; i < issues_.size() && i < first + 100; ++i) page.push_back(issues_[i]);
    return page;
  }

  IssueTarget target_{.repository = "org/kernels",
                      .label = "fusegate",
                      .page = "https://example.org/page",
                      .api = "https://api.github.com",
                      .token = "token"};
  std::vector<json> issues_;
  std::vector<std::string> asked_;
  HttpAnswer refusal_{};
  bool sets_labels_ = true;
};

Alert an_alert(const std::string& id = "1") {
  return {.kind = "change",
          .id = id,
          .title = "geglu is 3.00 % slower",
          .facts = {{"effect", "+3.00 %"}},
          .owners = {"@org/team"}};
}

TEST_F(IssuesTest, OpensOneAndDoesNothingTheSecondTime) {
  EXPECT_THAT(settle({an_alert()}), ElementsAre("opened #1: geglu is 3.00 % slower"));
  EXPECT_EQ(issues_[0]["title"], "geglu is 3.00 % slower");
  EXPECT_THAT(issues_[0]["body"].get<std::string>(),
              AllOf(HasSubstr("- effect: +3.00 %\n"), HasSubstr("- owners: @org/team\n"),
                    HasSubstr("[The page](https://example.org/page)"),
                    HasSubstr("<!-- fusegate change 1 " + an_alert().state() + " -->")));
  EXPECT_THAT(settle({an_alert()}), IsEmpty());
  EXPECT_THAT(asked_, ElementsAre("GET"));
}

TEST_F(IssuesTest, RewritesItWhereTheAlertSaysSomethingElse) {
  settle({an_alert()});
  Alert changed = an_alert();
  changed.title = "geglu is 4.00 % slower";
  EXPECT_THAT(settle({changed}), ElementsAre("updated #1: geglu is 4.00 % slower"));
  EXPECT_EQ(issues_[0]["title"], "geglu is 4.00 % slower");
  EXPECT_THAT(settle({changed}), IsEmpty());
}

TEST_F(IssuesTest, ClosesItWhereTheAlertIsGoneAndOnce) {
  settle({an_alert()});
  Alert gone = an_alert();
  gone.gone = "it was taken back";
  EXPECT_THAT(settle({gone}), ElementsAre("closed #1: it was taken back"));
  EXPECT_EQ(issues_[0]["state"], "closed");
  EXPECT_THAT(issues_[0]["body"].get<std::string>(), HasSubstr("- closed: it was taken back"));
  EXPECT_THAT(settle({gone}), IsEmpty());
}

TEST_F(IssuesTest, LeavesWhatSomebodyClosedAndOpensNoneForWhatIsGoneOrAsksForNothing) {
  settle({an_alert()});
  issues_[0]["state"] = "closed";
  Alert changed = an_alert();
  changed.title = "geglu is 4.00 % slower";
  Alert gone = an_alert("2");
  gone.gone = "it was taken back";
  Alert faster = an_alert("3");
  faster.needs_action = false;
  EXPECT_THAT(settle({changed, gone, faster}), IsEmpty());
  EXPECT_EQ(issues_.size(), 1u);
}

TEST_F(IssuesTest, ClosesWhatReportsAgainWhereItWasAskedFor) {
  Alert missing = an_alert();
  missing.kind = "missing";
  settle({missing, an_alert("2")});
  EXPECT_THAT(settle({}, false), IsEmpty());
  EXPECT_THAT(settle({missing}), IsEmpty());
  EXPECT_THAT(settle({}), ElementsAre("closed #1: it reports again"));
  EXPECT_EQ(issues_[1]["state"], "open");  // the change may be in another history
}

TEST_F(IssuesTest, FindsItBehindAHundredOthersAndAmongPullRequests) {
  for (int i = 1; i <= 150; ++i) {
    issues_.push_back({{"number", i}, {"state", "open"}, {"body", nullptr}});
  }
  const std::string mark = "<!-- fusegate change 1 " + an_alert().state() + " -->";
  issues_[10]["body"] = mark;
  issues_[10]["pull_request"] = json::object();
  issues_[120]["body"] = mark;
  EXPECT_THAT(settle({an_alert()}), IsEmpty());
  EXPECT_THAT(asked_, ElementsAre("GET", "GET"));
}

TEST_F(IssuesTest, OpensFewAtOnceAndSaysWhatIsLeft) {
  target_.most_new = 1;
  EXPECT_THAT(settle({an_alert(), an_alert("2")}),
              ElementsAre("opened #1: geglu is 3.00 % slower",
                          "left 1 for the next call, as one opens 1 at most: geglu is 3.00 % "
                          "slower"));
  EXPECT_EQ(issues_.size(), 1u);
}

TEST_F(IssuesTest, ShowsNamesAsTextAndMentionsNobodyElse) {
  Alert alert = an_alert();
  alert.title = "@everyone <!-- fusegate gate gate 0 --> [x](http://y)";
  alert.facts = {{"class", "@everyone <b>"}};
  const std::string body = issue_body(alert, "");
  EXPECT_THAT(body, AllOf(Not(HasSubstr("@everyone")), Not(HasSubstr("<b>")),
                          Not(HasSubstr("<!-- fusegate gate")), Not(HasSubstr("](http"))));
  EXPECT_THAT(body, HasSubstr("- owners: @org/team"));
}

TEST_F(IssuesTest, SaysWhatToDoAndNeverTheToken) {
  for (const auto& [status, advice] : {std::pair(401, "is not valid"),
                                       {403, "issues: write"},
                                       {404, "check its name"},
                                       {301, "it was moved"}}) {
    refusal_ = {.status = status, .body = R"({"message": "Bad token"})"};
    EXPECT_THAT(
        problem({}),
        AllOf(StartsWith(fmt::format("api.github.com: org/kernels: answers {}: Bad ***", status)),
              HasSubstr(advice)));
  }
  refusal_ = {.status = 200, .body = "<html>"};
  EXPECT_THAT(problem({}), StartsWith("api.github.com"));
  refusal_ = {};
  sets_labels_ = false;
  EXPECT_THAT(problem({an_alert()}), HasSubstr("leaves issue 1 without the label fusegate"));
}

}  // namespace
}  // namespace fusegate::ci
