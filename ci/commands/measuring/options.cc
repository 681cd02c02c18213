#include "ci/commands/measuring/options.h"

#include <fmt/format.h>

namespace fusegate::ci {

void add_processes(CLI::App& app, ProcessCounts& processes, const std::string& description) {
  const auto given = [&processes](const std::string&) { processes.is_given = true; };
  app.add_option("--processes", processes.minimum, description)
      ->check(CLI::Range(1, 1000))
      ->capture_default_str()
      ->each(given);
  add_former_name(app, "--invocations", processes.minimum)->check(CLI::Range(1, 1000))->each(given);
}

void add_max_processes(CLI::App& app, ProcessCounts& processes, const std::string& description) {
  app.add_option("--max-processes", processes.maximum, description)->check(CLI::Range(1, 1000));
  add_former_name(app, "--max-invocations", processes.maximum)->check(CLI::Range(1, 1000));
}

void add_budget(CLI::App& app, MeasuringOptions& measuring, const std::string& more) {
  CLI::Option* budget = app.add_option("--budget-s", measuring.budget_s,
                                       "Longest time of the measuring, in seconds: start no round "
                                       "that would end later, except to confirm a regression" +
                                           more)
                            ->check(CLI::PositiveNumber);
  if (measuring.budget_s) budget->default_str(fmt::format("{:g}", *measuring.budget_s));
}

void add_gpu_budget(CLI::App& app, MeasuringOptions& measuring) {
  const auto plan = [&measuring](const double& seconds) {
    measuring.budget_s = seconds;
    measuring.plans_budget = true;
  };
  app.add_option_function<double>(
         "--budget-gpu-s", plan,
         "Choose what is measured, how often and with how many samples so that the verdict is "
         "there "
         "that many seconds after a program first uses the GPU. What is left out is named and "
         "undecided. There is no A/A comparison, and nothing is measured again")
      ->check(CLI::PositiveNumber)
      ->excludes(app.get_option("--budget-s"));
}

CLI::Option* add_protocol(CLI::App& app, MeasuringOptions& measuring, ProcessCounts& processes) {
  set_topic(app, kMeasuringTopic);
  CLI::Option* suite =
      app.add_option("--suite", measuring.suite, "A suite's name or file")->type_name("SUITE");
  add_processes(app, processes, "How many processes of each program to run");
  app.add_option("--timeout-s", measuring.timeout_s, "Longest time of one process, in seconds")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_budget(app, measuring);
  app.add_option("--seed", measuring.seed,
                 "Seed of the order of processes and of each process; random by default");
  return suite;
}

void add_gpus(CLI::App& app, MeasuringOptions& measuring) {
  app.add_option(
         "--gpus", measuring.gpus,
         "Measure on these GPUs of this machine at once: all, or numbers as in nvidia-smi -L "
         "and UUIDs, such as 0,2. Each benchmark is measured on one of them")
      ->type_name("GPUS");
}

void add_only(CLI::App& app, OnlyBenchmarks& only) {
  add_repeated(
      app, "--only", only.patterns,
      "Regular expression: ask and measure only benchmarks whose names match, and controls. "
      "The others are named in the report and not judged")
      ->type_name("PATTERN")
      ->check(problem_of_pattern);
  app.add_option("--only-from", only.file,
                 "Likewise those that a file of codes-diff --json lists: what can have changed")
      ->type_name("FILE");
}

void add_earlier(CLI::App& app, const std::string& name, Earlier earlier,
                 MeasuringOptions& measuring, const std::string& description) {
  app.add_flag_callback(
      name, [earlier, &measuring] { measuring.earlier = earlier; }, description);
}

void add_measuring(CLI::App& app, MeasuringOptions& measuring, ProcessCounts& processes) {
  CLI::Option* suite = add_protocol(app, measuring, processes)->required();
  CLI::Option* plan = app.add_option("--plan", measuring.asked_shard.plan,
                                     "Measure one shard of this plan, which names the suite")
                          ->type_name("FILE")
                          ->each([suite](const std::string&) { suite->required(false); });
  CLI::Option* shard =
      app.add_option("--shard", measuring.asked_shard.number, "Which one, from 1 to their number")
          ->check(CLI::PositiveNumber);
  plan->needs(shard);
  shard->needs(plan);
  add_earlier(
      app, "--resume", Earlier::kResumed, measuring,
      "Go on with the same command that was interrupted: its whole processes stay, one that "
      "was cut off is measured anew, and so is what is missing");
  app.add_flag(
      "--all", measuring.measures_all,
      "Measure identical code too. By default, of the benchmarks that launch the same "
      "machine code with the same arguments as what they are compared with, only a few are "
      "measured, as controls");
  app.add_flag("--fresh-choices", measuring.fresh_choices,
               "Autotune anew. By default a kernel that the baseline chose by autotuning is used "
               "again, unless it is more than 5 % slower than the best");
}

void add_aa_history(CLI::App& app, std::optional<fs::path>& history) {
  set_topic(app, kOutputTopic);
  app.add_option("--aa-history", history,
                 "File that keeps all A/A comparisons; by default "
                 ".fusegate/aa/DEVICE/SUITE.jsonl in the git checkout")
      ->type_name("FILE");
}

}  // namespace fusegate::ci
