#include "baselines/comparing/quantity_rows.h"

#include <algorithm>
#include <utility>

#include "baselines/comparing/clock_share.h"
#include "baselines/comparing/drift.h"
#include "baselines/comparing/modes.h"
#include "baselines/statistics/moderated_contrasts.h"

namespace fusegate::baselines {
namespace {

// cards: the numbers of the run's cards (Circumstances). gap: what leaves the upper cluster's
// values.
SideValues side_of(const Comparison& comparison, const BenchmarkSeries& series, double share,
                   Part part, const std::vector<int>& cards, double gap) {
  SideValues side;
  for (const ProcessSummary& summary : series.processes) {
    const int card = cards.at(static_cast<std::size_t>(summary.card));
    if (card == kNotCompared || (part == Part::kExtension && !summary.extension)) continue;
    side.values.push_back(log_at_share(summary, share) -
                          (is_in_upper_mode(comparison, summary) ? gap : 0));
    side.blocks.push_back(summary.block);
    side.cards.push_back(card);
  }
  return side;
}

bool has_extension(const BenchmarkSeries& series) {
  return std::ranges::any_of(series.processes, &ProcessSummary::extension);
}

bool has_quantity(const Comparison& comparison, Quantity quantity) {
  const bool on_both = comparison.of_baseline.all > 0 && comparison.of_candidate.all > 0;
  return on_both && (quantity == Quantity::kTime ||
                     (has_cycles(*comparison.baseline) && has_cycles(*comparison.candidate)));
}

Contrast& contrast_of(Comparison& comparison, Quantity quantity) {
  if (quantity == Quantity::kTime) return comparison.time;
  return (quantity == Quantity::kCycles ? comparison.cycles : comparison.equal_clock).emplace();
}

}  // namespace

TwoSides sides_of(const Comparison& comparison, Quantity quantity,
                  const Circumstances& circumstances, Part part) {
  const double share = comparison.share_of(quantity);
  const Part baseline_part = has_extension(*comparison.baseline) ? part : Part::kAll;
  const double gap = gap_between_modes(comparison, circumstances, share);
  TwoSides sides{
      side_of(comparison, *comparison.baseline, share, baseline_part, circumstances.baseline_cards,
              gap),
      side_of(comparison, *comparison.candidate, share, part, circumstances.candidate_cards, gap),
      mean_log_time(comparison)};
  const bool is_one_card =
      circumstances.baseline_cards.size() <= 1 && circumstances.candidate_cards.size() <= 1;
  for (SideValues* side : {&sides.baseline, &sides.candidate}) {
    if (!circumstances.side_by_side) side->blocks.clear();
    if (is_one_card) side->cards.clear();
  }
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
    if (quantity == comparison.decides) comparison.noise = contrasts[i].variance;
  }
  return result;
}

}  // namespace fusegate::baselines
