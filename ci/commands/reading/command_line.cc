#include "ci/commands/reading/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "baselines/io/error.h"
#include "baselines/io/help_example.h"
#include "baselines/io/message_names.h"
#include "baselines/io/pattern.h"
#include "ci/console/layout.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

Command usage_error(const std::string& problem) {
  return [=](Console& console) {
    console.err.print("fusegate: {}\n", problem);
    return baselines::ExitCode::kCouldNotJudge;
  };
}

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

}  // namespace

std::string problem_of_pattern(const std::string& text) try {
  const baselines::Pattern pattern(text);
  return "";
} catch (const std::invalid_argument& error) {
  return error.what();
}

void set_topic(CLI::App& app, const char* topic) { app.option_defaults()->group(topic); }

void CommandLine::add_common(CLI::App& command) {
  set_topic(command, "Of every command");
  command.add_flag("--wide", common_->is_wide,
                   "Print tables as wide as they are; by default they are fitted to a terminal");
  command
      .add_option(baselines::kLargestFileFlag, common_->largest_file_mib,
                  "The most that is read of one file, unpacked, in MiB")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
}

// CLI11 says that something is required, and not that what was given is unknown.
std::optional<std::string> CommandLine::mistyped(const std::vector<std::string>& line) const {
  const std::vector<CLI::App*> chosen = app_.get_subcommands();
  if (chosen.empty() && !line.empty() && !line.front().starts_with('-')) {
    std::vector<std::string> commands;
    for (const CLI::App* command : app_.get_subcommands({})) {
      commands.push_back(command->get_name());
    }
    return baselines::mistyped_text(line.front(), "command", commands);
  }
  const CLI::App& app = chosen.empty() ? app_ : *chosen.front();
  for (const std::string& word : app_.remaining(true)) {
    if (!word.starts_with('-')) continue;
    return baselines::mistyped_text(word.substr(0, word.find('=')), "flag of " + app.get_name(),
                                    flags_of(app));
  }
  return std::nullopt;
}

CommandLine::CommandLine(std::vector<std::string> passed_on,
                         const std::vector<AddCommand>& commands)
    : app_("Shows whether GPU kernels got slower, how sure that is, and why.", "fusegate"),
      passed_on_(std::move(passed_on)) {
  app_.set_version_flag("--version", std::string("fusegate ") + FUSEGATE_VERSION);
  app_.require_subcommand(1);
  for (const AddCommand add_command : commands) add_command(*this);
  for (CLI::App* command : app_.get_subcommands({})) add_common(*command);
  // Last: commands take over the footer that there is.
  baselines::add_example(app_, "fusegate gate --baseline old-run --candidate new-run");
}

void CommandLine::pass_on(CLI::App& app, std::vector<std::string>& flags, const std::string& to) {
  flags = passed_on_;
  passing_on_.insert(&app);
  app.footer(fmt::format("Everything after -- is passed on to {}.\n\n{}", to, app.get_footer()));
}

CommandLine::Parsed CommandLine::read(const std::vector<std::string>& arguments, bool separated) {
  try {
    app_.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // from the back
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    if (app_.exit(error, out, err) == 0) return {.text = out.str()};
    return {.problem =
                mistyped(arguments).value_or(error.what()) + " (--help shows what there is)"};
  } catch (const baselines::InputError& error) {
    return {.problem = error.what()};
  }
  if (!separated || passing_on_.contains(chosen_app_)) return {};
  return {.problem =
              "only run, duet, replay, bisect, calibrate, plan and slurm pass on what follows --"};
}

Command CommandLine::parse(const std::vector<std::string>& arguments, bool separated) {
  const Parsed parsed = read(arguments, separated);
  if (!parsed.problem.empty()) return usage_error(parsed.problem);
  if (parsed.text.empty()) return chosen_;
  return [text = parsed.text](Console& console) {
    console.out.lines(text);
    return baselines::ExitCode::kNoRegression;
  };
}

void add_rule(CLI::App& app, JudgingRequest& request) {
  set_topic(app, kRuleTopic);
  add_fraction(app, "--min-effect", request.min_effect,
               "Smallest effect that matters, such as 0.005 or 0.5%; by default the suite's own, "
               "else 0.15%, "
               "of which side by side 0.1% is called");
  add_fraction(app, "--fdr", request.false_discovery_rate,
               "False discovery rate over the suite; by default 1%");
}

void add_controls(CLI::App& app, JudgingRequest& request) {
  set_topic(app, kComparedTopic);
  add_repeated(
      app, "--control", request.controls,
      "Regular expression: benchmarks whose names match are controls, whose code no change "
      "touches. Files of fusegate's programs name their own")
      ->type_name("PATTERN")
      ->check(problem_of_pattern);
}

void add_gating(CLI::App& app, JudgingRequest& request) {
  add_controls(app, request);
  set_topic(app, kRuleTopic);
  const auto fail_on = [&request](const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      (name == "host" ? request.fail_on_host : request.fail_on_changed_kernels) = true;
    }
  };
  app.add_option_function<std::vector<std::string>>(
         "--fail-on", fail_on,
         "Also call it a regression, whatever the benchmark's time: host, if launching takes the "
         "host longer (identical code is measured too then); kernels, if it launches other "
         "kernels, or more or fewer. By default both are only reported")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->delimiter(',')
      ->check(CLI::IsMember({"host", "kernels"}));
  add_fraction(app, "--allow", request.allow,
               "Slowdown that may stay undecided, such as 2%; by default the suite's own, else 5%");
  app.add_option("--accepted", request.accepted,
                 "File of accepted slowdowns, which fail nothing; by default accepted.json of the "
                 "stores")
      ->type_name("FILE");
  add_fraction(app, "--require-ruled-out", request.require_ruled_out,
               "Exit with 2 if any benchmark, decided or not, may be slower by more than this")
      ->group("");
}

void add_stores(CLI::App& app, JudgingRequest& request) {
  set_topic(app, kComparedTopic);
  request.stores = default_stores(fs::current_path());
  add_repeated(app, "--store", request.stores,
               "Folder of stored baselines; by default baselines and .fusegate/baselines, here and "
               "at the root of the git checkout")
      ->type_name("FOLDER");
}

void add_age_and_creep(CLI::App& app, JudgingRequest& request) {
  set_topic(app, kRuleTopic);
  app.add_option("--max-age-days", request.max_age_days, "Warn if the stored baseline is older")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_fraction(
      app, "--max-creep", request.max_creep,
      "Call it a regression if a benchmark is slower than in the stored anchor by more than "
      "this; by default that is only reported");
}

void add_verdict_files(CLI::App& app, GateFiles& files) {
  set_topic(app, kOutputTopic);
  app.add_option("--json", files.json, "Write the verdicts as JSON")->type_name("FILE");
  app.add_option("--markdown", files.markdown, "Write the verdicts as GitHub Markdown")
      ->type_name("FILE");
}

void add_unfinished(CLI::App& app, baselines::Unfinished& unfinished) {
  app.add_flag_callback(
      "--unfinished", [&unfinished] { unfinished = baselines::Unfinished::kCounts; },
      "Count processes that did not finish, after Ctrl-C or a crash; by default they are named and "
      "left out");
}

void add_judging(CLI::App& app, JudgingRequest& request) {
  set_topic(app, kComparedTopic);
  app.add_option("--candidate", request.candidate, "Run folders or run files, together one run")
      ->type_name("PATH")
      ->required();
  app.add_option("--baseline", request.baseline,
                 "Run folder, run files or a stored baseline; by default the one that a store has "
                 "for the candidate's device and suite")
      ->type_name("PATH");
  app.add_option("--replay-of", request.replay_of,
                 "Stored baseline of which --baseline is a replay: also reports what the card, the "
                 "driver and libraries changed")
      ->type_name("FILE")
      ->needs("--baseline");
  add_stores(app, request);
  app.add_option("--suite", request.suite, "Suite to look up, instead of the candidate's own")
      ->type_name("SUITE");
  add_rule(app, request);
  add_age_and_creep(app, request);
  add_gating(app, request);
  // The former name of --fail-on kernels.
  app.add_flag("--fail-on-changed-kernels", request.fail_on_changed_kernels)->group("");
  add_unfinished(app, request.unfinished);
  app.add_flag(
      "--strict", request.strict,
      "Exit with 2 for benchmarks that are missing, inconclusive, or not in all processes");
  app.add_flag("--allow-environment-difference", request.allow_environment_differences,
               "Judge although driver, clocks or the like differ");
}

}  // namespace fusegate::ci
