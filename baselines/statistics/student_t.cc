#include "baselines/statistics/student_t.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <unordered_map>
#include <vector>

namespace fusegate::baselines {
namespace {

namespace bm = boost::math;

// Not in long double, which takes three times as long and of which no more is kept.
using InDouble = bm::policies::policy<bm::policies::promote_double<false>>;
using StudentsT = bm::students_t_distribution<double, InDouble>;

// Logarithms of upper tails, evenly spaced in log(1 + t).
constexpr double kStep = 0.03;
constexpr std::size_t kPoints = 700;  // up to t = 1e9

using Table = std::vector<double>;

Table table_of(double degrees_of_freedom) {
  constexpr double kLeast = 1e-300;
  Table table(kPoints);
  for (std::size_t i = 0; i < kPoints; ++i) {
    const double t = std::expm1(kStep * static_cast<double>(i));
    table[i] = std::log(std::max(kLeast, t_upper_tail(t, degrees_of_freedom)));
  }
  return table;
}

const Table& shared_table(double degrees_of_freedom) {
  constexpr double kStepsAnE = 100, kMost = 1e6;
  thread_local std::unordered_map<long, Table> known;
  const long step = std::lround(kStepsAnE * std::log(std::min(kMost, degrees_of_freedom)));
  const auto [found, inserted] = known.try_emplace(step);
  if (inserted) found->second = table_of(std::exp(static_cast<double>(step) / kStepsAnE));
  return found->second;
}

}  // namespace

double t_upper_tail(double t, double degrees_of_freedom) {
  if (std::isinf(t)) return t > 0 ? 0 : 1;
  // Boost takes its precision by type.
  if (std::isinf(degrees_of_freedom)) return bm::cdf(bm::complement(bm::normal(), t));
  return bm::cdf(bm::complement(StudentsT(degrees_of_freedom), t));
}

double t_upper_quantile(double p, double degrees_of_freedom) {
  if (std::isinf(degrees_of_freedom)) return bm::quantile(bm::complement(bm::normal(), p));
  return bm::quantile(bm::complement(StudentsT(degrees_of_freedom), p));
}

double t_upper_tail_by_table(double t, double degrees_of_freedom) {
  if (t < 0) return 1 - t_upper_tail_by_table(-t, degrees_of_freedom);
  const Table& table = shared_table(degrees_of_freedom);
  const double position = std::min(std::log1p(t) / kStep, static_cast<double>(kPoints) - 1.001);
  const auto below = static_cast<std::size_t>(position);
  const double share = position - static_cast<double>(below);
  return std::exp((1 - share) * table[below] + share * table[below + 1]);
}

}  // namespace fusegate::baselines
