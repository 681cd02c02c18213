#include "baselines/io/error.h"
#include "ci/commands/measuring/all_commands.h"
#include "ci/commands/measuring/options.h"
#include "ci/console/layout.h"
#include "ci/slurm/collecting.h"
#include "ci/slurm/submitting.h"

namespace fusegate::ci {
namespace {

using baselines::InputError;

void require(bool is_given, const SlurmRequest& request, const char* what) {
  if (!is_given) throw InputError("slurm " + request.action, what, "is missing");
}

void refuse(bool is_given, const SlurmRequest& request, const char* what) {
  if (is_given) throw InputError("slurm " + request.action, what, "is not one of its arguments");
}

std::string suite_flag_of(const std::vector<std::string>& command) {
  for (std::size_t i = 1; i < command.size() && command[i] != "--"; ++i) {
    if (command[i] == "--suite" && i + 1 < command.size()) return command[i + 1];
    if (command[i].starts_with("--suite=")) return command[i].substr(8);
  }
  return "";
}

// Before hours in a queue, and not after them.
void check_command(const SlurmRequest& request) {
  check_task_command(request.command);
  std::string suite = suite_flag_of(request.command);
  read_shard({.plan = request.plan, .number = 1}, suite);
  std::vector<std::string> task{request.command.front(),
                                "--plan",
                                request.plan.string(),
                                "--shard",
                                "1",
                                "--resume",
                                "--out",
                                "shard-1"};
  task.insert(task.end(), request.command.begin() + 1, request.command.end());
  const std::string problem = problem_of_arguments(task);
  if (!problem.empty()) {
    throw InputError("slurm submit", "-- " + request.command.front(), problem);
  }
}

baselines::ExitCode submit(const SlurmRequest& request, Console& console) {
  refuse(!request.folder.empty(), request, "FOLDER");
  require(!request.plan.empty(), request, "--plan");
  require(!request.out.empty(), request, "--out");
  check_command(request);
  submit_shards({.plan = request.plan,
                 .folder = request.out,
                 .command = request.command,
                 .options = request.options,
                 .fusegate = own_folder() / "fusegate"},
                console);
  return baselines::ExitCode::kNoRegression;
}

void add_job_options(CLI::App& app, JobOptions& options) {
  app.add_option("--partition", options.partition, "As sbatch's; so are the next two")
      ->type_name("NAME");
  app.add_option("--account", options.account, "Whom the jobs are charged to")->type_name("NAME");
  app.add_option("--time", options.time,
                 "Longest time of one task. One that is cut off goes on when it is submitted again")
      ->type_name("TIME");
  add_repeated(app, "--sbatch", options.others,
               "More flags of sbatch, such as \"--gres=gpu:1 --mem=64G\"; GPUs are asked for here")
      ->type_name("FLAGS");
}

}  // namespace

void add_slurm(CommandLine& line) {
  auto [app, request] =
      line.add("slurm", "Measure the shards of a plan as an array of jobs on a Slurm cluster",
               "fusegate slurm submit --plan plan.json --out sweep --sbatch=--gres=gpu:1 -- run "
               "--processes 5",
               slurm_command);
  line.pass_on(app, request.command,
               "each task: run, duet or replay with its flags, of which --plan, --shard, --resume "
               "and --out are set");
  app.add_option("action", request.action,
                 "submit: a task for each shard that is not finished; status: how far each is; "
                 "collect: merge them into a run")
      ->check(CLI::IsMember({"submit", "status", "collect"}))
      ->required();
  app.add_option("folder", request.folder,
                 "Of status and collect: the folder that submit was given")
      ->type_name("FOLDER");
  set_topic(app, kMeasuringTopic);
  app.add_option("--plan", request.plan, "Of submit: the plan")->type_name("FILE");
  add_job_options(app, request.options);
  set_topic(app, kOutputTopic);
  app.add_option("--out", request.out,
                 "Of submit: folder for the sweep, which all nodes see. Of collect: folder for the "
                 "run; for base, base_again and head where the shards have them")
      ->type_name("FOLDER");
}

baselines::ExitCode slurm_command(const SlurmRequest& request, Console& console) {
  if (request.action == "submit") return submit(request, console);
  require(!request.folder.empty(), request, "FOLDER");
  refuse(!request.plan.empty(), request, "--plan");
  refuse(!request.command.empty(), request, "--");
  if (request.action == "status") {
    refuse(!request.out.empty(), request, "--out");
    return print_status(request.folder, console) ? baselines::ExitCode::kNoRegression
                                                 : baselines::ExitCode::kCouldNotJudge;
  }
  require(!request.out.empty(), request, "--out");
  collect_shards(request.folder, request.out, console);
  return baselines::ExitCode::kNoRegression;
}

}  // namespace fusegate::ci
