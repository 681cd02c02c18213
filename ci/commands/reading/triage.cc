#include <fmt/format.h>

#include <algorithm>

#include "baselines/io/error.h"
#include "ci/commands/reading/command_line.h"
#include "ci/console/layout.h"
#include "ci/notify/alarm_history.h"

namespace fusegate::ci {

using baselines::ChangePoint;
using baselines::InputError;

void add_triage(CommandLine& line) {
  auto [app, request] =
      line.add("triage",
               "Mark an alarm as true or false, and print which share of the marked ones was false",
               "fusegate triage 0123456789ab false --note \"the room was hot\"", triage_command);
  app.add_option("id", request.id, "The change's id, as alerts have it")
      ->type_name("ID")
      ->required();
  app.add_option("verdict", request.verdict, "true or false")
      ->type_name("true|false")
      ->check(CLI::IsMember({"true", "false"}))
      ->required();
  request.db = kept_folder() / "history.db";
  app.add_option("--db", request.db,
                 "The history; by default .fusegate/history.db in the git checkout")
      ->type_name("FILE");
  app.add_option("--note", request.note, "Why; kept in the history")->type_name("TEXT");
}

baselines::ExitCode triage_command(const TriageRequest& request, Console& console) {
  AlarmHistory history(request.db, true);
  const auto point = history.mark(request.id, request.verdict == "true", request.note);
  if (!point) {
    throw InputError(request.db.string(), "",
                     fmt::format("has no change {}; alerts and the page have the ids", request.id));
  }
  console.out.print("marked {}: {}, {} since {}\n", request.verdict, point->subject,
                    format_effect(point->effect), point->first_session);
  const std::vector<ChangePoint> points = history.change_points();
  const auto marked =
      std::ranges::count_if(points, [](const ChangePoint& one) { return one.is_true.has_value(); });
  const auto wrong =
      std::ranges::count_if(points, [](const ChangePoint& one) { return one.is_true == false; });
  console.out.print("of {} marked, {} false: {}\n",
                    format_count(static_cast<std::size_t>(marked), "alarm"),
                    wrong == 1 ? "1 was" : fmt::format("{} were", wrong),
                    format_share(static_cast<double>(wrong) / static_cast<double>(marked)));
  return baselines::ExitCode::kNoRegression;
}

}  // namespace fusegate::ci
