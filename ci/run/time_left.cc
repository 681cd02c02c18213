#include "ci/run/time_left.h"

#include <algorithm>

namespace fusegate::ci {

void TimeLeft::start_process() {
  ++started_;
  running_ = true;
  fraction_ = 0;
  seconds_ = 0;
}

void TimeLeft::progress(double fraction, double seconds) {
  fraction_ = std::clamp(fraction, 0.0, 1.0);
  seconds_ = seconds;
}

void TimeLeft::finish_process(double seconds, bool representative) {
  running_ = false;
  if (!representative) return;
  ++measured_;
  measured_seconds_ += seconds;
}

std::optional<double> TimeLeft::whole_process_seconds() const {
  if (measured_ > 0) return measured_seconds_ / measured_;
  if (running_ && fraction_ > 0) return seconds_ / fraction_;
  return std::nullopt;
}

std::optional<double> TimeLeft::seconds() const {
  const std::optional<double> whole = whole_process_seconds();
  if (!whole) return std::nullopt;
  const double running = running_ ? 1 - fraction_ : 0;
  return *whole * (std::max(0, planned_ - started_) + running);
}

}  // namespace fusegate::ci
