#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "baselines/gating/accepted.h"
#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"
#include "baselines/io/pattern.h"
#include "baselines/io/write_lock.h"
#include "ci/commands/reading/command_line.h"
#include "ci/console/format.h"
#include "ci/console/layout.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using baselines::AcceptedSlowdown;
using baselines::InputError;
using baselines::JsonField;

// Writing the file takes milliseconds.
constexpr std::chrono::seconds kLongestTurn(10);

// That fits this name alone, and can be read: only what means something else is escaped.
std::string pattern_of_name(std::string name) {
  RE2::GlobalReplace(&name, R"([\\.+*?()|\[\]{}^$])", R"(\\\0)");
  return "^" + name + "$";
}

// Where the next measurement of the same precision lies, with the confidence of the interval: the
// variance of a difference of two estimates is twice that of one (G. J. Hahn, W. Q. Meeker,
// "Statistical intervals" (1991), section 4.7). Outward to a hundredth of a percent.
baselines::Interval next_range_of(const JsonField& verdict) {
  const double effect = verdict.at("effect").number();
  const auto interval = verdict.find("interval");
  const auto end = [&](const char* key) {
    const auto found = interval ? interval->find(key) : std::nullopt;
    return found ? found->number() : effect;
  };
  const double low = end("low"), high = end("high");
  constexpr double kSteps = 1e4;
  return {std::max(0.0, std::trunc(kSteps * (effect - std::sqrt(2) * (effect - low))) / kSteps),
          std::ceil(kSteps * (effect + std::sqrt(2) * (high - effect))) / kSteps};
}

bool is_unaccepted(const JsonField& verdict) {
  const auto accepted = verdict.find("accepted");
  return verdict.at("verdict").text() == "regression" &&
         !(accepted && accepted->at("state").text() == "covers");
}

void check_acknowledging(const AcknowledgeRequest& request) {
  if (request.benchmarks.empty() != request.all) {
    throw InputError("--benchmark", "", "name benchmarks by a pattern, or all with --all");
  }
  if (request.reason.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw InputError("--reason", "", "empty; say why the slowdown is accepted");
  }
  const auto until = baselines::parse_day(request.until);
  if (!until ||
      *until < std::chrono::time_point_cast<std::chrono::days>(std::chrono::system_clock::now())) {
    throw InputError("--until", "", "must be a day to come, such as 2026-12-31");
  }
  if (!request.link.empty() && !request.link.starts_with("https://")) {
    throw InputError("--link", "", "must be an address that begins with https://");
  }
}

// Of each that regressed and is asked for. Throws where one of the patterns fits none.
std::vector<AcceptedSlowdown> new_entries(const AcknowledgeRequest& request) {
  const std::string source = request.gate.string();
  const nlohmann::json json = baselines::parse_json(baselines::read_file(request.gate), source);
  const std::vector<JsonField> verdicts = JsonField(json, source, "").at("verdicts").elements();
  const std::string who = user_or(request.who);
  std::vector<AcceptedSlowdown> entries;
  const auto add = [&](const std::string& text) {
    const baselines::Pattern pattern(text);
    bool any = false;
    for (const JsonField& verdict : verdicts) {
      const std::string name = verdict.at("benchmark").text();
      if (!is_unaccepted(verdict) || !pattern.fits(name)) continue;
      any = true;
      const std::string own = pattern_of_name(name);
      if (std::ranges::find(entries, own, &AcceptedSlowdown::pattern) != entries.end()) continue;
      entries.push_back(
          {own, next_range_of(verdict), request.reason, who, request.until, request.link});
    }
    if (any) return;
    throw InputError(source, "verdicts",
                     request.all
                         ? "has no regression that is not accepted"
                         : fmt::format("no regression that is not accepted fits \"{}\"", text));
  };
  for (const std::string& text : request.benchmarks) add(text);
  if (request.all) add(".");
  return entries;
}

}  // namespace

void add_acknowledge(CommandLine& line) {
  auto [app, request] = line.add(
      "acknowledge",
      "Accept regressions of a gate for a while: writes them into accepted.json, where the gate "
      "finds them",
      "fusegate acknowledge gate.json --benchmark ^geglu_mlp/ --reason \"exact gelu\" "
      "--until 2026-12-31",
      acknowledge_command);
  request.accepted = checkout_root(fs::current_path()) / "baselines" / baselines::kAcceptedFile;
  app.add_option("gate", request.gate, "File of fusegate gate --json")
      ->type_name("FILE")
      ->required();
  add_repeated(app, "--benchmark", request.benchmarks,
               "Regular expression: regressions whose names match")
      ->type_name("PATTERN")
      ->check(problem_of_pattern);
  app.add_flag("--all", request.all, "All regressions");
  app.add_option("--reason", request.reason, "Why; kept in the entry")->required();
  app.add_option("--until", request.until, "Last day on which it is accepted, such as 2026-12-31")
      ->type_name("DAY")
      ->required();
  app.add_option("--link", request.link, "Where it was discussed")->type_name("URL");
  app.add_option("--who", request.who, "By default git's user, else the login's name")
      ->type_name("NAME");
  app.add_option("--accepted", request.accepted,
                 "File to write; by default accepted.json of baselines at the root of the git "
                 "checkout")
      ->type_name("FILE");
}

baselines::ExitCode acknowledge_command(const AcknowledgeRequest& request, Console& console) {
  check_acknowledging(request);
  const std::vector<AcceptedSlowdown> added = new_entries(request);
  // Of two at once the second finds the first's.
  const auto lock = baselines::WriteLock::of_file(request.accepted, kLongestTurn);
  std::vector<AcceptedSlowdown> entries;
  if (fs::exists(request.accepted)) entries = baselines::read_accepted(request.accepted);
  for (const AcceptedSlowdown& entry : added) {
    const auto former = std::ranges::find(entries, entry.pattern, &AcceptedSlowdown::pattern);
    const bool is_there = former != entries.end();
    if (is_there) {
      *former = entry;
    } else {
      entries.push_back(entry);
    }
    console.out.print("{} {}: slower by {} to {}, until {}\n", is_there ? "replaced" : "accepted",
                      entry.pattern, format_fraction(entry.effect.low),
                      format_fraction(entry.effect.high), entry.until);
  }
  baselines::write_atomically(baselines::followed(request.accepted),
                              baselines::accepted_text(entries));
  console.out.print("written to {}; commit it with the change\n", request.accepted.string());
  return baselines::ExitCode::kNoRegression;
}

}  // namespace fusegate::ci
