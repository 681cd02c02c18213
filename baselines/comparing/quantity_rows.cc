#include "baselines/comparing/quantity_rows.h"

#include <algorithm>
#include <utility>

#include "baselines/comparing/clock_share.h"
#include "baselines/comparing/drift.h"
#include "baselines/comparing/modes.h"
#include "baselines/statistics/moderated_contrasts.h"

namespace fusegate::baselines {
namespace {

struct Values {
  std::vector<double> logarithms;
  std::vector<int> blocks;
  std::vector<int> cards;
};

// cards: the numbers of the run's cards (Circumstances). gap: what leaves the upper cluster's
// values.
Values values_of(const Comparison& comparison, const BenchmarkSeries& series, double share,
                 Part part, const std::vector<int>& cards, double gap) {
  Values values;
  for (const ProcessSummary& summary : series.processes) {
    const int card = cards.at(static_cast<std::size_t>(summary.card));
    if (card == kNotCompared || (part == Part::kExtension && !summary.extension)) continue;
    values.logarithms.push_back(log_at_share(summary, share) -
                                (is_in_upper_mode(comparison, summary) ? gap : 0));
    values.blocks.push_back(summary.block);
    values.cards.push_back(card);
  }
  return values;
}

bool has_extension(const BenchmarkSeries& series) {
  return std::ranges::any_of(series.processes, &ProcessSummary::extension);
}

bool has_cycles(const Comparison& comparison) {
  return has_cycles(*comparison.baseline) && has_cycles(*comparison.candidate);
}

bool has_quantity(const Comparison& comparison, Quantity quantity) {
  const bool on_both = comparison.of_baseline.all > 0 && comparison.of_candidate.all > 0;
  return on_both && (quantity == Quantity::kTime || has_cycles(comparison));
}

Contrast& contrast_of(Comparison& comparison, Quantity quantity) {
  if (quantity == Quantity::kTime) return comparison.time;
  auto& contrast = quantity == Quantity::kCycles ? comparison.cycles : comparison.equal_clock;
  return contrast ? *contrast : contrast.emplace();
}

}  // namespace

double share_of(const Comparison& comparison, Quantity quantity) {
  if (quantity == Quantity::kEqualClock) return comparison.clock_share;
  return quantity == Quantity::kCycles ? 1 : 0;
}

Quantity deciding_quantity(const Comparison& comparison, const Circumstances& circumstances) {
  return has_cycles(comparison) ? quantity_with_cycles(circumstances) : Quantity::kTime;
}

TwoSides sides_of(const Comparison& comparison, Quantity quantity,
                  const Circumstances& circumstances, Part part) {
  const double share = share_of(comparison, quantity);
  const Part baseline_part = has_extension(*comparison.baseline) ? part : Part::kAll;
  const double gap = gap_between_modes(comparison, circumstances, share);
  Values baseline = values_of(comparison, *comparison.baseline, share, baseline_part,
                              circumstances.baseline_cards, gap);
  Values candidate =
      values_of(comparison, *comparison.candidate, share, part, circumstances.candidate_cards, gap);
  TwoSides sides;
  sides.baseline = std::move(baseline.logarithms);
  sides.candidate = std::move(candidate.logarithms);
  if (circumstances.side_by_side) {
    sides.baseline_blocks = std::move(baseline.blocks);
    sides.candidate_blocks = std::move(candidate.blocks);
  }
  if (circumstances.baseline_cards.size() > 1 || circumstances.candidate_cards.size() > 1) {
    sides.baseline_cards = std::move(baseline.cards);
    sides.candidate_cards = std::move(candidate.cards);
  }
  sides.covariate = mean_log_time(comparison);
  return sides;
}

QuantityRows contrast_rows(std::vector<Comparison>& suite, Quantity quantity,
                           const Circumstances& circumstances) {
  std::vector<Comparison*> members;
  std::vector<TwoSides> sides;
  for (Comparison& comparison : suite) {
    if (!has_quantity(comparison, quantity)) continue;
    members.push_back(&comparison);
    sides.push_back(sides_of(comparison, quantity, circumstances));
  }
  const auto contrasts = moderated_contrasts(sides);
  QuantityRows result{quantity};
  for (std::size_t i = 0; i < members.size(); ++i) {
    Comparison& comparison = *members[i];
    Contrast& contrast = contrast_of(comparison, quantity) = contrasts[i].contrast;
    result.rows.push_back({&comparison, &contrast, std::move(sides[i]), contrasts[i].variance});
    if (quantity == deciding_quantity(comparison, circumstances)) {
      comparison.noise = contrasts[i].variance;
    }
  }
  return result;
}

}  // namespace fusegate::baselines
