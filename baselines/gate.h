// The run's verdicts folded into an exit code.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "baselines/verdict.h"

namespace fusegate {

enum class ExitCode {
  kNoRegression = 0,
  kRegression = 1,
  kCouldNotJudge = 2,
};

struct GateOptions {
  Rule rule;
  bool allow_environment_differences = false;
  bool strict = false;  // missing and inconclusive benchmarks mean "could not judge"
};

struct GateResult {
  ExitCode exit_code = ExitCode::kCouldNotJudge;
  std::string headline;  // one sentence
  std::vector<EnvironmentDifference> environment_differences;
  std::vector<std::string> notes;  // doubts about the runs, in sentences
  std::vector<Verdict> verdicts;   // sorted by name
};

// Regression: 1. Else, where any benchmark is invalid, where the environments differ and that was
// not allowed (no verdict is computed then), or where nothing at all could be judged: 2. Else 0.
GateResult gate(const Run& baseline, const Run& candidate, const GateOptions& options);

// {"exit_code", "headline", "environment_differences", "notes", "counts", "rule", "verdicts":
// [...]} NaN is written as null.
nlohmann::json gate_json(const GateResult& result, const GateOptions& options);

}  // namespace fusegate
