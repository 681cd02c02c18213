#include "baselines/statistics/two_sides.h"

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

struct Block {
  std::vector<double> baseline;
  std::vector<double> candidate;
};

// Blocks that both sides have; the others do not show the difference.
std::vector<Block> common_blocks(const TwoSides& sides) {
  std::map<int, Block> by_number;
  for (std::size_t i = 0; i < sides.baseline_blocks.size(); ++i) {
    by_number[sides.baseline_blocks[i]].baseline.push_back(sides.baseline[i]);
  }
  for (std::size_t i = 0; i < sides.candidate_blocks.size(); ++i) {
    by_number[sides.candidate_blocks[i]].candidate.push_back(sides.candidate[i]);
  }
  std::vector<Block> common;
  for (auto& [number, block] : by_number) {
    if (!block.baseline.empty() && !block.candidate.empty()) common.push_back(std::move(block));
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

SideMean add_cards(const std::map<int, std::vector<double>>& cards,
                   std::vector<std::span<const double>>& groups) {
  const auto count = static_cast<double>(cards.size());
  SideMean result;
  for (const auto& [card, values] : cards) {
    groups.emplace_back(values);
    result.mean += mean(values) / count;
    result.share += 1 / (count * count * static_cast<double>(values.size()));
  }
  return result;
}

}  // namespace

std::map<int, std::vector<double>> by_card(const std::vector<double>& values,
                                           const std::vector<int>& cards) {
  if (cards.empty()) return {{0, values}};
  std::map<int, std::vector<double>> result;
  for (std::size_t i = 0; i < values.size(); ++i) result[cards[i]].push_back(values[i]);
  return result;
}

std::vector<double> card_deviations(const std::vector<double>& values,
                                    const std::vector<int>& cards) {
  std::vector<double> deviations;
  for (const auto& [card, own] : by_card(values, cards)) deviations.push_back(mean(own));
  const double center = mean(deviations);
  for (double& deviation : deviations) deviation -= center;
  return deviations;
}

Difference difference_of(const TwoSides& sides) {
  const std::vector<Block> blocks = common_blocks(sides);
  if (blocks.size() >= 2) return paired(blocks);
  const auto baseline_cards = by_card(sides.baseline, sides.baseline_cards);
  const auto candidate_cards = by_card(sides.candidate, sides.candidate_cards);
  std::vector<std::span<const double>> groups;
  const SideMean baseline = add_cards(baseline_cards, groups);
  const SideMean candidate = add_cards(candidate_cards, groups);
  return {candidate.mean - baseline.mean, pooled_variance(groups),
          baseline.share + candidate.share};
}

}  // namespace fusegate::baselines
