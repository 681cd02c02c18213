#include "baselines/statistics/leading_factors.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {
namespace {

using Numbers = std::vector<double>;

double product_of(const Numbers& a, const Numbers& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

bool normalize(Numbers& vector) {
  const double length = std::sqrt(product_of(vector, vector));
  if (!(length > 1e-12)) return false;
  for (double& value : vector) value /= length;
  return true;
}

Numbers times(const std::vector<Numbers>& matrix, const Numbers& vector) {
  Numbers result;
  for (const Numbers& row : matrix) result.push_back(product_of(row, vector));
  return result;
}

// The leading eigenvector of a symmetric matrix, by powers; empty of zero.
Numbers leading_vector(const std::vector<Numbers>& matrix) {
  constexpr int kSteps = 60;
  Numbers vector(matrix.size());
  for (std::size_t i = 0; i < vector.size(); ++i) vector[i] = 1 + 0.1 * static_cast<double>(i % 7);
  for (int i = 0; i < kSteps; ++i) {
    vector = times(matrix, vector);
    if (!normalize(vector)) return {};
  }
  return vector;
}

// Solves a small symmetric positive definite system in place, by elimination; the solution and the
// first diagonal element of the inverse.
std::pair<Numbers, double> solve(const std::vector<Numbers>& matrix, Numbers right) {
  const std::size_t size = right.size();
  std::vector<Numbers> work = matrix;
  Numbers first(size);
  first[0] = 1;
  for (std::size_t pivot = 0; pivot < size; ++pivot) {
    const double scale = 1 / work[pivot][pivot];
    for (std::size_t i = 0; i < size; ++i) {
      const double factor = work[i][pivot] * scale;
      if (i == pivot || factor == 0) continue;
      for (std::size_t j = pivot; j < size; ++j) work[i][j] -= factor * work[pivot][j];
      right[i] -= factor * right[pivot];
      first[i] -= factor * first[pivot];
    }
  }
  for (std::size_t i = 0; i < size; ++i) right[i] /= work[i][i];
  return {right, first[0] / work[0][0]};
}

Numbers residuals_of(std::span<const FactorRow> rows, const Numbers& scores) {
  Numbers residuals;
  for (const FactorRow& row : rows)
    residuals.push_back(row.value - product_of(row.loadings, scores));
  return residuals;
}

// Of rows beyond their own variances.
double excess_of(std::span<const FactorRow> rows, const Numbers& residuals) {
  constexpr double kMadToDeviation = 1.4826;
  Numbers variances;
  for (const FactorRow& row : rows) variances.push_back(row.variance);
  const double deviation = kMadToDeviation * median_absolute_deviation(residuals);
  return std::max(0.0, deviation * deviation - median(std::move(variances)));
}

}  // namespace

Factors leading_factors(const std::vector<Numbers>& observations, int count) {
  std::vector<Numbers> known = observations;
  for (Numbers& own : known) {
    for (double& value : own) value = std::isfinite(value) ? value : 0;
  }
  std::vector<Numbers> gram(known.size(), Numbers(known.size()));
  for (std::size_t i = 0; i < known.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) gram[i][j] = gram[j][i] = product_of(known[i], known[j]);
  }
  Factors factors;
  while (static_cast<int>(factors.size()) < count) {
    const Numbers weights = leading_vector(gram);
    if (weights.empty()) break;
    const double value = product_of(weights, times(gram, weights));
    Numbers factor(known.front().size());
    for (std::size_t i = 0; i < known.size(); ++i) {
      for (std::size_t b = 0; b < factor.size(); ++b) factor[b] += weights[i] * known[i][b];
      for (std::size_t j = 0; j < known.size(); ++j) gram[i][j] -= value * weights[i] * weights[j];
    }
    if (!normalize(factor)) break;
    factors.push_back(std::move(factor));
  }
  return factors;
}

FactorScores factor_scores(std::span<const FactorRow> rows) {
  constexpr double kTails = 4, kLeastPrecision = 1e-9;
  constexpr int kIterations = 6;
  const std::size_t count = rows.front().loadings.size();
  FactorScores result{Numbers(count), 0};
  result.scores[0] = median(residuals_of(rows, result.scores));
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const Numbers residuals = residuals_of(rows, result.scores);
    const double excess = excess_of(rows, residuals);
    std::vector<Numbers> matrix(count, Numbers(count));
    Numbers right(count);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double variance = rows[i].variance + excess;
      const double weight =
          (kTails + 1) / (kTails + residuals[i] * residuals[i] / variance) / variance;
      for (std::size_t j = 0; j < count; ++j) {
        right[j] += weight * rows[i].loadings[j] * rows[i].value;
        for (std::size_t k = 0; k < count; ++k) {
          matrix[j][k] += weight * rows[i].loadings[j] * rows[i].loadings[k];
        }
      }
    }
    for (std::size_t j = 0; j < count; ++j) matrix[j][j] += kLeastPrecision;
    const auto [scores, variance] = solve(matrix, right);
    result = {scores, std::sqrt(variance)};
  }
  return result;
}

}  // namespace fusegate::baselines
