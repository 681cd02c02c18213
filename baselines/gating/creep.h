// Finds what got slower in steps that are each too small to be called, and were each accepted as
// the next baseline. It compares the candidate with the anchor, a second baseline that stays.
#pragma once

#include <string>
#include <vector>

#include "baselines/comparing/rule.h"
#include "baselines/comparing/verdict.h"
#include "baselines/record/baseline.h"

namespace fusegate::baselines {

struct Creep {
  std::string anchor;                              // its file
  std::string since;                               // when it was accepted
  std::vector<EnvironmentDifference> differences;  // where there is one, nothing was judged
  bool other_card = false;                         // than the anchor's
  // Against the anchor, of what is slower against it and not against the baseline. The largest
  // effect first.
  std::vector<Verdict> slower;
};

// Judges the candidate against the anchor by the gate's rule, where their environments match.
// against_baseline: the verdicts of the same candidate.
Creep creep_since(const Baseline& anchor, const Run& candidate,
                  const std::vector<Verdict>& against_baseline, const Rule& rule,
                  const Settings& settings, const std::string& filter);

// Whether it is slower by more than that for certain.
bool is_beyond(const Verdict& verdict, double max_creep);

}  // namespace fusegate::baselines
