#include "baselines/comparison.h"

#include <algorithm>
#include <cmath>

#include "baselines/moderated_contrasts.h"
#include "baselines/verdict.h"

namespace fusegate {
namespace {

std::vector<double> logarithms(const BenchmarkSeries& series, double InvocationSummary::*field) {
  std::vector<double> values;
  for (const InvocationSummary& summary : series.invocations) {
    values.push_back(std::log(summary.*field));
  }
  return values;
}

TwoSides sides_of(const Comparison& comparison, double InvocationSummary::*field) {
  return {logarithms(*comparison.baseline, field), logarithms(*comparison.candidate, field)};
}

bool has_cycles(const BenchmarkSeries& series) {
  return std::ranges::all_of(series.invocations, [](const InvocationSummary& summary) {
    return std::isfinite(summary.cycles) && summary.cycles > 0;
  });
}

void contrast_times(std::vector<Comparison>& suite) {
  std::vector<TwoSides> sides;
  for (const Comparison& comparison : suite) {
    sides.push_back(sides_of(comparison, &InvocationSummary::time_ns));
  }
  const std::vector<Contrast> contrasts = moderated_contrasts(sides);
  for (std::size_t i = 0; i < suite.size(); ++i) {
    suite[i].time = contrasts[i];
    const bool single_baseline = sides[i].baseline.size() < 2;
    const bool single_candidate = sides[i].candidate.size() < 2;
    suite[i].has_single_invocation = single_baseline || single_candidate;
    suite[i].has_borrowed_noise = single_baseline && single_candidate && suite[i].has_estimate();
  }
}

void contrast_cycles(std::vector<Comparison>& suite) {
  std::vector<TwoSides> sides;
  std::vector<Comparison*> with_cycles;
  for (Comparison& comparison : suite) {
    if (!has_cycles(*comparison.baseline) || !has_cycles(*comparison.candidate)) continue;
    with_cycles.push_back(&comparison);
    sides.push_back(sides_of(comparison, &InvocationSummary::cycles));
  }
  const std::vector<Contrast> contrasts = moderated_contrasts(sides);
  for (std::size_t i = 0; i < contrasts.size(); ++i) with_cycles[i]->cycles = contrasts[i];
}

// Adjusts one p value a benchmark over the suite and puts it back.
template <typename PValue>
void adjust(std::vector<Comparison>& suite, double Comparison::*result, PValue p_value) {
  std::vector<double> p;
  for (const Comparison& comparison : suite) p.push_back(p_value(comparison));
  const std::vector<double> adjusted = benjamini_hochberg(p);
  for (std::size_t i = 0; i < suite.size(); ++i) suite[i].*result = adjusted[i];
}

}  // namespace

void compare_suite(std::vector<Comparison>& suite, const Rule& rule) {
  contrast_times(suite);
  contrast_cycles(suite);
  const double threshold = std::log1p(rule.min_effect);
  const auto above = [threshold](Contrast contrast, double direction) {
    contrast.effect *= direction;
    return p_above(contrast, threshold);
  };
  const auto in_time = [above](double direction) {
    return [=](const Comparison& comparison) { return above(comparison.time, direction); };
  };
  const auto in_both = [above](double direction) {
    return [=](const Comparison& comparison) {
      const double p_time = above(comparison.time, direction);
      if (!comparison.cycles) return p_time;
      return std::max(p_time, above(*comparison.cycles, direction));
    };
  };
  adjust(suite, &Comparison::p_slower, in_both(1));
  adjust(suite, &Comparison::p_faster, in_both(-1));
  adjust(suite, &Comparison::p_slower_in_time_alone, in_time(1));
  adjust(suite, &Comparison::p_faster_in_time_alone, in_time(-1));
}

}  // namespace fusegate
