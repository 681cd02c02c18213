// Nights as a folder of pages: a first page with what moved and what was found, and a page a
// benchmark. It loads nothing from elsewhere, and needs no script.
#pragma once

#include <filesystem>
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

// Every file by its path in the folder. Throws InputError where there is no night.
std::map<std::string, std::string> site_files(const Site& site);

// Throws InputError. Pages of benchmarks that are no longer there are taken away.
void write_site(const Site& site, const std::filesystem::path& folder);

}  // namespace fusegate::ci
