#include "ci/notify/issues.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <optional>
#include <vector>

#include "baselines/io/error.h"
#include "baselines/io/printable.h"

namespace fusegate::ci {
namespace {

using baselines::InputError;
using baselines::JsonField;
using nlohmann::json;

constexpr std::string_view kMark = "<!-- fusegate ";
constexpr std::size_t kLongestTitle = 200;  // GitHub takes 256 characters
constexpr std::size_t kLongestBody = 20'000;
constexpr int kPerPage = 100;
constexpr int kMostPages = 100;

struct Issue {
  int number = 0;
  bool is_open = false;
  std::string state;  // of the alert, as its mark has it
};

std::string name_of(const Alert& alert) { return alert.kind + " " + alert.id; }

// By "KIND ID" of the mark. Of two with one mark the older one counts.
using Issues = std::map<std::string, Issue>;

std::string without(std::string text, const std::string& secret) {
  for (auto at = text.find(secret); at != text.npos; at = text.find(secret)) {
    text.replace(at, secret.size(), "***");
  }
  return text;
}

std::string advice(int status) {
  switch (status) {
    case 401:
      return "; GITHUB_TOKEN is not valid: set another";
    case 403:
      return "; GITHUB_TOKEN needs the permission \"issues: write\"";
    case 404:
      return "; check its name, and that GITHUB_TOKEN may see it";
    case 410:
      return "; the repository has issues turned off";
    default:
      break;
  }
  return status >= 300 && status < 400 ? "; it was moved: name the address that it has now" : "";
}

class Repository {
 public:
  Repository(const IssueTarget& target, const Http& http)
      : target_(target), http_(http), host_(host_of(target.api, "GITHUB_API_URL")) {}

  Issues issues() const {
    Issues found;
    for (int page = 1; page <= kMostPages; ++page) {
      const json list = call("GET", fmt::format("?state=all&labels={}&per_page={}&page={}",
                                                target_.label, kPerPage, page));
      if (!list.is_array()) fail("does not answer with a list of issues");
      for (const json& one : list) add(one, &found);
      if (list.size() < kPerPage) return found;
    }
    fail(fmt::format("has more than {} issues with the label {}; take another by --label",
                     kPerPage * kMostPages, target_.label));
  }

  int open(const json& issue) const {
    const json made = call("POST", "", issue);
    const JsonField field(made, host_, "");
    const int number = field.at("number").integer();
    for (const JsonField& label : field.at("labels").elements()) {
      if (label.at("name").text() == target_.label) return number;
    }
    fail(
        fmt::format("leaves issue {} without the label {}, so it would not be found again; close "
                    "it, and give GITHUB_TOKEN the right to set labels",
                    number, target_.label));
  }

  void change(int number, const json& change) const {
    call("PATCH", fmt::format("/{}", number), change);
  }

 private:
  json call(const std::string& method, const std::string& path, const json& body = {}) const {
    HttpRequest request{
        .method = method,
        .url = fmt::format("{}/repos/{}/issues{}", target_.api, target_.repository, path),
        .headers = {"Authorization: Bearer " + target_.token, "Accept: application/vnd.github+json",
                    "X-GitHub-Api-Version: 2022-11-28", "User-Agent: fusegate"}};
    if (!body.is_null()) request.body = body.dump(-1, ' ', true, json::error_handler_t::replace);
    const HttpAnswer answer = http_(request);
    if (answer.status < 200 || answer.status >= 300) {
      fail(fmt::format("answers {}{}{}", answer.status, reason_in(answer), advice(answer.status)));
    }
    return baselines::parse_json(answer.body, host_);
  }

  std::string reason_in(const HttpAnswer& answer) const {
    constexpr std::size_t kLongest = 200;
    const json parsed = json::parse(answer.body, nullptr, false);
    if (!parsed.is_object() || !parsed.contains("message") || !parsed["message"].is_string()) {
      return "";
    }
    const std::string message = without(parsed["message"].get<std::string>(), target_.token);
    return ": " + baselines::printable_excerpt(message, kLongest);
  }

  void add(const json& one, Issues* found) const {
    const JsonField issue(one, host_, "issue");
    if (issue.find("pull_request")) return;
    const std::string body = issue.text_or_empty("body");
    const auto mark = body.rfind(kMark);
    if (mark == body.npos) return;
    // "KIND ID STATE -->"
    const std::string_view rest = std::string_view(body).substr(mark + kMark.size());
    const auto id = rest.find(' ');
    const auto state = rest.find(' ', id == rest.npos ? id : id + 1);
    const auto end = rest.find(' ', state == rest.npos ? state : state + 1);
    if (end == rest.npos) return;
    Issue& known = (*found)[std::string(rest.substr(0, state))];
    const int number = issue.at("number").integer();
    if (known.number != 0 && known.number < number) return;
    known = {number, issue.at("state").text() == "open",
             std::string(rest.substr(state + 1, end - state - 1))};
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw InputError(host_, target_.repository, problem);
  }

  const IssueTarget& target_;
  const Http& http_;
  const std::string host_;
};

// One call of settle_issues().
class Settling {
 public:
  Settling(const IssueTarget& target, const Http& http,
           const std::function<void(const std::string&)>& say)
      : target_(target), say_(say), repository_(target, http), issues_(repository_.issues()) {}

  void settle(const Alert& alert) {
    const auto found = issues_.extract(name_of(alert));
    if (found.empty()) {
      if (alert.gone.empty() && alert.needs_action) open(alert);
      return;
    }
    const Issue& issue = found.mapped();
    if (!issue.is_open) return;
    json change{{"title", issue_title(alert)}, {"body", issue_body(alert, target_.page)}};
    if (!alert.gone.empty()) {
      close(issue, alert.gone, std::move(change));
    } else if (alert.needs_action && issue.state != alert.state()) {
      repository_.change(issue.number, change);
      report("updated", issue.number, alert.title);
    }
  }

  // Of what was missing, and is among no alerts that were settled.
  void close_what_reports_again() {
    for (const auto& [name, issue] : issues_) {
      if (issue.is_open && name.starts_with("missing ")) close(issue, "it reports again", {});
    }
  }

  void name_left_out() const {
    if (left_out_.empty()) return;
    say_(fmt::format("left {} for the next call, as one opens {} at most: {}", left_out_.size(),
                     target_.most_new, fmt::join(left_out_, "; ")));
  }

 private:
  void open(const Alert& alert) {
    if (opened_ == target_.most_new) return left_out_.push_back(alert.title);
    ++opened_;
    report("opened",
           repository_.open({{"title", issue_title(alert)},
                             {"body", issue_body(alert, target_.page)},
                             {"labels", json::array({target_.label})}}),
           alert.title);
  }
  void close(const Issue& issue, const std::string& why, json change) const {
    change["state"] = "closed";
    change["state_reason"] = "completed";
    repository_.change(issue.number, change);
    report("closed", issue.number, why);
  }
  void report(const char* what, int number, const std::string& text) const {
    say_(fmt::format("{} #{}: {}", what, number, text));
  }

  const IssueTarget& target_;
  const std::function<void(const std::string&)>& say_;
  const Repository repository_;
  Issues issues_;
  std::size_t opened_ = 0;
  std::vector<std::string> left_out_{};
};

}  // namespace

std::string issue_title(const Alert& alert) {
  return baselines::printable_excerpt(alert.title, kLongestTitle);
}

std::string issue_body(const Alert& alert, const std::string& page) {
  std::vector<Fact> facts = alert.facts;
  if (!alert.gone.empty()) facts.push_back({"closed", alert.gone});
  std::string body = markdown({.facts = std::move(facts)}, kLongestBody);
  if (!alert.owners.empty()) body += fmt::format("- owners: {}\n", fmt::join(alert.owners, ", "));
  if (!page.empty()) body += fmt::format("\n[The page]({})\n", page);
  return body + fmt::format("\n{}{} {} -->\n", kMark, name_of(alert), alert.state());
}

void settle_issues(const IssueTarget& target, std::span<const Alert> alerts, bool has_missing,
                   const Http& http, const std::function<void(const std::string&)>& say) {
  Settling settling(target, http, say);
  for (const Alert& alert : alerts) settling.settle(alert);
  if (has_missing) settling.close_what_reports_again();
  settling.name_left_out();
}

}  // namespace fusegate::ci
