#include "baselines/statistics/common_movement.h"

#include <algorithm>
#include <map>

namespace fusegate::baselines {
namespace {

constexpr std::size_t kFewestInAGroup = 8;
constexpr double kMedianOfSquares = 0.4549;  // of a standard normal variable's
// What a median absolute deviation knows, a standard deviation of so much fewer rows knows: P. J.
// Rousseeuw, C. Croux, "Alternatives to the median absolute deviation", J. Am. Stat. Assoc. 88
// (1993), 1273-1283.
constexpr double kEfficiency = 0.37;

double variance_of(const Contrast& row) { return row.standard_error * row.standard_error; }

// Weighted by how well each row is known.
double weighted_median(std::vector<Contrast> rows) {
  std::ranges::sort(rows, {}, &Contrast::effect);
  double all = 0;
  for (const Contrast& row : rows) all += 1 / row.standard_error;
  double below = 0;
  for (const Contrast& row : rows) {
    below += 1 / row.standard_error;
    if (below >= all / 2) return row.effect;
  }
  return 0;
}

// The variance beyond the rows' own with which half of them lie as close to zero as half of a
// normal distribution does.
double scatter_of(const std::vector<Contrast>& rows) {
  const auto median_at = [&rows](double scatter) {
    std::vector<double> squares;
    for (const Contrast& row : rows) {
      squares.push_back(row.effect * row.effect / (variance_of(row) + scatter));
    }
    return median(std::move(squares));
  };
  if (median_at(0) <= kMedianOfSquares) return 0;
  double low = 0;
  double high = 1e-12;
  while (median_at(high) > kMedianOfSquares) high *= 4;
  constexpr int kHalvings = 40;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (median_at(middle) > kMedianOfSquares ? low : high) = middle;
  }
  return high;
}

}  // namespace

std::vector<CommonMovement> common_movements(const std::vector<Contrast>& rows,
                                             const std::vector<int>& groups) {
  std::vector<Contrast> all;
  std::map<int, std::vector<Contrast>> by_group;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!(rows[i].degrees_of_freedom > 0)) continue;
    all.push_back(rows[i]);
    by_group[groups[i]].push_back(rows[i]);
  }
  std::vector<CommonMovement> result(rows.size());
  if (all.size() < kFewestMovedRows) return result;
  const double of_all = weighted_median(all);
  std::map<int, double> shifts;
  std::vector<Contrast> left;
  for (const auto& [group, members] : by_group) {
    shifts[group] = members.size() < kFewestInAGroup ? of_all : weighted_median(members);
    for (const Contrast& row : members) {
      left.push_back({row.effect - shifts[group], row.standard_error, row.degrees_of_freedom});
    }
  }
  const VarianceEstimate scatter{scatter_of(left),
                                 kEfficiency * static_cast<double>(all.size() - 1)};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto found = shifts.find(groups[i]);
    result[i] = {found == shifts.end() ? of_all : found->second, scatter};
  }
  return result;
}

}  // namespace fusegate::baselines
