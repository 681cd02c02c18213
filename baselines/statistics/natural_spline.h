// A smooth curve through noisy points: least squares on a natural cubic spline, which is straight
// beyond its outer knots. T. Hastie, R. Tibshirani, J. Friedman, "The elements of statistical
// learning", 2nd ed. (2009), section 5.2.1.
#pragma once

#include <vector>

namespace fusegate::baselines {

class NaturalSpline {
 public:
  // x and y: the points, as many of one as of the other and at least one. parameters: the
  // coefficients to spend, at least 1; with 1 the curve is a constant, with 2 a straight line, and
  // with more it has that many knots at evenly spaced quantiles of x. Fewer are spent where x has
  // fewer distinct values.
  NaturalSpline(const std::vector<double>& x, const std::vector<double>& y, int parameters);

  // Beyond the points the curve goes on at the height of its ends: nothing was seen there.
  double operator()(double x) const;
  // The variance of the curve's height at x, in units of one point's: near 0 where many points hold
  // the curve, 1 where a single point does.
  double leverage(double x) const;
  int parameters() const { return static_cast<int>(coefficients_.size()); }

 private:
  std::vector<double> basis(double x) const;  // x on the curve's own scale
  double scaled(double x) const;

  double low_ = 0;
  double scale_ = 1;
  std::vector<double> knots_;                  // of x scaled to 0 .. 1
  std::vector<std::vector<double>> triangle_;  // R of the points' QR decomposition
  std::vector<double> coefficients_;
};

}  // namespace fusegate::baselines
