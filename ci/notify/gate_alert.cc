#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ci/console/format.h"
#include "ci/notify/alert.h"

namespace fusegate::ci {
namespace {

using baselines::JsonField;

constexpr std::size_t kMostRegressions = 20;

struct Regression {
  std::string benchmark;
  double effect = 0;
};

// The largest first, without those that are accepted.
std::vector<Regression> regressions_in(const JsonField& gate) {
  std::vector<Regression> regressions;
  for (const JsonField& verdict : gate.at("verdicts").elements()) {
    if (verdict.at("verdict").text() != "regression") continue;
    const auto accepted = verdict.find("accepted");
    if (accepted && accepted->at("state").text() == "covers") continue;
    const auto effect = verdict.find("effect");
    regressions.push_back(
        {verdict.at("benchmark").text(), effect ? effect->number() : std::nan("")});
  }
  std::ranges::stable_sort(regressions, std::ranges::greater(), [](const Regression& one) {
    return std::isfinite(one.effect) ? one.effect : 0;
  });
  return regressions;
}

}  // namespace

Alert alert_of_gate(const JsonField& gate) {
  const int exit_code = gate.at("exit_code").integer();
  const std::string headline = gate.at("headline").text();
  const std::vector<Regression> regressions = regressions_in(gate);
  Alert alert{.kind = "gate", .id = "gate", .title = "gate: " + headline};
  const baselines::Settings settings = baselines::read_settings(gate, baselines::kSettings);
  nlohmann::json list = nlohmann::json::array();
  for (const Regression& one : regressions) {
    if (const std::string owner = baselines::settings_of(settings, one.benchmark).owner;
        !owner.empty()) {
      alert.owners.insert(owner);
    }
    alert.news += one.benchmark + '\n';
    if (list.size() == kMostRegressions) continue;
    alert.facts.push_back({one.benchmark, format_effect(one.effect)});
    list.push_back({{"benchmark", one.benchmark}, {"effect", one.effect}});
  }
  if (regressions.size() > kMostRegressions) {
    alert.facts.push_back(
        {"and more", format_count(regressions.size() - kMostRegressions, "regression")});
  }
  alert.json = {{"exit_code", exit_code}, {"headline", headline}, {"regressions", std::move(list)}};
  alert.needs_action = exit_code == 1;
  if (exit_code == 0) alert.gone = "the gate passes";
  if (exit_code == 2) alert.news = headline;
  return alert;
}

}  // namespace fusegate::ci
