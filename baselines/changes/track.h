// A benchmark over the nights: what its code takes, and what is known since the last change.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "baselines/changes/dating.h"
#include "baselines/changes/level.h"
#include "baselines/changes/cusum.h"

namespace fusegate::baselines {

// A night's figure of one benchmark.
struct Point {
  std::size_t night = 0;
  KnownNormal figure{};  // about its level
  float gain = 0;        // the share of what was left that its level took
  int key = 0;           // whose level
  bool is_new_code = false;
};

struct Regime {
  std::size_t first_night = 0;
  double code = 0;
};

class Track {
 public:
  Track(std::string name, bool is_control) : name_(std::move(name)), is_control_(is_control) {}

  const std::string& name() const { return name_; }
  bool is_control() const { return is_control_; }
  // What changes that night.
  Cusum cusum;
  std::string identity;  // the last one that is known
  std::vector<int> families;
  std::vector<std::string> kernels;
  double log_ns = 0;
  int undecided_nights = 0;  // the latest ones
  double standard_error = 0;

  const CodeLevel& code() const { return code_; }
  double code_at(std::size_t night) const;
  // Since the last change.
  const std::vector<Point>& points() const { return points_; }
  std::vector<KnownNormal> figures() const;
  // The first of points() of that night or a later one.
  std::size_t point_of(std::size_t night) const;

  // left: of the figure, less code(), clipped.
  void add(const Point& point, double left);
  // The change begins at change.first of points(). The points before it are forgotten.
  void accept(const DatedChange& change);

 private:
  std::string name_;
  bool is_control_;
  CodeLevel code_{};
  std::vector<Regime> earlier_{};
  std::size_t regime_start_ = 0;
  std::vector<Point> points_;
};

// What a level took of that night's figure, where the code was at `code`.
double taken_by_level(const Point& point, double code);

}  // namespace fusegate::baselines
