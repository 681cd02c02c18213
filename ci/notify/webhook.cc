#include "ci/notify/webhook.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

#include "baselines/io/error.h"
#include "baselines/io/printable.h"
#include "ci/console/format.h"

namespace fusegate::ci {
namespace {

using nlohmann::json;

// Slack shows 4000 characters well.
constexpr std::size_t kMostLines = 15;
constexpr std::size_t kLongestText = 250;
// Escaped once more, it fits into what curl takes (http.h).
constexpr std::size_t kMostFindings = 60'000;

std::string key_of(const Alert& alert) { return "notify/" + alert.kind + "/" + alert.id; }

// Slack reads "<!channel>" as a call to all (https://api.slack.com/reference/surfaces/formatting).
std::string slack_text(std::string_view text) {
  std::string escaped;
  for (const char c : baselines::printable_excerpt(text, kLongestText)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string text_of(std::span<const Alert* const> news, const std::string& page) {
  std::string text = fmt::format("fusegate: {}", format_count(news.size(), "finding"));
  for (std::size_t i = 0; i < news.size() && i < kMostLines; ++i) {
    const Alert& alert = *news[i];
    text += fmt::format("\n{}", slack_text(alert.title));
    if (!alert.gone.empty()) text += fmt::format(": gone, {}", slack_text(alert.gone));
    if (!alert.owners.empty()) text += fmt::format(" ({})", fmt::join(alert.owners, ", "));
  }
  if (news.size() > kMostLines) text += fmt::format("\nand {} more", news.size() - kMostLines);
  if (!page.empty()) text += "\n" + page;
  return text;
}

json finding_json(const Alert& alert) {
  json finding = alert.json;
  finding["kind"] = alert.kind;
  finding["id"] = alert.id;
  finding["title"] = alert.title;
  finding["owners"] = alert.owners;
  finding["gone"] = alert.gone.empty() ? json(nullptr) : json(alert.gone);
  return finding;
}

std::string dumped(const json& value) {
  return value.dump(-1, ' ', true, json::error_handler_t::replace);
}

}  // namespace

std::vector<const Alert*> news_in(std::span<const Alert> alerts, const ReportedBefore& before) {
  std::vector<const Alert*> news;
  for (const Alert& alert : alerts) {
    const auto posted = before.recall ? before.recall(key_of(alert)) : std::nullopt;
    const bool is_news = posted ? *posted != alert.news : alert.gone.empty();
    if (is_news) news.push_back(&alert);
  }
  return news;
}

json webhook_message(std::span<const Alert* const> news, const std::string& page) {
  if (news.empty()) return nullptr;
  json findings = json::array();
  std::size_t bytes = 0;
  for (const Alert* alert : news) {
    json finding = finding_json(*alert);
    bytes += dumped(finding).size();
    if (bytes > kMostFindings) break;
    findings.push_back(std::move(finding));
  }
  const std::size_t left_out = news.size() - findings.size();
  return {{"text", text_of(news, page)}, {"findings", findings}, {"left_out", left_out}};
}

void post_message(const std::string& url, const json& message, const Http& http) {
  const HttpAnswer answer = http({.method = "POST", .url = url, .body = dumped(message)});
  if (answer.status >= 200 && answer.status < 300) return;
  const bool is_moved = answer.status >= 300 && answer.status < 400;
  throw baselines::InputError(
      host_of(url, "FUSEGATE_WEBHOOK_URL"), "",
      fmt::format("answers {}; {}", answer.status,
                  is_moved ? "it was moved: set FUSEGATE_WEBHOOK_URL to the address it has now"
                           : "check FUSEGATE_WEBHOOK_URL"));
}

void keep_reported(std::span<const Alert* const> news, const ReportedBefore& before) {
  if (!before.keep) return;
  for (const Alert* alert : news) before.keep(key_of(*alert), alert->news);
}

}  // namespace fusegate::ci
