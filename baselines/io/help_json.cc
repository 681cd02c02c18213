#include "baselines/io/help_json.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace fusegate::baselines {
namespace {

using nlohmann::json;

std::vector<std::string> names_of(const CLI::Option& option) {
  if (option.get_positional()) return {option.get_name(true)};
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

// In the order of names: that of a set of pointers differs from process to process.
std::vector<std::string> names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) names.push_back(names_of(*option).back());
  std::ranges::sort(names);
  return names;
}

json option_json(const CLI::Option& option) {
  const bool is_flag = option.get_items_expected_max() == 0;
  const char delimiter = option.get_delimiter();
  return {{"names", names_of(option)},
          {"topic", option.get_group()},
          {"description", option.get_description()},
          {"value", is_flag ? "" : option.get_type_name()},
          {"default", option.get_default_str()},
          {"required", option.get_required()},
          {"repeats", option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll},
          {"takes_several", option.get_items_expected_max() > 1},
          {"delimiter", delimiter == '\0' ? "" : std::string(1, delimiter)},
          {"excludes", names_of(option.get_excludes())},
          {"needs", names_of(option.get_needs())},
          {"environment", option.get_envname()}};
}

}  // namespace

json help_json(const CLI::App& app) {
  json options = json::array();
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) options.push_back(option_json(*option));
  }
  json commands = json::array();
  for (const CLI::App* command : app.get_subcommands({})) {
    if (!command->get_group().empty()) commands.push_back(help_json(*command));
  }
  return {{"name", app.get_name()},
          {"description", app.get_description()},
          {"footer", app.get_footer()},
          {"options", options},
          {"commands", commands}};
}

void add_example(CLI::App& app, const std::string& call) {
  const std::string footer = app.get_footer();
  app.footer(footer + (footer.empty() ? "" : "\n\n") + "Example:\n  " + call);
}

void add_help_json(CLI::App& app) {
  // As CLI11's own version flag ends a program: with 0, and before it asks for what is required.
  app.add_flag_callback(
         "--help-json",
         [&app] { throw CLI::CallForVersion(help_json(app).dump(1), CLI::ExitCodes::Success); },
         "Print this help as JSON and exit")
      ->group("");
}

}  // namespace fusegate::baselines
