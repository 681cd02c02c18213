// Checks launches against expectations: of a stage, declared by its implementation
// (bench/profiling), and of a trace's step, written by a user (baselines/traces).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baselines/launches/expectation.h"

namespace fusegate::baselines {

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
