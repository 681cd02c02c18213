// What notify and triage ask of a history.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "baselines/history/change_point.h"
#include "baselines/history/missing_data.h"
#include "baselines/io/settings.h"
#include "ci/notify/webhook.h"

namespace fusegate::ci {

class AlarmHistory {
 public:
  // Throws as History does; so do all of these. writes: for what changes anything.
  AlarmHistory(const std::filesystem::path& path, bool writes);
  ~AlarmHistory();

  // In the order of the nights from which they hold.
  std::vector<baselines::ChangePoint> change_points() const;
  std::vector<baselines::MissingData> missing() const;
  // Of the suite of the last run that was added: the history's state "settings".
  baselines::Settings settings() const;
  // What a webhook got before. As long as this lives.
  ReportedBefore reported_before();

  // By change_id(). Nothing where the history has no such change.
  std::optional<baselines::ChangePoint> mark(const std::string& id, bool is_true,
                                             const std::string& note);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fusegate::ci
