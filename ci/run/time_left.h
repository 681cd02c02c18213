// How long a run will still take, from what has been done of it.
#pragma once

#include <optional>

namespace fusegate::ci {

class TimeLeft {
 public:
  explicit TimeLeft(int planned_processes) : planned_(planned_processes) {}

  void start_process();
  // fraction: of this invocation's benchmarks that are done, after that many seconds of it.
  void progress(double fraction, double seconds);
  // representative: false for one that crashed or was stopped; its length says nothing of others.
  void finish_process(double seconds, bool representative);

  // Nothing before there is anything to go by. Invocations of one run do the same work, so finished
  // ones tell what a whole one takes. Within the first, benchmarks count as equally long, which is
  // rough and good enough for a line on a terminal.
  std::optional<double> seconds() const;

 private:
  std::optional<double> whole_process_seconds() const;

  int planned_;
  int started_ = 0;
  int measured_ = 0;  // representative ones
  double measured_seconds_ = 0;
  bool running_ = false;
  double fraction_ = 0;
  double seconds_ = 0;
};

}  // namespace fusegate::ci
