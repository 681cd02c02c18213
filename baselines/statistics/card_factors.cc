#include "baselines/statistics/card_factors.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace fusegate::baselines {
namespace {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

double squared(double value) { return value * value; }

// Of a symmetric positive definite matrix, by Gauss and Jordan.
Matrix inverse(Matrix matrix) {
  const std::size_t size = matrix.size();
  Matrix result(size, Vector(size));
  for (std::size_t i = 0; i < size; ++i) result[i][i] = 1;
  for (std::size_t pivot = 0; pivot < size; ++pivot) {
    const double scale = 1 / matrix[pivot][pivot];
    for (std::size_t j = 0; j < size; ++j) {
      matrix[pivot][j] *= scale;
      result[pivot][j] *= scale;
    }
    for (std::size_t i = 0; i < size; ++i) {
      const double factor = matrix[i][pivot];
      if (i == pivot || factor == 0) continue;
      for (std::size_t j = 0; j < size; ++j) {
        matrix[i][j] -= factor * matrix[pivot][j];
        result[i][j] -= factor * result[pivot][j];
      }
    }
  }
  return result;
}

double product(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

Vector product(const Matrix& matrix, const Vector& vector) {
  Vector result;
  for (const Vector& row : matrix) result.push_back(product(row, vector));
  return result;
}

struct Posterior {
  Vector weights;  // of the cards, and a shift of all rows
  Matrix covariance;
};

class CardRegression {
 public:
  CardRegression(const std::vector<CardFactorRow>& rows, std::size_t cards) : cards_(cards) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const CardFactorRow& row = rows[i];
      const bool is_known = row.contrast.degrees_of_freedom > 0 && row.deviations.size() == cards;
      if (!row.is_identical || !is_known) continue;
      rows_.push_back(i);
      design_.push_back(row.deviations);
      design_.back().push_back(1);
      effects_.push_back(row.contrast.effect);
      variances_.push_back(squared(row.contrast.standard_error));
    }
  }

  bool is_determined() const { return effects_.size() > 2 * cards_; }

  Posterior fit() const {
    Posterior posterior{Vector(cards_ + 1), {}};
    constexpr int kIterations = 15;
    for (int i = 0; i < kIterations; ++i) posterior = step(posterior.weights);
    return posterior;
  }

  // What each row of identical code lies off a fit without it, by its place among all rows. Heavy
  // rows lead the fit to themselves, and so seem to lie less far off than the next one will.
  std::map<std::size_t, double> deleted_residuals(const Posterior& posterior) const {
    constexpr double kMostLeverage = 0.9;
    const Vector residuals = residuals_of(posterior.weights);
    const Vector weights = row_weights(residuals);
    std::map<std::size_t, double> deleted;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const double leverage =
          weights[i] * product(design_[i], product(posterior.covariance, design_[i]));
      deleted[rows_[i]] = residuals[i] / (1 - std::min(kMostLeverage, leverage));
    }
    return deleted;
  }

 private:
  // As a t distribution with four degrees of freedom weighs them.
  Vector row_weights(const Vector& residuals) const {
    constexpr double kTails = 4;
    const double scatter = scatter_of(residuals);
    Vector weights;
    for (std::size_t i = 0; i < effects_.size(); ++i) {
      const double variance = variances_[i] + scatter;
      weights.push_back((kTails + 1) / (kTails + squared(residuals[i]) / variance) / variance);
    }
    return weights;
  }

  Posterior step(const Vector& weights) const {
    const Vector own = row_weights(residuals_of(weights));
    Matrix precision = prior();
    Vector moments(cards_ + 1);
    for (std::size_t i = 0; i < effects_.size(); ++i) {
      for (std::size_t j = 0; j <= cards_; ++j) {
        moments[j] += own[i] * design_[i][j] * effects_[i];
        for (std::size_t k = 0; k <= cards_; ++k) {
          precision[j][k] += own[i] * design_[i][j] * design_[i][k];
        }
      }
    }
    Posterior posterior{{}, inverse(std::move(precision))};
    posterior.weights = product(posterior.covariance, moments);
    return posterior;
  }

  // Weights have the variance with which a new card's deviation from the stored cards' mean is
  // drawn like theirs. The shift of all rows may be anything.
  Matrix prior() const {
    constexpr double kAnyShift = 0.1;
    const auto cards = static_cast<double>(cards_);
    Matrix precision(cards_ + 1, Vector(cards_ + 1));
    for (std::size_t i = 0; i < cards_; ++i) precision[i][i] = (cards - 1) / (1 + 1 / cards);
    precision[cards_][cards_] = 1 / squared(kAnyShift);
    return precision;
  }

  Vector residuals_of(const Vector& weights) const {
    Vector residuals;
    for (std::size_t i = 0; i < effects_.size(); ++i) {
      residuals.push_back(effects_[i] - product(design_[i], weights));
    }
    return residuals;
  }

  // Of rows about the fit, beyond their own errors.
  double scatter_of(const Vector& residuals) const {
    constexpr double kMadToDeviation = 1.4826, kLeast = 1e-5;
    const double deviation = kMadToDeviation * median_absolute_deviation(residuals);
    return std::max(squared(kLeast), squared(deviation) - median(variances_));
  }

  std::size_t cards_;
  std::vector<std::size_t> rows_;
  Matrix design_;
  Vector effects_;
  Vector variances_;
};

}  // namespace

std::vector<CardPrediction> predict_card(const std::vector<CardFactorRow>& rows) {
  std::vector<CardPrediction> predictions(rows.size());
  std::size_t cards = 0;
  for (const CardFactorRow& row : rows) cards = std::max(cards, row.deviations.size());
  const CardRegression regression(rows, cards);
  if (cards < 2 || !regression.is_determined()) return predictions;
  const Posterior posterior = regression.fit();
  const auto deleted = regression.deleted_residuals(posterior);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].deviations.size() != cards) continue;
    Vector design = rows[i].deviations;
    design.push_back(0);
    Contrast error{0, std::sqrt(product(design, product(posterior.covariance, design))),
                   static_cast<double>(cards) - 1};
    const double taken = product(posterior.weights, posterior.weights) - squared(posterior.weights[cards]);
    add_variance({taken * rows[i].noise.variance, rows[i].noise.degrees_of_freedom}, error);
    predictions[i] = {product(design, posterior.weights),
                      {squared(error.standard_error), error.degrees_of_freedom}};
    const auto own = deleted.find(i);
    if (own == deleted.end()) continue;
    predictions[i].shift = rows[i].contrast.effect - posterior.weights[cards] - own->second;
  }
  return predictions;
}

}  // namespace fusegate::baselines
