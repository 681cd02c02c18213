#include "baselines/changes/track.h"

#include <algorithm>
#include <cmath>

namespace fusegate::baselines {

double Track::code_at(std::size_t night) const {
  if (night >= regime_start_) return code_.mean;
  for (auto regime = earlier_.rbegin(); regime != earlier_.rend(); ++regime) {
    if (night >= regime->first_night) return regime->code;
  }
  return 0;
}

std::vector<KnownNormal> Track::figures() const {
  std::vector<KnownNormal> figures;
  for (const Point& point : points_) figures.push_back(point.figure);
  return figures;
}

std::size_t Track::point_of(std::size_t night) const {
  const auto found = std::ranges::lower_bound(points_, night, {}, &Point::night);
  return static_cast<std::size_t>(found - points_.begin());
}

void Track::add(const Point& point, double left) {
  points_.push_back(point);
  if (code_.variance == 0) return;
  const double gain = code_.variance / (code_.variance + point.figure.variance);
  code_.mean += gain * left;
  code_.variance *= 1 - gain;
}

void Track::accept(const DatedChange& change) {
  earlier_.push_back({regime_start_, code_.mean});
  points_.erase(points_.begin(), points_.begin() + static_cast<std::ptrdiff_t>(change.first));
  regime_start_ = points_.front().night;
  // An alarm picks nights that lie far off: they say less than others would.
  constexpr double kPicked = 3;
  code_ = {change.after.value, kPicked * change.after.variance};
  cusum.reset();
}

double taken_by_level(const Point& point, double code) {
  const double most = CusumRule{}.clip * std::sqrt(point.figure.variance);
  return point.gain * std::clamp(point.figure.value - code, -most, most);
}

}  // namespace fusegate::baselines
