#include "baselines/statistics/two_sides.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {
namespace {

// 1/n + 1/m: the variance of the difference of two means, in units of one value's.
double share_of(const std::vector<double>& baseline, const std::vector<double>& candidate) {
  return 1.0 / static_cast<double>(baseline.size()) + 1.0 / static_cast<double>(candidate.size());
}

double squares_about_mean(const std::vector<double>& values) {
  const double center = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - center) * (value - center);
  return squares;
}

using Values = std::vector<double>;
using Block = std::array<Values, 2>;  // the baseline's, the candidate's

// Blocks that both sides have; the others do not show the difference.
std::vector<Block> common_blocks(const TwoSides& sides) {
  std::map<int, Block> by_number;
  const auto add = [&](const SideValues& side, std::size_t index) {
    for (std::size_t i = 0; i < side.blocks.size(); ++i) {
      by_number[side.blocks[i]][index].push_back(side.values[i]);
    }
  };
  add(sides.baseline, 0);
  add(sides.candidate, 1);
  std::vector<Block> common;
  for (auto& [number, block] : by_number) {
    if (std::ranges::none_of(block, &Values::empty)) common.push_back(std::move(block));
  }
  return common;
}

Difference paired(const std::vector<Block>& blocks) {
  // Each block's own difference, weighted by how well the block knows it.
  double weights = 0;
  Difference result;
  for (const auto& [baseline, candidate] : blocks) {
    const double weight = 1 / share_of(baseline, candidate);
    weights += weight;
    result.effect += weight * (mean(candidate) - mean(baseline));
  }
  result.effect /= weights;
  result.share = 1 / weights;
  double squares = 0;
  double degrees_of_freedom = -1;  // for the effect; each block's level takes one more
  for (const auto& [baseline, candidate] : blocks) {
    const double distance = mean(candidate) - mean(baseline) - result.effect;
    squares += distance * distance / share_of(baseline, candidate) + squares_about_mean(baseline) +
               squares_about_mean(candidate);
    degrees_of_freedom += static_cast<double>(baseline.size() + candidate.size()) - 1;
  }
  result.variance = {squares / degrees_of_freedom, degrees_of_freedom};
  return result;
}

// The mean of the cards' means, and its variance in units of one value's.
struct SideMean {
  double mean = 0;
  double share = 0;
};

SideMean mean_of_cards(const std::map<int, Values>& cards) {
  const auto count = static_cast<double>(cards.size());
  SideMean result;
  for (const auto& [card, values] : cards) {
    result.mean += mean(values) / count;
    result.share += 1 / (count * count * static_cast<double>(values.size()));
  }
  return result;
}

}  // namespace

std::map<int, std::vector<double>> by_card(const SideValues& side) {
  if (side.cards.empty()) return {{0, side.values}};
  std::map<int, std::vector<double>> result;
  for (std::size_t i = 0; i < side.values.size(); ++i) {
    result[side.cards[i]].push_back(side.values[i]);
  }
  return result;
}

std::vector<double> card_deviations(const SideValues& side) {
  std::vector<double> deviations;
  for (const auto& [card, own] : by_card(side)) deviations.push_back(mean(own));
  const double center = mean(deviations);
  for (double& deviation : deviations) deviation -= center;
  return deviations;
}

Difference difference_of(const TwoSides& sides) {
  const std::vector<Block> blocks = common_blocks(sides);
  if (blocks.size() >= 2) return paired(blocks);
  const auto baseline_cards = by_card(sides.baseline);
  const auto candidate_cards = by_card(sides.candidate);
  std::vector<std::span<const double>> groups;
  for (const auto* cards : {&baseline_cards, &candidate_cards}) {
    for (const auto& [card, values] : *cards) groups.emplace_back(values);
  }
  const SideMean baseline = mean_of_cards(baseline_cards);
  const SideMean candidate = mean_of_cards(candidate_cards);
  return {candidate.mean - baseline.mean, pooled_variance(groups),
          baseline.share + candidate.share};
}

}  // namespace fusegate::baselines
