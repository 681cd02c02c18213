#include "kernels/cuda/launch_choice.h"

#include <algorithm>

namespace fusegate {
namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

std::vector<std::size_t> close_to_fastest(const std::vector<std::vector<double>>& times,
                                          double margin) {
  std::vector<double> medians;
  for (const std::vector<double>& own : times) medians.push_back(median(own));
  std::vector<std::size_t> close;
  if (medians.empty()) return close;
  const double limit = *std::ranges::min_element(medians) * (1 + margin);
  for (std::size_t i = 0; i < medians.size(); ++i) {
    if (medians[i] <= limit) close.push_back(i);
  }
  return close;
}

}  // namespace fusegate
