// The suite that a command line asks for: a suite's file with flags in place of what it says.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"
#include "baselines/record/run_context.h"
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

// Replaces what sweeps say by flags, and finds out whether every flag was used.
class FlagsInSweeps {
 public:
  explicit FlagsInSweeps(const json& flags) : flags_(flags) {
    for (const auto& [key, values] : flags.items()) {
      if (is_axis(key)) unused_.insert(key);
    }
    for (const auto* operation : named_operations(flags.value("operations", json::array()))) {
      unmatched_.insert(operation->name);
    }
  }

  // False, and the sweep stays as it is, where it lacks axes of every operation that the flags
  // name.
  bool apply(json& sweep) {
    json changed = sweep;
    changed.update(flags_);
    const bool names_some = match_operations(changed);
    if (flags_.contains("operations") && !names_some) return false;
    const auto measured = changed.contains("operations")
                              ? named_operations(changed.at("operations"))
                              : all_that_find_their_axes(changed);
    for (const auto& [key, values] : flags_.items()) {
      if (!is_axis(key)) continue;
      const bool is_had = std::ranges::any_of(
          measured, [&key = key](const auto* operation) { return has_axis(*operation, key); });
      if (is_had) unused_.erase(key);
      if (!is_had && !sweep.contains(key)) changed.erase(key);
    }
    sweep = std::move(changed);
    return true;
  }

  void require_all_used() const {
    if (!unused_.empty()) {
      throw baselines::InputError(
          "--axis " + *unused_.begin(), "",
          "no measured operation has this axis; name all axes of an operation that has it");
    }
    if (!unmatched_.empty()) {
      const kernels::Operation& operation = kernels::find_operation(*unmatched_.begin());
      throw baselines::InputError("--operation", "",
                                  fmt::format("'{}': no sweep has all of its axes, {}; name them",
                                              operation.name, fmt::join(operation.axes, ", ")));
    }
  }

 private:
  // Leaves of the operations that the flags name those that find their axes; false if none does.
  // Unknown names stay: parse_suite() refuses them.
  bool match_operations(json& sweep) {
    if (!flags_.contains("operations")) return false;
    json matched = json::array();
    for (const json& name : flags_.at("operations")) {
      const auto found = named_operations({name});
      if (!found.empty() && !finds_its_axes(*found.front(), sweep)) continue;
      matched.push_back(name);
      unmatched_.erase(name.get<std::string>());
    }
    if (!matched.empty()) sweep["operations"] = matched;
    return !matched.empty();
  }
  static std::vector<const kernels::Operation*> all_that_find_their_axes(const json& sweep) {
    std::vector<const kernels::Operation*> all;
    for (const kernels::Operation& operation : kernels::operations()) {
      if (!operation.is_control && finds_its_axes(operation, sweep)) all.push_back(&operation);
    }
    return all;
  }

  const json& flags_;
  std::set<std::string> unused_, unmatched_;
};

// Flags replace what the sweeps say. Controls keep the shapes at which they distinguish machines;
// flags that name operations or implementations leave them out.
void set_axes(json& sweeps, const json& flags) {
  const bool names_something = flags.contains("operations") || flags.contains("implementations");
  FlagsInSweeps in_sweeps(flags);
  json fitting = json::array(), misfits = json::array();
  for (json& sweep : sweeps) {
    const bool controls = sweeps_controls_alone(sweep);
    if (controls && names_something) continue;
    const bool fits = controls || in_sweeps.apply(sweep);
    if (!fits) sweep.update(flags);
    (fits ? fitting : misfits).push_back(std::move(sweep));
  }
  // Where none fits, parse_suite() says what is missing.
  if (!fitting.empty()) in_sweeps.require_all_used();
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

}  // namespace

Suite suite_of(const Options& options, const std::filesystem::path& folder) {
  json suite;
  std::string source = "the command line";
  if (!options.problems.empty()) {
    for (const auto& [key, values] : options.axes.items()) {
      if (!is_axis(key)) continue;
      throw baselines::InputError(
          "--problem", "", fmt::format("cannot be used with --{}, which it sets itself", key));
    }
    suite = {{"name", "custom"}, {"sweeps", options.problems}};
  } else if (options.suite || options.axes.empty()) {
    source = suite_path(options.suite.value_or(default_suite(folder)), folder).string();
    suite = baselines::parse_json(baselines::read_file(source), source);
    // Before the flags replace anything: a broken file is broken whatever the flags are.
    parse_suite(suite, source);
  } else {
    suite = {{"name", "custom"}, {"sweeps", {sweep_of_flags(options.axes)}}};
  }
  set_axes(suite["sweeps"], options.axes);
  set_protocol(suite["protocol"], options.protocol);
  return parse_suite(suite, source);
}

}  // namespace fusegate::bench
