#include "ci/commands/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <sstream>

#include "baselines/io/error.h"
#include "ci/commands/accept.h"
#include "ci/commands/calibrate_options.h"
#include "ci/commands/claims.h"
#include "ci/commands/doctor.h"
#include "ci/commands/duet.h"
#include "ci/commands/explain.h"
#include "ci/commands/gate.h"
#include "ci/commands/report.h"
#include "ci/commands/run.h"
#include "ci/commands/show.h"
#include "ci/commands/trace_options.h"
#include "ci/console/format.h"
#include "ci/console/layout.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

// Requests are shared between the option parser, which fills them, and the command, which reads
// them after the parser is gone.
template <typename Request, typename Run>
void set_command(CLI::App* app, Command* command, std::shared_ptr<Request> request, Run run) {
  app->callback([=] { *command = [=](Console& console) { return run(*request, console); }; });
}

// One value a flag, and the flag as often as wanted.
template <typename T>
CLI::Option* add_repeated(CLI::App* app, const std::string& name, std::vector<T>& values,
                          const std::string& description) {
  return app->add_option(name, values, description)
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

// The rule of a verdict, for every command that reaches one.
void add_rule(CLI::App* app, JudgingRequest& request) {
  app->add_option_function<std::string>(
      "--min-effect",
      [&request](const std::string& text) {
        request.min_effect = parse_fraction("--min-effect", text);
      },
      "Smallest effect that matters, such as 0.005 or 0.5%; by default the suite's own, else 0.3%");
  app->add_option_function<std::string>(
      "--fdr",
      [&request](const std::string& text) {
        request.false_discovery_rate = parse_fraction("--fdr", text);
      },
      "False discovery rate over the suite; by default 1%");
}

void add_stores(CLI::App* app, JudgingRequest& request) {
  request.stores = default_stores(fs::current_path());
  add_repeated(app, "--store", request.stores,
               "Folder of stored baselines; by default baselines and .fusegate/baselines, here and "
               "at the root of the git checkout");
}

// What run and duet measure by.
template <typename Request>
void add_measuring(CLI::App* app, Request& request) {
  app->add_option("--suite", request.suite, "A suite's name or file")->required();
  app->add_option("--invocations", request.invocations, "Processes a program")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app->add_option("--timeout-s", request.timeout_s, "Longest time of one process")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app->add_option(
         "--budget-s", request.budget_s,
         "Start no round that would end later; only a regression is confirmed all the same")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app->add_option("--seed", request.seed,
                  "Where the order and each process's seed come from; random by default");
  app->add_option("--aa-history", request.aa_history,
                  "Where A/A comparisons are remembered; by default "
                  ".fusegate/aa/DEVICE/SUITE.jsonl in the git checkout");
  app->add_flag("--fresh-choices", request.fresh_choices,
                "Choose kernels anew where they are chosen by measuring; by default those of the "
                "baseline are kept while they are no more than 5 % behind");
  app->footer("What follows -- is passed on to the benchmark program.");
}

void add_run(CLI::App& app, Command* command, const std::vector<std::string>& flags) {
  CLI::App* run =
      app.add_subcommand("run", "Measure a suite by fresh processes, into a run folder");
  auto request = std::make_shared<RunRequest>();
  request->flags = flags;
  add_measuring(run, *request);
  add_repeated(run, "--out", request->out, "Run folder; one for each --program")->required();
  add_repeated(run, "--program", request->programs,
               "Benchmark program; by default the fusegate_bench beside this program. Several are "
               "interleaved, A B B A; one with several --out is compared with itself");
  run->add_flag("--append", request->append, "Add to folders that already hold invocations");
  run->add_option("--max-invocations", request->max_invocations,
                  "Measure what the baseline leaves undecided or suspicious again, up to so many "
                  "processes; by default nothing is")
      ->check(CLI::Range(1, 1000));
  run->add_option("--baseline", request->judging.baseline,
                  "What decides about that; by default the one that a store has");
  add_stores(run, request->judging);
  add_rule(run, request->judging);
  run->add_flag("--peers", request->peers,
                "Measure PyTorch and Liger (bench/peers) after every process too, with the same "
                "flags, for report --peers; their Python is $FUSEGATE_PYTHON, else python3");
  run->add_option("--peers-out", request->peers_out,
                  "Their run folder; by default the --out folder's name with -peers");
  run->add_flag("--aa", request->aa,
                "Deal the processes to two arms, and say what comparing these shows");
  set_command(run, command, request, run_command);
}

void add_duet(CLI::App& app, Command* command, const std::vector<std::string>& flags) {
  CLI::App* duet = app.add_subcommand(
      "duet", "Measure two builds side by side and gate the one by the other: 0, 1, 2 as gate");
  auto request = std::make_shared<DuetRequest>();
  request->flags = flags;
  duet->add_option("--base", request->base, "Benchmark program to compare with")->required();
  duet->add_option("--head", request->head, "Benchmark program that is judged")->required();
  add_measuring(duet, *request);
  duet->add_option("--max-invocations", request->max_invocations,
                   "Measure what is undecided or suspicious again, up to so many processes; by "
                   "default three times --invocations")
      ->check(CLI::Range(1, 1000));
  duet->add_option("--out", request->out,
                   "Folder that gets the runs base, base_again and head; by default "
                   ".fusegate/runs/TIME in the git checkout");
  duet->add_flag_callback(
      "--no-aa", [request] { request->aa = false; },
      "Do not measure base a second time, as an A/A arm");
  add_stores(duet, request->judging);
  add_rule(duet, request->judging);
  duet->add_option("--json", request->json, "Write the verdicts as JSON");
  duet->add_option("--markdown", request->markdown, "Write them as GitHub Markdown");
  duet->add_option("--html", request->html, "Write a report as one self-contained page");
  set_command(duet, command, request, duet_command);
}

// What gate and report share.
void add_judging(CLI::App* app, JudgingRequest& request) {
  app->add_option("--candidate", request.candidate, "Run folders or run files, together one run")
      ->required();
  app->add_option("--baseline", request.baseline,
                  "Run folder, run files or a stored baseline; by default the one that a store has "
                  "for the candidate's device and suite");
  add_stores(app, request);
  app->add_option("--suite", request.suite, "Suite to look up, where not the candidate's own");
  add_rule(app, request);
  app->add_option("--max-age-days", request.max_age_days,
                  "Note that a stored baseline is stale where it is older")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app->add_option_function<std::string>(
      "--max-creep",
      [&request](const std::string& text) {
        request.max_creep = parse_fraction("--max-creep", text);
      },
      "What got slower by more since the stored anchor is a regression; by default only noted");
  app->add_flag("--fail-on-changed-kernels", request.fail_on_changed_kernels,
                "Benchmarks that launch other kernels, or more or fewer, are a regression whatever "
                "their time; by default only reported");
  app->add_flag("--strict", request.strict, "Missing and inconclusive benchmarks end with 2");
  app->add_flag("--allow-environment-difference", request.allow_environment_differences,
                "Judge although driver, clocks or the like differ");
}

void add_gate(CLI::App& app, Command* command) {
  CLI::App* gate = app.add_subcommand(
      "gate", "Compare a run with a baseline: 0 no regression, 1 regression, 2 could not judge");
  auto request = std::make_shared<GateRequest>();
  add_judging(gate, request->judging);
  gate->add_option("--json", request->json, "Write the verdicts as JSON");
  gate->add_option("--markdown", request->markdown, "Write them as GitHub Markdown");
  set_command(gate, command, request, gate_command);
}

void add_accept(CLI::App& app, Command* command) {
  CLI::App* accept =
      app.add_subcommand("accept",
                         "Make a run the baseline of its device and suite; the first one "
                         "also the anchor that creep is told by");
  auto request = std::make_shared<AcceptRequest>();
  request->store = checkout_root(fs::current_path()) / "baselines";
  request->stores = default_stores(fs::current_path());
  accept->add_option("run", request->runs, "Run folders or run files, together one run")
      ->required();
  accept->add_option("--reason", request->reason, "Why; kept in the baseline")->required();
  accept->add_option("--who", request->who, "By default git's user, else $USER");
  accept->add_option("--suite", request->suite, "Store it for this suite, not the run's own");
  accept->add_option(
      "--store", request->store,
      "Folder of stored baselines; by default baselines at the root of the git checkout");
  accept->add_flag("--if-missing", request->if_missing,
                   "Do nothing where a store has a baseline of this device, suite and environment");
  accept->add_flag("--anchor", request->replace_anchor,
                   "Make it the anchor too, in place of the one that creep is told by until now");
  accept->add_flag(
      "--force", request->force,
      "Accept it in spite of failures, throttling, a dirty tree or too few invocations");
  set_command(accept, command, request, accept_command);
}

void add_report(CLI::App& app, Command* command) {
  CLI::App* report =
      app.add_subcommand("report", "Write a run's verdicts and shape sweep as Markdown and HTML");
  auto request = std::make_shared<ReportRequest>();
  request->title = "fusegate report";
  add_judging(report, request->judging);
  report->add_option("--peers", request->peers,
                     "Run folders or run files of peers (run --peers), shown beside ours");
  report->add_option("--markdown", request->markdown, "Write GitHub Markdown there");
  report->add_option("--html", request->html, "Write one self-contained page there");
  report->add_option("--svg", request->svg, "Write one picture there: where fusion wins");
  report->add_option("--title", request->title, "The report's title")->capture_default_str();
  set_command(report, command, request, report_command);
}

void add_show(CLI::App& app, Command* command) {
  CLI::App* show = app.add_subcommand("show", "Print a run's figures");
  auto request = std::make_shared<ShowRequest>();
  show->add_option("run", request->paths, "Run folders, run files or a stored baseline")
      ->required();
  set_command(show, command, request, show_command);
}

void add_explain(CLI::App& app, Command* command) {
  CLI::App* explain = app.add_subcommand(
      "explain", "Tell why one benchmark's time changed, kernel by kernel: 0, 1, 2 as gate");
  auto request = std::make_shared<ExplainRequest>();
  explain->add_option("baseline", request->baseline, "Run folder, run file or stored baseline")
      ->required();
  explain->add_option("candidate", request->candidate, "Run folder or run file")->required();
  explain->add_option("benchmark", request->benchmark, "The benchmark's name")->required();
  add_rule(explain, request->rule);
  set_command(explain, command, request, explain_command);
}

void add_doctor(CLI::App& app, Command* command) {
  CLI::App* doctor =
      app.add_subcommand("doctor", "Say what on this machine would spoil measurements");
  auto request = std::make_shared<DoctorRequest>();
  doctor->add_option("--program", request->program,
                     "Benchmark program; by default the fusegate_bench beside this program");
  set_command(doctor, command, request, doctor_command);
}

void add_calibrate(CLI::App& app, Command* command, const std::vector<std::string>& flags) {
  CLI::App* calibrate = app.add_subcommand(
      "calibrate", "Measure what this machine, suite and protocol can tell, by unchanged code");
  auto request = std::make_shared<CalibrateRequest>();
  request->flags = flags;
  request->store = checkout_root(fs::current_path()) / "baselines";
  add_calibrate_options(*calibrate, *request);
  set_command(calibrate, command, request, calibrate_command);
}

void add_claims(CLI::App& app, Command* command) {
  CLI::App* claims = app.add_subcommand(
      "claims", "Hold a run against the statements of \"Profiling in PyTorch, part 2\"");
  auto request = std::make_shared<ClaimsRequest>();
  request->stores = default_stores(fs::current_path());
  claims
      ->add_option("--candidate", request->candidate,
                   "Run folders or run files, together one run; suite claims has all it takes")
      ->required();
  claims->add_option("--peers", request->peers, "Run folders or run files of peers (run --peers)");
  claims->add_option("--traces", request->traces,
                     "Folder of torch.profiler's traces (bench/peers/record_trace.py)");
  claims->add_option(
      "--published", request->published,
      "Published figures; by default a store's published/nvidia-a100-sxm4-80gb.json");
  claims->add_option("--out", request->out, "Write the page, in Markdown, there");
  claims->add_flag("--allow-environment-difference", request->allow_environment_differences,
                   "Take peers and traces although driver, clocks or the like differ");
  set_command(claims, command, request, claims_command);
}

void add_traces(CLI::App& app, Command* command) {
  CLI::App* table = app.add_subcommand("trace-table", "Print what a trace holds, by name");
  auto of_table = std::make_shared<TraceTableRequest>();
  add_trace_table_options(*table, *of_table);
  set_command(table, command, of_table, trace_table_command);
  CLI::App* check =
      app.add_subcommand("trace-check", "Hold each step of a trace against what it should contain");
  auto of_check = std::make_shared<TraceCheckRequest>();
  add_trace_check_options(*check, *of_check);
  set_command(check, command, of_check, trace_check_command);
  CLI::App* diff = app.add_subcommand("trace-diff", "Print where two traces differ, by name");
  auto of_diff = std::make_shared<TraceDiffRequest>();
  add_trace_diff_options(*diff, *of_diff);
  set_command(diff, command, of_diff, trace_diff_command);
}

Command usage_error(const std::string& problem) {
  return [=](Console& console) {
    console.err << "fusegate: " << problem << "\n";
    return baselines::ExitCode::kCouldNotJudge;
  };
}

Command parse(CLI::App& app, std::vector<std::string> arguments, Command* command) {
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    if (app.exit(error, out, err) != 0) {
      return usage_error(std::string(error.what()) + " (--help shows what there is)");
    }
    return [text = out.str()](Console& console) {
      console.out << text;
      return baselines::ExitCode::kNoRegression;
    };
  } catch (const baselines::InputError& error) {
    return usage_error(error.what());
  }
  return *command;
}

// CLI11 says of such a line that a subcommand is required, and not that this is none.
std::optional<std::string> unknown_command(const CLI::App& app,
                                           const std::vector<std::string>& line) {
  if (line.empty() || line.front().starts_with('-')) return std::nullopt;
  const auto is_named = [&](const CLI::App* command) {
    return command->get_name() == line.front();
  };
  if (!app.get_subcommands(is_named).empty()) return std::nullopt;
  return fmt::format("\"{}\" is no command (--help shows what there is)", line.front());
}

}  // namespace

Command parse_command_line(int argc, char** argv) {
  // Cut here and not by CLI11, whose versions treat what follows "--" differently.
  std::vector<std::string> own(argv + 1, argv + argc);
  const auto separator = std::find(own.begin(), own.end(), "--");
  const bool separated = separator != own.end();
  const std::vector<std::string> flags(separated ? separator + 1 : own.end(), own.end());
  own.erase(separator, own.end());

  CLI::App app("Tells whether GPU kernels got slower, how sure that is, and why.", "fusegate");
  app.set_version_flag("--version", std::string("fusegate ") + FUSEGATE_VERSION);
  app.require_subcommand(1);
  Command command;
  add_run(app, &command, flags);
  add_duet(app, &command, flags);
  add_gate(app, &command);
  add_accept(app, &command);
  add_report(app, &command);
  add_show(app, &command);
  add_explain(app, &command);
  add_doctor(app, &command);
  add_calibrate(app, &command, flags);
  add_traces(app, &command);
  add_claims(app, &command);
  if (const auto problem = unknown_command(app, own)) return usage_error(*problem);
  const Command parsed = parse(app, own, &command);
  const bool passes_on =
      app.got_subcommand("run") || app.got_subcommand("duet") || app.got_subcommand("calibrate");
  if (separated && !passes_on) {
    return usage_error("only run, duet and calibrate pass on what follows --");
  }
  return parsed;
}

}  // namespace fusegate::ci
