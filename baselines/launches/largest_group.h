// What of a run's processes is one call's: those that launched alike, and medians over them.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {

// Of those that are alike, the largest group; of equally large ones, the first. all must not be
// empty and must outlive it.
template <typename Value, typename Alike>
std::vector<const Value*> largest_group(const std::vector<Value>& all, const Alike& alike) {
  std::vector<std::vector<const Value*>> groups;
  for (const Value& one : all) {
    const auto same =
        std::ranges::find_if(groups, [&](const auto& group) { return alike(*group.front(), one); });
    (same == groups.end() ? groups.emplace_back() : *same).push_back(&one);
  }
  return *std::ranges::max_element(groups, {}, &std::vector<const Value*>::size);
}

template <typename Value, typename Get>
double median_over(const std::vector<const Value*>& group, const Get& get) {
  std::vector<double> values;
  for (const Value* one : group) values.push_back(get(*one));
  return median(std::move(values));
}

}  // namespace fusegate::baselines
