#include <fmt/format.h>
#include <re2/re2.h>

#include <cstdlib>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"
#include "ci/commands/reading/command_line.h"
#include "ci/notify/alarm_history.h"
#include "ci/notify/issues.h"

namespace fusegate::ci {
namespace {

using baselines::ExitCode;
using baselines::InputError;

constexpr const char* kWebhookVariable = "FUSEGATE_WEBHOOK_URL";
constexpr const char* kTokenVariable = "GITHUB_TOKEN";
constexpr const char* kApiVariable = "GITHUB_API_URL";

void check(const NotifyRequest& request) {
  if (!request.gate && !request.db) {
    throw InputError("notify", "", "has nothing to report; name --gate, --db or both");
  }
  if (request.send && request.github.empty() && !request.webhook) {
    throw InputError("--send", "", "has nowhere to send to; name --github, --webhook or both");
  }
  static const re2::RE2 repository("[A-Za-z0-9-]+/[A-Za-z0-9_-][A-Za-z0-9._-]*");
  if (!request.github.empty() && !re2::RE2::FullMatch(request.github, repository)) {
    throw InputError("--github", "", fmt::format("must be OWNER/REPO, not {}", request.github));
  }
  static const re2::RE2 label("[A-Za-z0-9._-]{1,50}");
  if (!re2::RE2::FullMatch(request.label, label)) {
    throw InputError("--label", "", "must be of 1 to 50 letters, digits, dots, - and _");
  }
  static const re2::RE2 page("https?://[A-Za-z0-9._~:/?#@!&=%+,;-]+");
  if (!request.page.empty() && !re2::RE2::FullMatch(request.page, page)) {
    throw InputError("--page", "", "must be an address that begins with https://");
  }
  if (!(request.timeout_s > 0 && request.timeout_s <= 3600)) {
    throw InputError("--timeout-s", "", "must be above 0 and at most 3600");
  }
}

std::vector<Alert> alerts_in(const NotifyRequest& request, const AlarmHistory* history) {
  std::vector<Alert> alerts;
  baselines::Settings settings = history == nullptr ? baselines::Settings{} : history->settings();
  if (request.gate) {
    const std::string source = request.gate->string();
    const nlohmann::json parsed =
        baselines::parse_json(baselines::read_file(*request.gate), source);
    const baselines::JsonField gate(parsed, source, "");
    const baselines::Settings of_gate = baselines::read_settings(gate, baselines::kSettings);
    if (!of_gate.empty()) settings = of_gate;
    alerts.push_back(alert_of_gate(gate));
  }
  if (history == nullptr) return alerts;
  for (Alert& alert : alerts_of(history->change_points(), settings)) {
    alerts.push_back(std::move(alert));
  }
  for (const auto& missing : history->missing()) alerts.push_back(alert_of(missing, settings));
  return alerts;
}

// What is done with all targets, or would be.
class Targets {
 public:
  Targets(const NotifyRequest& request, Console& console) : request_(request), console_(console) {
    if (!request.send) return;
    if (!request.github.empty()) {
      const char* const api = std::getenv(kApiVariable);
      issues_.api = api == nullptr || *api == '\0' ? "https://api.github.com" : api;
      host_of(issues_.api, kApiVariable);
      if (issues_.api.ends_with('/')) issues_.api.pop_back();
      issues_.token = secret_of(kTokenVariable);
    }
    if (!request.webhook) return;
    webhook_ = secret_of(kWebhookVariable);
    host_of(webhook_, kWebhookVariable);
  }

  void open_issues(std::span<const Alert> alerts) {
    if (!request_.send) return show_issues(alerts);
    issues_.repository = request_.github;
    issues_.label = request_.label;
    issues_.page = request_.page;
    issues_.most_new = request_.most_new;
    settle_issues(
        issues_, alerts, request_.db.has_value(), http(),
        [this](const std::string& line) { console_.out.print("{}: {}\n", request_.github, line); });
  }

  void post(std::span<const Alert> alerts, const ReportedBefore& before) {
    const auto news = news_in(alerts, before);
    const nlohmann::json message = webhook_message(news, request_.page);
    if (message.is_null()) {
      console_.out.print("webhook: nothing new\n");
    } else if (!request_.send) {
      console_.out.print("webhook: would post\n");
      console_.out.lines(message.dump(1, ' ', true, nlohmann::json::error_handler_t::replace) +
                         "\n");
    } else {
      post_message(webhook_, message, http());
      keep_reported(news, before);
      console_.out.print("webhook: posted {}\n", format_count(news.size(), "finding"));
    }
  }

 private:
  Http http() const {
    return [limits = HttpLimits{.request_s = request_.timeout_s}](const HttpRequest& request) {
      return send_by_curl(request, limits);
    };
  }
  void show_issues(std::span<const Alert> alerts) {
    for (const Alert& alert : alerts) {
      if (!alert.gone.empty()) {
        console_.out.print("{}: would close the issue of: {}\n", request_.github, alert.title);
      } else if (alert.needs_action) {
        console_.out.print("{}: would open an issue, or update it: {}\n", request_.github,
                           issue_title(alert));
        console_.out.lines(issue_body(alert, request_.page));
      }
    }
  }

  const NotifyRequest& request_;
  Console& console_;
  IssueTarget issues_{};
  std::string webhook_{};
};

// Each on its own line: the title, and why it is gone.
void print_alerts(std::span<const Alert> alerts, Console& console) {
  if (alerts.empty()) console.out.print("nothing to report\n");
  for (const Alert& alert : alerts) {
    console.out.print("{}{}{}\n", alert.title, alert.gone.empty() ? "" : ": gone, ", alert.gone);
  }
}

}  // namespace

void add_notify(CommandLine& line) {
  auto [app, request] = line.add(
      "notify",
      "Report to people what a gate or a history's nights found: as issues on GitHub, or by a "
      "webhook. "
      "Prints what it would send; --send sends it",
      "fusegate notify --gate gate.json --db .fusegate/history.db --github org/kernels --send",
      notify_command);
  app.add_option("--gate", request.gate, "The file of fusegate gate --json")->type_name("FILE");
  app.add_option("--db", request.db, "A history: its change points, and what stopped reporting")
      ->type_name("FILE");
  app.add_option("--github", request.github,
                 "An issue for each finding there, with the token in GITHUB_TOKEN")
      ->type_name("OWNER/REPO");
  app.add_option("--label", request.label,
                 "Of the issues: one for each history that reports to the same repository")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--most-new", request.most_new, "Issues that one call opens at most")
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--webhook", request.webhook,
               "Post what is new to the address in FUSEGATE_WEBHOOK_URL, as JSON that Slack shows");
  app.add_option("--page", request.page, "A link that is sent along")->type_name("URL");
  app.add_option("--timeout-s", request.timeout_s, "How long to wait for each answer")
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_flag("--send", request.send, "Send it; without this nothing leaves this machine");
}

ExitCode notify_command(const NotifyRequest& request, Console& console) {
  check(request);
  Targets targets(request, console);
  std::optional<AlarmHistory> history;
  if (request.db) history.emplace(*request.db, request.send && request.webhook);
  const std::vector<Alert> alerts = alerts_in(request, history ? &*history : nullptr);
  print_alerts(alerts, console);
  bool all_well = true;
  // What one target refuses, the other still gets.
  const auto attempt = [&](const auto& send) {
    try {
      send();
    } catch (const InputError& error) {
      console.err.print("fusegate: {}\n", error.what());
      all_well = false;
    }
  };
  if (!request.github.empty()) attempt([&] { targets.open_issues(alerts); });
  if (request.webhook) {
    attempt([&] { targets.post(alerts, history ? history->reported_before() : ReportedBefore{}); });
  }
  return all_well ? ExitCode::kNoRegression : ExitCode::kCouldNotJudge;
}

}  // namespace fusegate::ci
