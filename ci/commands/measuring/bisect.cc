#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "ci/bisect/findings.h"
#include "ci/commands/measuring/options.h"
#include "ci/console/layout.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

void write_json(const BisectRequest& request, const nlohmann::json& json) {
  if (request.json) baselines::write_atomically(*request.json, json.dump(2) + "\n");
}

void add_revisions(CLI::App& app, BisectionRequest& bisection) {
  set_topic(app, kComparedTopic);
  app.add_option("--good", bisection.good, "Commit of the time of before")
      ->type_name("REV")
      ->required();
  app.add_option("--bad", bisection.bad, "Later commit of the other time; by default HEAD")
      ->type_name("REV");
  app.add_option("--benchmark", bisection.measuring.benchmark, "The benchmark's name")
      ->type_name("NAME")
      ->required();
  add_commit_builds(app, bisection.build);
  app.add_flag("--fresh", bisection.fresh,
               "Start anew; by default the same command goes on where it was interrupted");
}

}  // namespace

void add_commit_builds(CLI::App& app, BuildRequest& build) {
  app.add_option("--build", build.build,
                 "Shell command that builds a commit, run at the root of a git work tree of it; by "
                 "default ci/pipelines/build_commit.sh of the checkout builds")
      ->type_name("COMMAND");
  app.add_option("--program", build.program,
                 "The benchmark program that the build leaves, relative to the work tree; or a "
                 "command that runs there, such as \"fusegate_bench kernels.py\"")
      ->type_name("PROGRAM");
  app.get_option("--build")->needs("--program");
}

void add_bisect(CommandLine& line) {
  auto [app, request] = line.add("bisect",
                                 "Find the commit that changed a benchmark's time, by building "
                                 "commits and measuring them side "
                                 "by side. Follows first parents: what a branch brought is one "
                                 "commit, its merge. Exits with 0 "
                                 "if it was found, else with 2",
                                 "fusegate bisect --good v1.2 --bad HEAD --benchmark NAME --build "
                                 "make --program build/my_bench",
                                 bisect_command);
  BisectionRequest& bisection = request.bisection;
  SideBySideRequest& measuring = bisection.measuring;
  line.pass_on(app, measuring.measuring.flags);
  bisection.build.checkout = checkout_root(fs::current_path());
  add_revisions(app, bisection);
  add_protocol(app, measuring.measuring, measuring.processes)->capture_default_str();
  app.add_flag("--fresh-choices", measuring.measuring.fresh_choices,
               "Autotune anew in each commit, in place of pinning what the good one chose");
  add_max_processes(
      app, measuring.processes,
      "Measure what is undecided again, up to this many processes of each program; by "
      "default three times --processes");
  add_controls(app, measuring.judging);
  add_rule(app, measuring.judging);
  set_topic(app, kOutputTopic);
  app.add_option("--json", request.json, "Write what was found as JSON")->type_name("FILE");
}

baselines::ExitCode bisect_command(const BisectRequest& request, Console& console) {
  BisectionRequest bisection = request.bisection;
  // Programs may run in another folder.
  fs::path suite = bisection.measuring.measuring.suite;
  if (fs::is_regular_file(suite))
    bisection.measuring.measuring.suite = fs::absolute(suite).string();
  if (request.json) baselines::require_writable(*request.json);
  try {
    const BisectionResult result = bisect(bisection, console);
    write_json(request, bisection_json(bisection, result));
    (result.interrupted ? console.err : console.out)
        .lines(bisection_text(bisection, result, console.out.style()));
    return exit_code_of(result);
  } catch (const baselines::InputError& error) {
    write_json(request, failed_bisection_json(bisection, error.what()));
    throw;
  }
}

}  // namespace fusegate::ci
