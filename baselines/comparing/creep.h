// What got slower in steps that are each too small to be called, every one of them accepted as the
// next baseline: the candidate against the anchor, a second baseline that stays.
#pragma once

#include <string>
#include <vector>

#include "baselines/record/baseline.h"
#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {

struct GateOptions;
struct GateResult;

struct CreepFinding {
  std::string what;   // "geglu/fused/bf16, M <= 1024", or a benchmark
  double effect = 0;  // of time, or of cycles where they alone decide
  Interval interval;
  std::vector<std::string> benchmarks;  // of the range, or that one
  bool beyond_limit = false;            // a benchmark's interval, its low end too
};

struct Creep {
  std::string anchor;      // its file
  std::string since;       // when it was accepted
  std::string not_judged;  // why not, in words; empty where it was
  // Slower against the anchor and not against the baseline: ranges without a row in common with one
  // that is slower against the baseline, and benchmarks. The largest effect first.
  std::vector<CreepFinding> families;
  std::vector<CreepFinding> benchmarks;
  std::vector<std::string> notes;  // all of this in sentences
};

// Judges the candidate against the anchor by the gate's rule, where their environments match.
// against_baseline: the gate's result for the same candidate.
Creep creep_since(const Baseline& anchor, const Run& candidate, const GateResult& against_baseline,
                  const GateOptions& options);

// Where a benchmark crept beyond options.max_creep, that is a regression: exit code and headline
// say so, unless there is one against the baseline already.
void fold_creep(const Creep& creep, const GateOptions& options, GateResult& result);

}  // namespace fusegate::baselines
