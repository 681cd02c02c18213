// The command line as the commands' files put it together, and the flags that several of them have.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "baselines/io/file_io.h"
#include "baselines/io/help_example.h"
#include "ci/commands/commands.h"
#include "ci/console/format.h"

namespace fusegate::ci {

template <typename Request>
struct Subcommand {
  CLI::App& app;
  Request& request;  // lives as long as the command that is chosen
};

class CommandLine {
 public:
  // passed_on: what follows --, for the requests that have flags to pass on.
  explicit CommandLine(std::vector<std::string> passed_on);

  // example: a call of it, for --help and the manual page.
  template <typename Request>
  Subcommand<Request> add(const std::string& name, const std::string& description,
                          const std::string& example,
                          baselines::ExitCode (*run)(const Request&, Console&)) {
    CLI::App* app = app_.add_subcommand(name, description);
    auto request = std::make_shared<Request>();
    bool passes_on = false;
    if constexpr (requires { request->flags; }) {
      request->flags = passed_on_;
      app->footer("Everything after -- is passed on to the benchmark program.");
      passes_on = true;
    }
    baselines::add_example(*app, example);
    app->callback([=, this] {
      chosen_ = [=, common = common_](Console& console) {
        heed(*common, console);
        return run(*request, console);
      };
      chosen_passes_on_ = passes_on;
    });
    return {*app, *request};
  }
  // Throws what CLI11 throws, and InputError. separated: there was a --.
  Command parse(std::vector<std::string> arguments, bool separated);
  const CLI::App& app() const { return app_; }

 private:
  // What every command takes.
  struct CommonOptions {
    bool is_wide = false;
    std::size_t largest_file_mib = baselines::kLargestFile >> 20;
  };
  void add_common(CLI::App& command);
  static void heed(const CommonOptions& options, Console& console);

  // What is no flag and no command although it looks like one, and what it may have been meant to
  // be.
  std::optional<std::string> mistyped(const std::vector<std::string>& line) const;

  CLI::App app_;
  const std::shared_ptr<CommonOptions> common_ = std::make_shared<CommonOptions>();
  const std::vector<std::string> passed_on_;
  Command chosen_;
  bool chosen_passes_on_ = false;
};

// Never throws for what the user wrote: a wrong command line is a command too, which says so and
// ends with 2; --help is one that prints help.
Command parse_command_line(int argc, char** argv);

// Topics of --help, for the commands that have more flags than are read at a glance.
inline constexpr const char* kMeasuringTopic = "What is measured";
inline constexpr const char* kComparedTopic = "What is compared";
inline constexpr const char* kRuleTopic = "What counts as a regression";
inline constexpr const char* kOutputTopic = "What is written";

// Options that are added from now on stand there under that topic. The functions below set theirs.
void set_topic(CLI::App& app, const char* topic);

// One value a flag, and the flag as often as wanted.
template <typename T>
CLI::Option* add_repeated(CLI::App& app, const std::string& name, std::vector<T>& values,
                          const std::string& description) {
  return app.add_option(name, values, description)
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

// "0.005" or "0.5%".
template <typename Value>
CLI::Option* add_fraction(CLI::App& app, const std::string& name, Value& value,
                          const std::string& description) {
  return app
      .add_option_function<std::string>(
          name, [name, &value](const std::string& text) { value = parse_fraction(name, text); },
          description)
      ->type_name("FRACTION");
}

// The rule of a verdict, for every command that reaches one.
void add_rule(CLI::App& app, JudgingRequest& request);
// What may stay undecided, for every command that gates; and, not shown, what must be ruled out in
// every benchmark.
void add_allow(CLI::App& app, std::optional<double>& allow, std::optional<double>& ruled_out);
// Which benchmarks are controls, likewise.
void add_controls(CLI::App& app, std::vector<std::string>& patterns);
// What fails besides time, likewise.
void add_fail_on(CLI::App& app, bool& host, bool& changed_kernels);
void add_stores(CLI::App& app, JudgingRequest& request);
// What is asked of a stored baseline's age and of its anchor.
void add_age_and_creep(CLI::App& app, JudgingRequest& request);
// What run and duet measure by.
void add_measuring(CLI::App& app, SuiteRequest& request);
// What duet and replay share.
void add_duet_options(CLI::App& app, DuetRequest& request);
// For every command that reads runs and stores nothing of them.
void add_unfinished(CLI::App& app, baselines::Unfinished& unfinished);
// What gate and report share.
void add_judging(CLI::App& app, JudgingRequest& request);

}  // namespace fusegate::ci
