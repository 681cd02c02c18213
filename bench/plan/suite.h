// A suite: what is swept and how, from a JSON file.
//
//   {"name": "smoke",
//    "protocol": {"regime": "burst", "samples": 12, "batch_us": 1500, "idle_us": 5000, "places": 3,
//                 "order": "interleaved", "warm_ms": 0, "spin_us": 0, "l2": "warm"},
//    "gate": {"cpu": {"min_effect": 0.05}},
//    "sweeps": [{"operations": ["geglu"], "implementations": ["fused"], "dtype": ["bf16"],
//                "batch": [1, 8], "seq": [128], "dim": [768], "hidden": [3072]}]}
//
// What "protocol" does not name has the default of its regime. A sweep may leave out "operations"
// and "implementations"; they then mean all but the controls. Implementations that this build lacks
// are passed over. Every combination of the axes is a problem. Problems that a device cannot
// compute are left out, and the program says so.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/plan/protocol.h"
#include "kernels/contract/problem.h"

namespace fusegate::bench {

struct Sweep {
  std::vector<std::string> operations;       // empty: all but the controls
  std::vector<std::string> implementations;  // empty: all
  std::vector<std::int64_t> batch, seq, dim, hidden;
  std::vector<kernels::Dtype> dtype;
};

struct Suite {
  std::string name;
  Protocol protocol;
  std::map<std::string, double> min_effect;  // by kind of device
  std::vector<Sweep> sweeps;
};

// The largest value of an axis: beyond it, products of axes stop fitting into 64 bits.
inline constexpr std::int64_t kLargestAxis = std::int64_t{1} << 24;

// name: a file's path, or the name of a file in folder without ".json". Throws InputError listing
// the suites there are.
std::filesystem::path suite_path(const std::string& name, const std::filesystem::path& folder);

// Throws InputError naming the field: unknown keys, missing axes, values out of range, unknown
// operations, implementations or dtypes.
Suite parse_suite(const nlohmann::json& json, const std::string& source);

}  // namespace fusegate::bench
