#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "baselines/history/history.h"
#include "baselines/history/night_of_run.h"
#include "baselines/io/error.h"
#include "baselines/record/load_run.h"
#include "ci/commands/reading/command_line.h"
#include "ci/console/layout.h"
#include "ci/console/output_files.h"
#include "ci/export/formats.h"
#include "ci/run/night_source.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using baselines::InputError;
using baselines::Night;

bool is_database(const fs::path& path) {
  std::string start(15, ' ');
  return fs::is_regular_file(path) && std::ifstream(path).read(start.data(), 15) &&
         start == "SQLite format 3";
}

// A run, a stored baseline, or exported nights.
void add_nights_of(const fs::path& path, const fs::path& checkout, std::vector<Night>& nights) {
  NightSources read = read_nights(path, checkout);
  if (!read.passed_over.empty()) {
    throw InputError(path.string(), "", "is " + read.passed_over + ", and no night");
  }
  for (const NightSource& source : read.nights) nights.push_back(source.night(nullptr));
}

std::vector<Night> nights_of(const ExportRequest& request) {
  std::vector<fs::path> paths = request.paths;
  if (paths.empty()) paths.push_back(request.database);
  std::vector<Night> nights;
  std::vector<fs::path> run_files;  // of one run
  for (const fs::path& path : paths) {
    if (request.paths.empty() || is_database(path)) {
      const baselines::History history(path, baselines::DatabaseUse::kRead);
      for (Night& night : history.whole_nights()) nights.push_back(std::move(night));
    } else if (is_run_file(path)) {
      run_files.push_back(path);
    } else {
      add_nights_of(path, request.checkout, nights);
    }
  }
  if (!run_files.empty()) {
    nights.push_back(baselines::night_of_run(baselines::load_run(run_files), nullptr, {}));
  }
  if (nights.empty()) throw InputError(paths.front().string(), "", "has no night");
  return nights;
}

}  // namespace

void add_export(CommandLine& line) {
  auto [app, request] =
      line.add("export", "Write runs or a history for other tools",
               "fusegate export --format bencher .fusegate/runs/nightly", export_command);
  request.database = kept_folder() / "history.db";
  request.checkout = checkout_root(fs::current_path());
  std::vector<std::string> names;
  for (const ExportFormat& format : export_formats()) names.emplace_back(format.name);
  app.add_option("path", request.paths,
                 "Run folders, run files, stored baselines, exported nights or databases; by "
                 "default the history in .fusegate/history.db of the git checkout")
      ->type_name("PATH");
  app.add_option("--format", request.format,
                 "nights: a line of JSON a night, which history import reads; openmetrics: all "
                 "nights too; the others: the last one")
      ->check(CLI::IsMember(names))
      ->required();
  app.add_option("--out", request.out, "The file; by default standard output")->type_name("FILE");
}

baselines::ExitCode export_command(const ExportRequest& request, Console& console) {
  const std::vector<Night> nights = nights_of(request);
  const ExportFormat& format =
      *std::ranges::find(export_formats(), request.format, &ExportFormat::name);
  if (!format.has_all_nights && nights.size() > 1) {
    console.err.print("exporting {}, the last of {}\n", nights.back().session,
                      format_count(nights.size(), "night"));
  }
  if (!format.has_all_nights && exported_times(nights.back()).empty()) {
    throw InputError(nights.back().session, "", "has no time of any benchmark");
  }
  const std::string text = format.text(nights);
  if (!request.out) console.out.lines(text);
  write_output_files({{request.out, [&] { return text; }}});
  return baselines::ExitCode::kNoRegression;
}

}  // namespace fusegate::ci
