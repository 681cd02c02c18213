// The suite that a command line asks for: a suite's file with flags in place of what it says.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"
#include "baselines/record/run_context.h"
#include "bench/plan/models.h"
#include "bench/plan/options.h"
#include "kernels/contract/kernel.h"

namespace fusegate::bench {
namespace {

using nlohmann::json;

bool sweeps_controls_alone(const json& sweep) {
  const json names = sweep.value("operations", json::array());
  return !names.empty() && std::ranges::all_of(names, [](const json& name) {
    return kernels::find_operation(name.get<std::string>()).is_control;
  });
}

bool has_axis(const kernels::Operation& operation, const std::string& axis) {
  return std::ranges::find(operation.axes, axis) != operation.axes.end();
}

std::vector<const kernels::Operation*> named_operations(const json& names) {
  std::vector<const kernels::Operation*> named;
  for (const kernels::Operation& operation : kernels::operations()) {
    if (std::ranges::find(names, json(operation.name)) != names.end()) named.push_back(&operation);
  }
  return named;
}

bool measures_axis(const json& sweep, const std::string& axis) {
  const auto named = sweep.value("operations", std::vector<std::string>());
  return std::ranges::any_of(operations_of(named, sweep),
                             [&](const auto* operation) { return has_axis(*operation, axis); });
}

// The sweep with flags in place of what it says, of the operations that they name those that find
// their axes; nothing where none does. Unknown names stay: parse_suite() refuses them.
std::optional<json> with_flags(const json& sweep, const json& flags) {
  json changed = sweep;
  changed.update(flags);
  if (flags.contains("operations")) {
    json matched = json::array();
    for (const json& name : flags.at("operations")) {
      const auto found = named_operations({name});
      if (found.empty() || finds_its_axes(*found.front(), changed)) matched.push_back(name);
    }
    if (matched.empty()) return std::nullopt;
    changed["operations"] = std::move(matched);
  }
  const json all = changed;
  for (const auto& [key, values] : flags.items()) {
    if (is_axis(key) && !sweep.contains(key) && !measures_axis(all, key)) changed.erase(key);
  }
  return changed;
}

// sweeps: with the flags.
void require_all_used(const std::vector<json>& sweeps, const json& flags) {
  for (const auto& [key, values] : flags.items()) {
    const auto has_it = [&key = key](const json& sweep) { return measures_axis(sweep, key); };
    if (!is_axis(key) || std::ranges::any_of(sweeps, has_it)) continue;
    throw baselines::InputError(
        "--axis " + key, "",
        "no measured operation has this axis; name all axes of an operation that has it");
  }
  for (const auto* operation : named_operations(flags.value("operations", json::array()))) {
    const auto names_it = [&](const json& sweep) {
      const json& names = sweep.at("operations");
      return std::ranges::find(names, json(operation->name)) != names.end();
    };
    if (std::ranges::any_of(sweeps, names_it)) continue;
    throw baselines::InputError("--operation", "",
                                fmt::format("'{}': no sweep has all of its axes, {}; name them",
                                            operation->name, fmt::join(operation->axes, ", ")));
  }
}

// Flags replace what the sweeps say. Controls keep the shapes at which they distinguish machines;
// flags that name operations or implementations leave them out.
void set_axes(json& sweeps, const json& flags) {
  const bool names_something = flags.contains("operations") || flags.contains("implementations");
  json fitting = json::array(), misfits = json::array();
  std::vector<json> replaced;
  for (json& sweep : sweeps) {
    if (sweeps_controls_alone(sweep)) {
      if (!names_something) fitting.push_back(std::move(sweep));
    } else if (auto changed = with_flags(sweep, flags)) {
      replaced.push_back(*changed);
      fitting.push_back(std::move(*changed));
    } else {
      sweep.update(flags);
      misfits.push_back(std::move(sweep));
    }
  }
  // Where none fits, parse_suite() says what is missing.
  if (!fitting.empty()) require_all_used(replaced, flags);
  sweeps = fitting.empty() ? std::move(misfits) : std::move(fitting);
}

// The reference problem of "Profiling in PyTorch, part 2".
constexpr std::array<std::pair<const char*, int>, 4> kReferenceProblem{
    {{"batch", 64}, {"seq", 128}, {"dim", 768}, {"hidden", 3072}}};

// Whether flags without a suite ask for the operation: by its name, by one of its axes, or by
// naming no axis at all.
bool is_asked_for(const kernels::Operation& operation, const json& flags) {
  if (flags.contains("operations")) {
    const json& names = flags.at("operations");
    return std::ranges::find(names, json(operation.name)) != names.end();
  }
  if (operation.is_control) return false;
  bool names_axes = false;
  for (const auto& [key, values] : flags.items()) {
    if (has_axis(operation, key)) return true;
    names_axes = names_axes || is_axis(key);
  }
  return !names_axes;
}

json names_of(const std::vector<const kernels::Operation*>& operations) {
  json names = json::array();
  for (const auto* operation : operations) names.push_back(operation->name);
  return names;
}

// What flags without a suite ask for: the reference problem as far as operations have its axes, of
// the operations that find all of their axes.
json sweep_of_flags(const json& flags) {
  std::vector<const kernels::Operation*> asked_for;
  json sweep{{"dtype", {"bf16", "fp32"}}};
  for (const kernels::Operation& operation : kernels::operations()) {
    if (!is_asked_for(operation, flags)) continue;
    asked_for.push_back(&operation);
    for (const auto& [axis, size] : kReferenceProblem) {
      if (has_axis(operation, axis)) sweep[axis] = {size};
    }
  }
  if (asked_for.empty() || flags.contains("operations")) return sweep;
  json with_flags = sweep;
  with_flags.update(flags);
  std::vector<const kernels::Operation*> whole;
  std::ranges::copy_if(asked_for, std::back_inserter(whole), [&](const auto* operation) {
    return finds_its_axes(*operation, with_flags);
  });
  // Where none is whole, parse_suite() names the axis that is missing.
  sweep["operations"] = names_of(whole.empty() ? asked_for : whole);
  return sweep;
}

// protocol: a suite's, or null.
void set_protocol(json& protocol, const json& flags) {
  if (protocol.is_null()) protocol = json::object();
  baselines::use_current_names(protocol);
  // Set for the suite's regime; another regime has defaults of its own.
  if (flags.contains("regime") && flags.at("regime") != protocol.value("regime", "burst")) {
    for (const char* key : {"idle_us", "layouts", "warm_ms"}) protocol.erase(key);
  }
  protocol.update(flags);
}

// The only suite of a program, or ours for a first try.
std::string default_suite(const std::filesystem::path& folder) {
  const std::vector<std::string> suites = suites_in(folder);
  return suites.size() == 1 ? suites.front() : "smoke";
}

bool takes_own(const Options& options, const SuiteSource& program) {
  if (program.own.is_null()) return false;
  return !options.suite || (*options.suite == program.own.at("name").get<std::string>() &&
                            !std::filesystem::exists(program.folder / (*options.suite + ".json")));
}

// Those given, of the operations that have exactly these axes where some have problems of their
// own: these would take from them what is missing.
json problem_sweeps(const Options& options) {
  json sweeps = options.problems;
  for (json& sweep : sweeps) {
    json names = json::array();
    bool has_own = false;
    for (const kernels::Operation& operation : kernels::operations()) {
      has_own = has_own || !operation.problems.empty();
      const bool fits = sweep.size() == operation.axes.size() &&
                        std::ranges::all_of(operation.axes, [&sweep](const std::string& axis) {
                          return sweep.contains(axis);
                        });
      if (fits && !operation.is_control) names.push_back(operation.name);
    }
    if (!has_own) {
      sweep["dtype"] = {"bf16"};
      continue;
    }
    if (names.empty()) {
      throw baselines::InputError("--problem", "", "no operation has exactly these axes");
    }
    sweep["operations"] = std::move(names);
  }
  return sweeps;
}

// flag: names problems with all of their axes.
void require_no_axes(const char* flag, const json& axes) {
  for (const auto& [key, values] : axes.items()) {
    if (!is_axis(key)) continue;
    throw baselines::InputError(flag, "",
                                fmt::format("cannot be used with --{}, which it sets itself", key));
  }
}

// In place of all sweeps but those of controls.
std::vector<baselines::Model> take_models(const Options& options,
                                          const std::filesystem::path& folder, json& sweeps) {
  require_no_axes("--model", options.axes);
  std::erase_if(sweeps.get_ref<json::array_t&>(),
                [](const json& sweep) { return !sweeps_controls_alone(sweep); });
  std::vector<baselines::Model> models;
  for (json& one : sweeps_of_models({options.models, "--model", ""}, {folder}, models)) {
    const auto operations = named_operations(one["operations"]);
    if (operations.empty() || operations.front()->problems.empty()) one["dtype"] = {"bf16"};
    sweeps.push_back(std::move(one));
  }
  return models;
}

}  // namespace

Suite suite_of(const Options& options, const SuiteSource& program) {
  const auto& [folder, own, is_foreign] = program;
  json suite;
  std::string source = "the command line";
  std::vector<baselines::Model> models;
  if (!options.problems.empty()) {
    require_no_axes("--problem", options.axes);
    suite = {{"name", "custom"}, {"sweeps", problem_sweeps(options)}};
  } else if (takes_own(options, program)) {
    source = "the program's suite";
    suite = own;
    models = expand_models(suite, source, {folder});
    parse_suite(suite, source);
  } else if (options.suite || (options.axes.empty() && options.models.is_null())) {
    source = suite_path(options.suite.value_or(default_suite(folder)), folder).string();
    suite = baselines::parse_json(baselines::read_file(source), source);
    models = expand_models(suite, source, {std::filesystem::path(source).parent_path(), folder});
    if (is_foreign) keep_own_operations(suite, source);
    // Before the flags replace anything: a broken file is broken whatever the flags are.
    parse_suite(suite, source);
  } else if (options.models.is_null()) {
    suite = {{"name", "custom"}, {"sweeps", {sweep_of_flags(options.axes)}}};
  } else {
    suite = {{"name", "custom"}, {"sweeps", json::array()}};
  }
  if (!options.models.is_null()) {
    models = take_models(options, folder, suite["sweeps"]);
    if (is_foreign) keep_own_operations(suite, source);
  }
  set_axes(suite["sweeps"], options.axes);
  set_protocol(suite["protocol"], options.protocol);
  Suite parsed = parse_suite(suite, source);
  parsed.models = std::move(models);
  return parsed;
}

std::vector<Sweep> sweeps_in(const std::filesystem::path& folder) {
  std::vector<Sweep> sweeps;
  for (const std::string& name : suites_in(folder)) {
    try {
      const std::string source = (folder / (name + ".json")).string();
      json root = baselines::parse_json(baselines::read_file(source), source);
      expand_models(root, source, {folder});
      const Suite suite = parse_suite(root, source);
      sweeps.insert(sweeps.end(), suite.sweeps.begin(), suite.sweeps.end());
    } catch (const baselines::InputError&) {
      continue;
    }
  }
  return sweeps;
}

}  // namespace fusegate::bench
