// What is expected to be launched, by a stage's implementation (bench/profiling) or by a user in a
// trace's step (baselines/traces), compared with what was. In a run file the result is
// details.expectation of one entry of the benchmark, absent where nothing is declared or nothing
// was recorded:
//
//   {"met": false, "parts": [{"part": "addmm", "met": false, "expected": "1 GEMM",
//                             "seen": "nvjet_tst_..., bias_add_kernel"}]}
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baselines/io/json_field.h"

namespace fusegate::baselines {

struct ExpectationPart {
  std::string part;  // a stage, or what calls are of
  std::string expected;
  std::string seen;
  bool met = false;
};

struct TraceExpectation {
  std::vector<ExpectationPart> parts;

  bool met() const;
};

nlohmann::json expectation_json(const TraceExpectation& expectation);
// Throws InputError naming file and field.
TraceExpectation parse_expectation(const JsonField& field);

// For people: each part that is not met on a line of its own, "addmm: expected 1 GEMM, seen ...".
std::vector<std::string> unmet_lines(const TraceExpectation& expectation);

struct CountRange {
  int least = 0;
  std::optional<int> most{};

  bool holds(std::size_t count) const;
  // For people: "1 GEMM", "at most 2 GEMM", "no GEMM".
  std::string text(std::string_view what) const;
};

struct CountedNames {
  std::string what;     // for people: "GEMM"
  std::string pattern;  // baselines/io/pattern.h
  CountRange range{};
};

// For people: names, of which very long ones are cut, or "nothing".
std::string names_text(const std::vector<std::string>& names);

// Both throw std::invalid_argument for a bad pattern.

// Whether every kernel is of an expected kind, and every kind occurs as often as expected. A kernel
// counts for the first kind whose pattern it matches.
bool kernels_met(const std::vector<CountedNames>& kinds, std::vector<std::string> kernels);

// The part "calls". calls: names of CUDA's functions; those that match are counted.
ExpectationPart check_calls(const CountedNames& expected, const std::vector<std::string>& calls);

}  // namespace fusegate::baselines
