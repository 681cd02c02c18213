// Where the time of a process goes, by what it reports of its progress.
#pragma once

#include <algorithm>

#include "ci/processes/progress.h"

namespace fusegate::ci {

// In seconds. Of a program that reports nothing, checks and samples are 0.
struct ProcessTimes {
  double checks_s = 0;   // of its benchmarks' results
  double samples_s = 0;  // with what lies between them, such as layouts
  double total_s = 0;

  ProcessTimes& operator+=(const ProcessTimes& other) {
    checks_s += other.checks_s;
    samples_s += other.samples_s;
    total_s += other.total_s;
    return *this;
  }
};

class ProcessClock {
 public:
  explicit ProcessClock(double started_s) : started_s_(started_s) {}

  // An event ends what it reports, but that of a check begins it.
  void see(const ProgressEvent& event, double now_s) {
    if (!event.note.empty()) return;
    if (event.is_check) {
      if (!checks_) first_check_s_ = now_s;
      checks_ = true;
    } else if (event.index > 0) {
      last_sample_s_ = now_s;
      // The first layout is a sample's too, so checks end a layout earlier.
      if (layouts_++ == 0) first_sample_s_ = now_s;
    }
  }
  ProcessTimes times(double ended_s) const {
    ProcessTimes times{.total_s = ended_s - started_s_};
    if (layouts_ < 2) return times;
    const double layout_s = (last_sample_s_ - first_sample_s_) / (layouts_ - 1);
    times.samples_s = layout_s * layouts_;
    if (checks_) times.checks_s = std::max(0.0, first_sample_s_ - layout_s - first_check_s_);
    return times;
  }

 private:
  double started_s_;
  double first_check_s_ = 0, first_sample_s_ = 0, last_sample_s_ = 0;
  bool checks_ = false;
  int layouts_ = 0;
};

}  // namespace fusegate::ci
