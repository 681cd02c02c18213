// Alerts as one message to a webhook: JSON with a "text", as Slack and those like it show it, and
// the findings for programs.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ci/notify/alert.h"
#include "ci/notify/http.h"

namespace fusegate::ci {

// What was posted before, by alert, so that nothing is posted twice. Both may be empty functions.
struct ReportedBefore {
  std::function<std::optional<std::string>(const std::string& key)> recall{};
  std::function<void(const std::string& key, const std::string& news)> keep{};
};

// Those that stand and are news, and of what was posted before those that are gone.
std::vector<const Alert*> news_in(std::span<const Alert> alerts, const ReportedBefore& before);

// Null where there is no news.
nlohmann::json webhook_message(std::span<const Alert* const> news, const std::string& page);

// Throws InputError naming the host alone, as the rest of the address is a secret.
void post_message(const std::string& url, const nlohmann::json& message, const Http& http);
void keep_reported(std::span<const Alert* const> news, const ReportedBefore& before);

}  // namespace fusegate::ci
