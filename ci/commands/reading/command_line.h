// The command line as the commands' files put it together, and the flags that several of them have.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "baselines/io/file_io.h"
#include "baselines/io/help_example.h"
#include "ci/commands/reading/commands.h"
#include "ci/console/format.h"

namespace fusegate::ci {

template <typename Request>
struct Subcommand {
  CLI::App& app;
  Request& request;  // lives as long as the command that is chosen
};

class CommandLine {
 public:
  using AddCommand = void (*)(CommandLine&);

  // passed_on: what follows --, for the commands that pass it on.
  CommandLine(std::vector<std::string> passed_on, const std::vector<AddCommand>& commands);

  // example: a call of it, for --help and the manual page.
  template <typename Request>
  Subcommand<Request> add(const std::string& name, const std::string& description,
                          const std::string& example,
                          baselines::ExitCode (*run)(const Request&, Console&)) {
    CLI::App* app = app_.add_subcommand(name, description);
    auto request = std::make_shared<Request>();
    baselines::add_example(*app, example);
    app->callback([=, this] {
      chosen_ = [=, common = common_](Console& console) {
        baselines::set_largest_file(common->largest_file_mib << 20);
        if (common->is_wide) console.out.set_columns(kAnyWidth);
        return run(*request, console);
      };
      chosen_app_ = app;
    });
    return {*app, *request};
  }
  // Flags of that command's request get what follows --. to: whom they are passed on to.
  void pass_on(CLI::App& app, std::vector<std::string>& flags,
               const std::string& to = "the benchmark program");
  // separated: there was a --.
  Command parse(const std::vector<std::string>& arguments, bool separated);
  // What is wrong with such a line; empty where nothing is.
  std::string problem_of(const std::vector<std::string>& arguments, bool separated) {
    return read(arguments, separated).problem;
  }
  const CLI::App& app() const { return app_; }

 private:
  // What every command takes.
  struct CommonOptions {
    bool is_wide = false;
    std::size_t largest_file_mib = baselines::kLargestFile >> 20;
  };
  void add_common(CLI::App& command);

  struct Parsed {
    std::string problem{};
    std::string text{};  // of --help and the like
  };
  // Both are empty where a command is chosen.
  Parsed read(const std::vector<std::string>& arguments, bool separated);
  // What is not a flag or a command although it looks like one, and the nearest that is.
  std::optional<std::string> mistyped(const std::vector<std::string>& line) const;

  CLI::App app_;
  const std::shared_ptr<CommonOptions> common_ = std::make_shared<CommonOptions>();
  const std::vector<std::string> passed_on_;
  Command chosen_;
  const CLI::App* chosen_app_ = nullptr;
  std::set<const CLI::App*> passing_on_;
};

// Topics of --help, for the commands that have more flags than are read at a glance.
inline constexpr const char* kMeasuringTopic = "What is measured";
inline constexpr const char* kComparedTopic = "What is compared";
inline constexpr const char* kRuleTopic = "What counts as a regression";
inline constexpr const char* kOutputTopic = "What is written";

// Options that are added from now on are listed under that topic. The functions below set theirs.
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

// A flag that was renamed: its former name works and is not shown.
template <typename Value>
CLI::Option* add_former_name(CLI::App& app, const std::string& former, Value& value) {
  return app.add_option(former, value)->group("");
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

// As CLI11 has checks: empty where it is a pattern (baselines/io/pattern.h).
std::string problem_of_pattern(const std::string& text);

// The rule of a verdict, for every command that reaches one.
void add_rule(CLI::App& app, JudgingRequest& request);
// Which benchmarks are controls, likewise.
void add_controls(CLI::App& app, JudgingRequest& request);
// For every command that gates: controls, what fails besides time, and what may stay undecided.
void add_gating(CLI::App& app, JudgingRequest& request);
void add_stores(CLI::App& app, JudgingRequest& request);
// What is asked of a stored baseline's age and of its anchor.
void add_age_and_creep(CLI::App& app, JudgingRequest& request);
// Where a gate's verdicts go.
void add_verdict_files(CLI::App& app, GateFiles& files);
// For every command that reads runs and stores nothing of them.
void add_unfinished(CLI::App& app, baselines::Unfinished& unfinished);
// What gate and report share.
void add_judging(CLI::App& app, JudgingRequest& request);

}  // namespace fusegate::ci
