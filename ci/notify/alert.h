// A finding as people get it, wherever that is: what it is known by from night to night, its texts,
// and whom it concerns.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "baselines/history/change_point.h"
#include "baselines/history/missing_data.h"
#include "baselines/io/settings.h"
#include "ci/document/document.h"

namespace fusegate::ci {

struct Alert {
  std::string kind{};  // "change", "not_confirmed", "missing", "gate"
  std::string id{};    // of its kind; stays when its figures change
  std::string title{};
  std::vector<Fact> facts{};
  std::set<std::string> owners{};
  nlohmann::json json{};  // the finding for programs
  // False for what asks nobody to act, such as a speed-up: it is reported, without an issue.
  bool needs_action = true;
  std::string gone{};  // why it needs nobody any more; empty where it stands

  // What it is about, without figures: where this is as it was, the webhook gets nothing.
  std::string news{};

  // A hash of all that is said of it.
  std::string state() const;
};

// points: in the order of the nights from which they hold. Reported are those that a duet
// confirmed, those that triage called true, and those of a library, a card or a method, which have
// no two commits to compare. Gone is a change that triage calls false, that a duet refuted, or that
// later ones of its subject took back: of the sum of their logarithms the 95 % interval reaches
// zero (the variances of independent estimates add up). All others that stand share one alert that
// is last.
std::vector<Alert> alerts_of(std::span<const baselines::ChangePoint> points,
                             const baselines::Settings& settings);

Alert alert_of(const baselines::MissingData& missing, const baselines::Settings& settings);

// gate: the file of `fusegate gate --json`, with "settings" (docs/schema/verdicts.schema.json).
// Gone where it passes. Throws InputError naming the field.
Alert alert_of_gate(const baselines::JsonField& gate);

}  // namespace fusegate::ci
