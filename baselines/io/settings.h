// What a suite sets for some of its benchmarks, by pattern of their names:
//
//   {"^geglu_mlp/": {"owner": "@org/team-mlp", "min_effect": 0.005, "allow": 0.02, "weight": 4}}
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "baselines/io/json_field.h"

namespace fusegate::baselines {

// What is not set is the suite's.
struct BenchmarkSettings {
  std::string owner{};                 // "@user" or "@organisation/team", "" where none is set
  std::optional<double> min_effect{};  // the smallest that matters, above 0 and below 1
  std::optional<double> allow{};       // a slowdown that may stay undecided; not below min_effect
  std::optional<double> weight{};      // above 0; what is not set weighs 1

  friend bool operator==(const BenchmarkSettings&, const BenchmarkSettings&) = default;
};

// By pattern (pattern.h).
using Settings = std::map<std::string, BenchmarkSettings>;

// Of the member `key`, and of "owners", which files had before: {pattern: owner}; empty where there
// is neither. Throws InputError naming the field: a pattern that is none, an unknown key, or a
// value out of its range.
Settings read_settings(const JsonField& object, std::string_view key);

// Where files have them: in a run file's and a baseline's provenance, and in a gate's JSON.
inline constexpr const char* kSettings = "settings";
nlohmann::json settings_json(const Settings& settings);

// Each as the longest pattern that fits and sets it says, the most special one; of several as long
// the first by name.
BenchmarkSettings settings_of(const Settings& settings, std::string_view benchmark);

}  // namespace fusegate::baselines
