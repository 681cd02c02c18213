#include "baselines/statistics/two_sides.h"

#include <map>
#include <numeric>

#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {
namespace {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

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

// Blocks that both sides have; the others say nothing of the difference.
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

}  // namespace

Difference difference_of(const TwoSides& sides) {
  const std::vector<Block> blocks = common_blocks(sides);
  if (blocks.size() >= 2) return paired(blocks);
  return {mean(sides.candidate) - mean(sides.baseline),
          pooled_variance({sides.baseline, sides.candidate}),
          share_of(sides.baseline, sides.candidate)};
}

}  // namespace fusegate::baselines
