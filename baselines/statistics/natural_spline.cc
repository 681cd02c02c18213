#include "baselines/statistics/natural_spline.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {
namespace {

using Column = std::vector<double>;

double dot(const Column& a, const Column& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// Points closer than this share of the whole range count as one: a knot between them would bend the
// curve by their noise.
constexpr double kDistinct = 1e-3;

int distinct_values(const std::vector<double>& sorted) {
  int count = 1;
  double last = sorted.front();
  for (const double value : sorted) {
    if (value - last < kDistinct) continue;
    last = value;
    ++count;
  }
  return count;
}

// At evenly spaced quantiles; sorted lies within 0 .. 1.
std::vector<double> knots_of(const std::vector<double>& sorted, int parameters) {
  const int count = std::min(parameters, distinct_values(sorted));
  std::vector<double> knots{sorted.front()};
  for (int k = 1; k < count; ++k) {
    const double knot = quantile(sorted, static_cast<double>(k) / (count - 1));
    if (knot - knots.back() >= kDistinct) knots.push_back(knot);
  }
  return knots;
}

double cube_above(double x, double knot) {
  const double distance = std::max(0.0, x - knot);
  return distance * distance * distance;
}

// Least squares by modified Gram-Schmidt: the columns are few, and no two of a natural spline's
// with distinct knots are parallel. A. Bjorck, "Numerics of Gram-Schmidt orthogonalization", Linear
// Algebra Appl. 197-198 (1994), 297-316.
std::vector<double> least_squares(std::vector<Column> columns, Column y,
                                  std::vector<std::vector<double>>& r) {
  const std::size_t size = columns.size();
  r.assign(size, std::vector<double>(size));
  std::vector<double> projection(size);
  for (std::size_t j = 0; j < size; ++j) {
    r[j][j] = std::sqrt(dot(columns[j], columns[j]));
    for (double& value : columns[j]) value /= r[j][j];
    const auto take_out = [&](Column& from) {
      const double share = dot(columns[j], from);
      for (std::size_t i = 0; i < from.size(); ++i) from[i] -= share * columns[j][i];
      return share;
    };
    for (std::size_t k = j + 1; k < size; ++k) r[j][k] = take_out(columns[k]);
    projection[j] = take_out(y);
  }
  std::vector<double> coefficients(size);
  for (std::size_t j = size; j-- > 0;) {
    double rest = projection[j];
    for (std::size_t k = j + 1; k < size; ++k) rest -= r[j][k] * coefficients[k];
    coefficients[j] = rest / r[j][j];
  }
  return coefficients;
}

}  // namespace

NaturalSpline::NaturalSpline(const std::vector<double>& x, const std::vector<double>& y,
                             int parameters) {
  std::vector<double> sorted = x;
  std::ranges::sort(sorted);
  low_ = sorted.front();
  if (sorted.back() > low_) scale_ = sorted.back() - low_;
  for (double& value : sorted) value = (value - low_) / scale_;
  knots_ = knots_of(sorted, parameters);
  std::vector<Column> columns(knots_.size(), Column(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::vector<double> row = basis((x[i] - low_) / scale_);
    for (std::size_t j = 0; j < row.size(); ++j) columns[j][i] = row[j];
  }
  coefficients_ = least_squares(std::move(columns), y, triangle_);
}

std::vector<double> NaturalSpline::basis(double x) const {
  std::vector<double> row{1};
  const std::size_t size = knots_.size();
  if (size >= 2) row.push_back(x);
  const double last = knots_.back();
  const auto bend = [&](double knot) {
    return (cube_above(x, knot) - cube_above(x, last)) / (last - knot);
  };
  for (std::size_t k = 0; k + 2 < size; ++k) {
    row.push_back(bend(knots_[k]) - bend(knots_[size - 2]));
  }
  return row;
}

double NaturalSpline::scaled(double x) const { return std::clamp((x - low_) / scale_, 0.0, 1.0); }

double NaturalSpline::operator()(double x) const {
  const std::vector<double> row = basis(scaled(x));
  return std::inner_product(row.begin(), row.end(), coefficients_.begin(), 0.0);
}

// |z|^2 with R^T z = the basis at x.
double NaturalSpline::leverage(double x) const {
  std::vector<double> z = basis(scaled(x));
  for (std::size_t j = 0; j < z.size(); ++j) {
    for (std::size_t k = 0; k < j; ++k) z[j] -= triangle_[k][j] * z[k];
    z[j] /= triangle_[j][j];
  }
  return dot(z, z);
}

}  // namespace fusegate::baselines
