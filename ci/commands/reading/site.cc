#include <ctime>

#include "baselines/changes/judge_history.h"
#include "baselines/history/history.h"
#include "baselines/io/settings.h"
#include "ci/commands/reading/command_line.h"
#include "ci/console/format.h"
#include "ci/console/layout.h"
#include "ci/site/write_site.h"

namespace fusegate::ci {
namespace {

Site read_site(const SiteRequest& request) {
  const baselines::History history(
      request.database.empty() ? kept_folder() / "history.db" : request.database,
      baselines::DatabaseUse::kRead);
  Site site{.nights = history.whole_nights()};
  for (baselines::StoredChangePoint& change : history.change_points()) {
    site.changes.push_back(std::move(change.point));
  }
  site.missing = baselines::missing_now(history, std::time(nullptr));
  const baselines::Settings settings = history.settings();
  for (const std::string& benchmark : history.benchmarks()) {
    const std::string owner = baselines::settings_of(settings, benchmark).owner;
    if (!owner.empty()) site.owners[benchmark] = owner;
  }
  if (request.report.judging.candidate.empty()) return site;
  site.report = make_report(request.report);
  const baselines::Run& run = site.report->gate.candidate;
  for (const baselines::BenchmarkSeries& series : run.benchmarks) {
    const std::string owner = baselines::settings_of(run, series.name).owner;
    if (!owner.empty()) site.owners[series.name] = owner;
  }
  return site;
}

}  // namespace

void add_site(CommandLine& line) {
  auto [app, request] = line.add("site", "Write the pages of a history: what moved, night by night",
                                 "fusegate site --out pages", site_command);
  app.add_option("--out", request.out, "Write the pages there; index.html is the first")
      ->type_name("DIR")
      ->required();
  app.add_option("--db", request.database,
                 "History (fusegate history); by default .fusegate/history.db of the checkout")
      ->type_name("FILE");
  JudgingRequest& judging = request.report.judging;
  app.add_option("--candidate", judging.candidate,
                 "The last night's run: its verdicts, processes and stages are shown, and its "
                 "report is among the pages")
      ->type_name("PATH");
  app.add_option("--baseline", judging.baseline, "What that run is compared with, as for gate")
      ->type_name("PATH")
      ->needs("--candidate");
  add_stores(app, judging);
}

baselines::ExitCode site_command(const SiteRequest& request, Console& console) {
  const Site site = read_site(request);
  write_site(site, request.out);
  console.out.print("wrote {}: {}\n", (request.out / "index.html").string(),
                    format_count(site.nights.size(), "night"));
  return baselines::ExitCode::kNoRegression;
}

}  // namespace fusegate::ci
