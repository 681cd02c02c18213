// What the pages of a history are made of.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "baselines/history/change_point.h"
#include "baselines/history/missing_data.h"
#include "baselines/history/night.h"
#include "ci/report/report.h"

namespace fusegate::ci {

struct Site {
  std::vector<baselines::Night> nights{};  // oldest first; one at least
  std::vector<baselines::ChangePoint> changes{};
  std::vector<baselines::MissingData> missing{};
  std::optional<Report> report{};               // of the last night's run
  std::map<std::string, std::string> owners{};  // by benchmark, where its suite names one
};

}  // namespace fusegate::ci
