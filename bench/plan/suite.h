// A suite: what is swept and how, from a JSON file.
//
//   {"name": "smoke",
//    "protocol": {"regime": "burst", "samples": 12, "batch_us": 1500, "idle_us": 5000, "layouts":
//    3,
//                 "order": "interleaved", "warm_ms": 0, "spin_us": 0, "l2": "warm"},
//    "gate": {"cpu": {"min_effect": 0.05, "allow": 0.1},
//             "cuda": {"host": {"min_effect": 0.1, "min_us": 1}}},
//    "controls": ["^library_gemm/"],
//    "compared_with": {"geglu": "unfused"},
//    "benchmarks": {"^geglu_mlp/": {"owner": "@org/team-mlp", "min_effect": 0.005}},
//    "sweeps": [{"operations": ["geglu"], "implementations": ["fused"], "dtype": ["bf16"],
//                "batch": [1, 8], "seq": [128], "dim": [768], "hidden": [3072]}]}
//
// "protocol": missing keys have the default of the regime; "layouts" was "places" once, which is
// still read. "gate": by kind of device; every key is optional. "controls": extended regular
// expressions, searched for in the names of benchmarks; what matches is a control, as is what is
// registered as one. "compared_with": by operation, the implementation that reports compare the
// others with, in place of its registration's. "benchmarks": by pattern, what
// they have apart from the suite (baselines/io/settings.h). "sweeps": the other keys are axes. Each
// must be an axis of an operation of the sweep, and an operation that the sweep names must find all
// of its axes. A value is a size, a fraction, true or false, or a name. Without "operations" and
// "implementations" a sweep takes all but the controls, of the operations those that find their
// axes. An operation with problems of its own takes from them what the sweep lacks: axes, or
// "dtype". Implementations that this build lacks are passed over. Every combination of an
// operation's axes is a problem. Problems that a device cannot compute are left out, and the
// program says so. A sweep may name models in place of operations and axes (models.h).
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "baselines/io/settings.h"
#include "baselines/record/model.h"
#include "bench/plan/protocol.h"
#include "kernels/contract/kernel.h"

namespace fusegate::bench {

// Of an axis, as kernels::Axis has it: a size, or the text of what is not one.
struct AxisValue {
  std::int64_t size = 0;
  std::string text = {};

  AxisValue(std::int64_t of_size) : size(of_size) {}
  explicit AxisValue(std::string other) : text(std::move(other)) {}
  friend bool operator==(const AxisValue&, const AxisValue&) = default;
};

struct Sweep {
  std::vector<std::string> operations;       // empty: all but the controls that find their axes
  std::vector<std::string> implementations;  // empty: all
  std::map<std::string, std::vector<AxisValue>> axes;
  std::vector<kernels::Dtype> dtype;  // empty: those of the operations' own problems
};

// Whether a key of a sweep names an axis.
bool is_axis(const std::string& key);

// Whether a sweep of these axes has what the operation needs. One with problems of its own takes
// from them what is missing.
template <typename Axes>
bool finds_its_axes(const kernels::Operation& operation, const Axes& axes) {
  return !operation.problems.empty() ||
         std::ranges::all_of(operation.axes,
                             [&](const std::string& axis) { return axes.contains(axis); });
}

// What a sweep of these axes measures, sorted by name: the operations that it names, or else all
// that find their axes, but no control: more shapes of one would add nothing.
template <typename Axes>
std::vector<const kernels::Operation*> operations_of(const std::vector<std::string>& named,
                                                     const Axes& axes) {
  std::vector<const kernels::Operation*> taken;
  for (const kernels::Operation& operation : kernels::operations()) {
    const bool is_taken = named.empty() ? !operation.is_control && finds_its_axes(operation, axes)
                                        : std::ranges::find(named, operation.name) != named.end();
    if (is_taken) taken.push_back(&operation);
  }
  return taken;
}

// The gate's settings, where the suite has them.
struct SuiteGate {
  std::optional<double> min_effect;       // the smallest that matters
  std::optional<double> allow;            // the slowdown that may stay undecided
  std::optional<double> host_min_effect;  // of what a call costs the host
  std::optional<double> host_min_us;
};

struct Suite {
  std::string name;
  Protocol protocol;
  std::map<std::string, SuiteGate> gate;               // by kind of device
  std::vector<std::string> controls;                   // patterns (baselines/io/pattern.h)
  std::map<std::string, std::string> compared_with{};  // by operation
  baselines::Settings settings{};
  std::vector<baselines::Model> models{};  // that its sweeps name (models.h)
  std::vector<Sweep> sweeps;

  // The protocol on a kind of device, with its gate's settings.
  Protocol protocol_on(const std::string& kind) const;
};

// The names of a folder's suites, sorted; none where there is no folder.
std::vector<std::string> suites_in(const std::filesystem::path& folder);

// name: a file's path, or the name of a file in folder without ".json". Throws InputError listing
// the suites of the folder.
std::filesystem::path suite_path(const std::string& name, const std::filesystem::path& folder);

// Leaves out what this program lacks of a suite that was written for another one: operations, and
// the names of implementations, of which it has others. Throws InputError where nothing is left.
void keep_own_operations(nlohmann::json& suite, const std::string& source);

// Throws InputError naming the field: unknown keys, axes that no operation of a sweep has or that
// one misses, values out of range, unknown operations, implementations or dtypes.
Suite parse_suite(const nlohmann::json& json, const std::string& source);

}  // namespace fusegate::bench
