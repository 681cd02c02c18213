#include "ci/bisect/confirmation.h"
#include "ci/commands/measuring/options.h"
#include "ci/console/layout.h"

namespace fusegate::ci {

void add_confirm(CommandLine& line) {
  auto [app, request] =
      line.add("confirm",
               "Measure the commits around changes of a history side by side, on "
               "another card where one is free, before they are reported. "
               "Exits with 0 if each is confirmed or refuted, else with 2",
               "fusegate confirm --build make --program build/my_bench", confirm_command);
  SideBySideRequest& measuring = request.measuring;
  line.pass_on(app, measuring.measuring.flags);
  request.build.checkout = checkout_root(std::filesystem::current_path());
  request.database = kept_folder() / "history.db";
  app.add_option("ids", request.ids,
                 "Ids of changes; by default those that may be code's and are undecided")
      ->type_name("ID");
  app.add_option("--db", request.database,
                 "The history; by default .fusegate/history.db in the git checkout")
      ->type_name("FILE");
  app.add_option("--most", request.most, "Of those by default, at most as many, the newest first")
      ->type_name("N")
      ->capture_default_str();
  add_commit_builds(app, request.build);
  add_protocol(app, measuring.measuring, measuring.processes)->capture_default_str();
  add_max_processes(app, measuring.processes,
                    "Measure what is undecided again, up to this many processes of each program; "
                    "by default three times --processes");
  add_controls(app, measuring.judging);
  add_rule(app, measuring.judging);
}

baselines::ExitCode confirm_command(const ConfirmationRequest& request, Console& console) {
  const ConfirmationResult result = confirm_changes(request, confirmation_tools(console), console);
  return result.undecided > 0 || result.interrupted ? baselines::ExitCode::kCouldNotJudge
                                                    : baselines::ExitCode::kNoRegression;
}

}  // namespace fusegate::ci
