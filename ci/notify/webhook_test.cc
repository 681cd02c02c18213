#include "ci/notify/webhook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "baselines/io/error.h"

namespace fusegate::ci {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

Alert a_finding(const std::string& id = "1") {
  return {.kind = "change",
          .id = id,
          .title = "geglu is 3.00 % slower",
          .owners = {"@org/team"},
          .json = {{"effect", 0.03}},
          .news = "stands"};
}

TEST(Webhook, HasATextAndTheFindings) {
  const std::vector<Alert> alerts{a_finding()};
  const auto message = webhook_message(news_in(alerts, {}), "https://example.org/page");
  EXPECT_EQ(message["text"],
            "fusegate: 1 finding\ngeglu is 3.00 % slower (@org/team)\nhttps://example.org/page");
  ASSERT_THAT(message["findings"], SizeIs(1));
  EXPECT_EQ(message["findings"][0]["effect"], 0.03);
  EXPECT_EQ(message["findings"][0]["id"], "1");
  EXPECT_EQ(message["findings"][0]["gone"], nullptr);
}

TEST(Webhook, CallsNobodyByWhatANameSays) {
  std::vector<Alert> alerts{a_finding()};
  alerts[0].title = "<!channel> kernel<a & b>\nsecond line";
  const auto text = webhook_message(news_in(alerts, {}), "")["text"].get<std::string>();
  EXPECT_THAT(text, AllOf(HasSubstr("&lt;!channel&gt; kernel&lt;a &amp; b&gt;\\nsecond"),
                          Not(HasSubstr("<"))));
}

TEST(Webhook, PostsNothingTwiceAndWhatIsGoneOnlyWhereItWasPosted) {
  std::map<std::string, std::string> kept;
  const ReportedBefore before{
      .recall = [&](const std::string& key) -> std::optional<std::string> {
        const auto found = kept.find(key);
        return found == kept.end() ? std::nullopt : std::optional(found->second);
      },
      .keep = [&](const std::string& key, const std::string& news) { kept[key] = news; }};
  std::vector<Alert> alerts{a_finding(), a_finding("2")};
  alerts[1].gone = "it was taken back";
  EXPECT_THAT(news_in(alerts, before), SizeIs(1));
  keep_reported(news_in(alerts, before), before);
  EXPECT_THAT(news_in(alerts, before), IsEmpty());
  EXPECT_EQ(webhook_message({}, ""), nullptr);
  alerts[0].title = "geglu is 3.10 % slower";
  EXPECT_THAT(news_in(alerts, before), IsEmpty());
  alerts[0].gone = "it was taken back";
  alerts[0].news = "gone";
  const auto news = news_in(alerts, before);
  ASSERT_THAT(news, SizeIs(1));
  EXPECT_THAT(webhook_message(news, "")["text"].get<std::string>(),
              HasSubstr("3.10 % slower: gone, it was taken back"));
}

TEST(Webhook, StaysWithinWhatCurlTakes) {
  std::vector<Alert> alerts(3000, a_finding());
  const auto message = webhook_message(news_in(alerts, {}), "");
  EXPECT_LT(message.dump().size(), 70'000u);
  EXPECT_EQ(message["left_out"].get<std::size_t>() + message["findings"].size(), 3000u);
  EXPECT_THAT(message["text"].get<std::string>(), HasSubstr("and 2985 more"));
}

TEST(Webhook, NamesTheHostAloneWhereItIsRefused) {
  for (const int status : {302, 404, 500}) {
    try {
      post_message("https://hooks.example.org/secret", {{"text", "x"}},
                   [&](const HttpRequest&) { return HttpAnswer{.status = status}; });
      ADD_FAILURE() << status;
    } catch (const baselines::InputError& error) {
      EXPECT_THAT(error.what(),
                  AllOf(HasSubstr("hooks.example.org: answers"), Not(HasSubstr("secret"))));
    }
  }
}

}  // namespace
}  // namespace fusegate::ci
