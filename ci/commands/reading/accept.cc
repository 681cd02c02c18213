#include <fmt/ranges.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "baselines/gating/stored_cards.h"
#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/message_names.h"
#include "baselines/io/write_lock.h"
#include "baselines/record/baseline.h"
#include "baselines/record/load_run.h"
#include "ci/commands/reading/command_line.h"
#include "ci/console/format.h"
#include "ci/console/layout.h"
#include "ci/gate/gate_notes.h"
#include "ci/gate/judging.h"
#include "ci/processes/child_process.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

// Writing a baseline takes milliseconds.
constexpr std::chrono::seconds kLongestWait(10);

std::string suite_of(const AcceptRequest& request, const baselines::Run& run) {
  const std::string& suite = request.suite.empty() ? run.provenance.suite : request.suite;
  if (suite.empty()) {
    throw baselines::InputError(run.source, "context.fusegate.suite",
                                "the run names no suite; name one with --suite");
  }
  // It becomes a file's name.
  if (suite.find('/') != std::string::npos || suite.starts_with('.')) {
    throw baselines::InputError(
        run.source, "context.fusegate.suite",
        fmt::format("\"{}\" cannot be a file's name; name another with --suite", suite));
  }
  return suite;
}

void check_reasons(const AcceptRequest& request, const baselines::Run& run) {
  if (request.force) return;
  const std::vector<std::string> reasons = baselines::reasons_not_to_accept(run);
  if (reasons.empty()) return;
  throw baselines::InputError(
      run.source, "",
      fmt::format("not accepted: {} (--force accepts it all the same)", fmt::join(reasons, "; ")));
}

std::vector<fs::path> stores_of(const AcceptRequest& request) {
  std::vector<fs::path> stores{request.store};
  stores.insert(stores.end(), request.stores.begin(), request.stores.end());
  return stores;
}

// Whether nothing is to be done, as --if-missing wants it: a run of this very environment can be
// compared with a baseline.
bool is_kept(const AcceptRequest& request, const baselines::Run& run, const std::string& suite,
             Console& console) {
  if (!request.if_missing) return false;
  const auto found = find_comparable_baseline(stores_of(request), run.environment, suite);
  if (!found || !baselines::differences_between(found->baseline.run, run).empty()) return false;
  console.out.print("kept {}\n", found->path.string());
  return true;
}

// Whether it became the anchor too.
bool store(const AcceptRequest& request, const baselines::Baseline& baseline,
           const fs::path& path) {
  const fs::path anchor = baselines::anchor_path(path);
  const bool is_first = !fs::exists(path) && !fs::exists(anchor);
  const bool is_anchor = request.replace_anchor || is_first;
  // Without a file of its own, the baseline is the anchor until it is replaced.
  if (!is_anchor && !fs::exists(anchor)) {
    baselines::write_atomically(baselines::followed(anchor), baselines::read_file(path));
  }
  // A link stays one: what it leads to is what a checkout keeps.
  baselines::write_atomically(baselines::followed(path), baselines::baseline_text(baseline));
  if (is_anchor) fs::remove(anchor);
  return is_anchor;
}

// Found nine times in ten; by figures, without identical code that shows what a card does.
void print_what_it_finds(const AcceptRequest& request, const baselines::Run& run,
                         Console& console) {
  JudgingRequest judging;
  judging.stores = stores_of(request);
  const std::string here = detectable_text(judging, run, false);
  if (here.empty()) return;
  console.out.print(
      "finds slowdowns of {}, on {}", here,
      run.cards.size() > 1 ? fmt::format("these {} cards", run.cards.size()) : "this card");
  if (!run.provenance.device_uuid.empty()) {
    const std::string there = detectable_text(judging, run, true);
    console.out.print("; on another card, by stored figures, {}",
                      there.empty() ? "none" : "of " + there);
  }
  console.out.print("\n");
}

void add_stored(const fs::path& path, baselines::Run& run, Console& console) {
  if (!fs::exists(path)) {
    throw baselines::InputError(path.string(), "",
                                "--add: this baseline is not stored yet; leave out --add");
  }
  const baselines::Baseline stored = baselines::read_baseline(path);
  baselines::require_unpublished(stored);
  const std::vector<std::string> alone = baselines::add_stored_cards(stored.run, run);
  if (alone.empty()) return;
  console.err.print(
      "note: of {} benchmark{} this run's processes alone are stored, since the code is another "
      "than the stored one's or unknown: {}\n",
      alone.size(), alone.size() == 1 ? "" : "s", baselines::first_of(alone));
}

void warn_of_mixed_choices(const baselines::Run& run, Console& console) {
  std::vector<std::string> names;
  for (const baselines::BenchmarkSeries& series : run.benchmarks) {
    if (std::ranges::find(series.warnings, baselines::Warning::kMixedChoices) !=
        series.warnings.end()) {
      names.push_back(series.name);
    }
  }
  if (names.empty()) return;
  console.err.print(
      "warning: autotuning chose other kernels in some processes of {} benchmark{}, so that small "
      "slowdowns there are not found: {}. Measure again with --baseline and one of these runs, "
      "whose kernels all then take\n",
      names.size(), names.size() == 1 ? "" : "s", baselines::first_of(names));
}

}  // namespace

std::string user_or(const std::string& who) {
  if (!who.empty()) return who;
  const std::string name = output_of({"git", "config", "user.name"});
  const std::string email = output_of({"git", "config", "user.email"});
  if (!name.empty() && !email.empty()) return fmt::format("{} <{}>", name, email);
  if (!name.empty() || !email.empty()) return name + email;
  // Not $USER, which a container does not set. Its user may have no entry in /etc/passwd either.
  const passwd* const login = getpwuid(geteuid());
  return login != nullptr && *login->pw_name != '\0' ? login->pw_name
                                                     : fmt::format("user {}", geteuid());
}

void add_accept(CommandLine& line) {
  auto [app, request] =
      line.add("accept",
               "Store a run as the baseline of its device and suite. The first one is "
               "also the anchor, which shows small slowdowns that add up",
               "fusegate accept .fusegate/runs/nightly --reason \"cuBLAS 13.2\"", accept_command);
  request.store = checkout_root(fs::current_path()) / "baselines";
  request.stores = default_stores(fs::current_path());
  app.add_option("run", request.runs, "Run folders or run files that together make one run")
      ->type_name("PATH")
      ->required();
  app.add_option("--reason", request.reason, "Why; kept in the baseline")->required();
  app.add_option("--who", request.who, "By default git's user, else the login's name")
      ->type_name("NAME");
  app.add_option("--suite", request.suite, "Store it for this suite instead of the run's own")
      ->type_name("SUITE");
  app.add_option("--store", request.store,
                 "Folder of stored baselines; by default baselines at the root of the git checkout")
      ->type_name("FOLDER");
  app.add_flag("--if-missing", request.if_missing,
               "Do nothing if a store has a baseline of this device, suite and environment");
  app.add_flag("--add", request.add,
               "Keep what the stored baseline has of other cards, for benchmarks with identical "
               "code: for machines that get another card each time");
  app.add_flag("--anchor", request.replace_anchor,
               "Make this run the anchor too, in place of the old one");
  app.add_flag(
      "--force", request.force,
      "Accept it despite failures, throttling, uncommitted changes or too few processes. Processes "
      "that did not finish are left out all the same");
}

baselines::ExitCode accept_command(const AcceptRequest& request, Console& console) {
  if (request.reason.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw baselines::InputError("--reason", "", "empty; say why this run becomes the baseline");
  }
  baselines::Baseline baseline;
  baseline.run = baselines::load_run(request.runs);
  const std::string suite = suite_of(request, baseline.run);
  if (is_kept(request, baseline.run, suite, console)) return baselines::ExitCode::kNoRegression;
  if (!request.add) check_reasons(request, baseline.run);
  for (const std::string& text : unfinished_texts(baseline.run)) {
    console.err.print("note: {}\n", text);
  }
  baseline.run.provenance.suite = suite;
  baseline.acceptance = {user_or(request.who), format_instant(std::chrono::system_clock::now()),
                         request.reason};
  const fs::path path = baselines::baseline_path(request.store, baseline.run.environment, suite);
  // Of two at once the second finds the first's.
  const auto lock = baselines::WriteLock::of_file(path, kLongestWait);
  if (is_kept(request, baseline.run, suite, console)) return baselines::ExitCode::kNoRegression;
  if (request.add) {
    add_stored(path, baseline.run, console);
    check_reasons(request, baseline.run);
  }
  const bool is_anchor = store(request, baseline, path);
  console.out.print("recorded {}{}\n", path.string(), is_anchor ? ", also as anchor" : "");
  print_what_it_finds(request, baseline.run, console);
  if (const std::string text = few_processes_text(baseline.run); !text.empty()) {
    console.err.print("warning: {}\n", text);
  }
  warn_of_mixed_choices(baseline.run, console);
  return baselines::ExitCode::kNoRegression;
}

}  // namespace fusegate::ci
