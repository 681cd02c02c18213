// The verdicts of one implementation along the sweep, read together: "geglu/fused, M <= 1024: 3 %
// slower" instead of forty rows. Findings inform; no verdict and no exit code comes of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "baselines/comparing/verdict.h"

namespace fusegate::baselines {

enum class FamilyTrend { kSlower, kFaster };

std::string_view trend_name(FamilyTrend trend);  // "slower", "faster"

struct FamilyRow {
  std::string benchmark;
  VerdictKind kind = VerdictKind::kInconclusive;
  double effect = 0;           // as the verdict's
  double shrunken_effect = 0;  // the same, drawn towards the range's (family_pooling.h)
};

// A range of a family in which the benchmarks agree, or a family that differs without a pattern.
struct FamilyFinding {
  std::string family;  // "geglu/fused/bf16"; without the dtype where several agree
  std::string range;   // "M <= 1024", "hidden 11008", "all 12 shapes"
  FamilyTrend trend = FamilyTrend::kSlower;
  bool certain_together = false;  // the pooled effect itself is beyond the smallest that matters
  double effect = 0;              // pooled, of what the verdicts' effects are of
  Interval interval;              // of effect
  double effect_time = 0;         // pooled, candidate over baseline, minus one
  double effect_cycles = 0;       // NaN where a row has no cycles
  double p = 1;                   // of the trend, adjusted over all ranges
  double heterogeneity = 0;       // I^2 of the rows, from 0 to 1
  double spread = 0;              // tau, by how much true effects differ, relative
  std::size_t regressions = 0;    // among the rows
  std::size_t improvements = 0;
  bool rows_differ = false;     // by more than the smallest effect that matters
  std::vector<FamilyRow> rows;  // along the sweep
};

// Ranges whose pooled effect is beyond the smallest that matters and beyond what controls moved by,
// as for a single benchmark, at the rule's false discovery rate over all
// ranges of the suite; or that have a regression or an improvement among their rows. The slower
// ones first, the largest effect first.
//
// Read are benchmarks with at least two invocations on both sides, of families that have two such;
// no controls. A range of a single one is that benchmark's verdict and never called on its own
// account.
std::vector<FamilyFinding> find_families(const Run& baseline, const Run& candidate,
                                         const std::vector<Verdict>& verdicts, const Rule& rule);

// What the rows say beside the pooled effect: "11 of 12 are regressions", "together slower, no
// single row is certain".
std::string rows_text(const FamilyFinding& finding);

}  // namespace fusegate::baselines
