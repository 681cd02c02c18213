#include "baselines/statistics/common_movement.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace fusegate::baselines {
namespace {

constexpr std::size_t kFewestInAGroup = 8;
constexpr std::size_t kFewestForSides = 16;  // rows, of which each side of the median has half

bool is_known(const Contrast& row) { return row.degrees_of_freedom > 0; }

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

std::vector<double> shifts_of(const std::vector<Contrast>& rows, const std::vector<int>& groups) {
  std::vector<Contrast> all;
  std::map<int, std::vector<Contrast>> by_group;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!is_known(rows[i])) continue;
    all.push_back(rows[i]);
    by_group[groups[i]].push_back(rows[i]);
  }
  const double of_all = weighted_median(all);
  std::map<int, double> of_groups;
  for (const auto& [group, members] : by_group) {
    if (members.size() >= kFewestInAGroup) of_groups[group] = weighted_median(members);
  }
  std::vector<double> shifts;
  for (const int group : groups) {
    const auto own = of_groups.find(group);
    shifts.push_back(own == of_groups.end() ? of_all : own->second);
  }
  return shifts;
}

// The row by all others.
CommonMovement by_others(std::size_t own, const std::vector<Contrast>& rows) {
  std::vector<Contrast> others;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i != own && is_known(rows[i])) others.push_back(rows[i]);
  }
  const double shift = weighted_median(others);
  std::vector<Residual> residuals;
  const auto count = static_cast<double>(others.size());
  for (const Contrast& other : others) {
    // Their own median is one of them, or lies between two.
    const double inflation = count > 1 ? std::sqrt(count / (count - 1)) : 1;
    residuals.push_back({inflation * (other.effect - shift), other.standard_error, 0});
  }
  if (count == 1) residuals.clear();
  const ScaledT scatter = Scatter(residuals, smallest_relevant(rows.size())).of(0);
  return {shift, scatter, scatter, true};
}

}  // namespace

std::vector<CommonMovement> movements_about(const std::vector<double>& shifts,
                                            const std::vector<Contrast>& rows,
                                            const std::vector<int>& groups) {
  std::vector<Residual> below, above;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!is_known(rows[i])) continue;
    const double distance = rows[i].effect - shifts[i];
    const Residual residual{distance, rows[i].standard_error, groups[i]};
    if (distance >= 0) above.push_back(residual);
    if (distance <= 0) below.push_back(residual);
  }
  const double tail = smallest_relevant(rows.size());
  const Scatter from_below(below, tail), from_above(above, tail);
  std::vector<CommonMovement> result;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    result.push_back({shifts[i], from_below.of(groups[i]), from_above.of(groups[i])});
  }
  return result;
}

std::vector<CommonMovement> common_movements(const std::vector<Contrast>& rows,
                                             const std::vector<int>& groups) {
  const auto known = static_cast<std::size_t>(std::ranges::count_if(rows, is_known));
  if (known >= kFewestForSides) return movements_about(shifts_of(rows, groups), rows, groups);
  std::vector<CommonMovement> result;
  for (std::size_t i = 0; i < rows.size(); ++i) result.push_back(by_others(i, rows));
  return result;
}

}  // namespace fusegate::baselines
