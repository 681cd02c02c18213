// When a trace is recorded: of each cycle of steps the first are let pass, so that what is set up
// once is done; the next warm up, with the recorder on and its records thrown away, because its
// first ones are slow; the rest are kept. By default 1, 1 and 3, as in the profiling series.
// It counts and does nothing else: the caller runs step 0, 1, ... and asks before each.
#pragma once

namespace fusegate::bench {

enum class TraceAction {
  kPass,     // the recorder is off
  kWarmUp,   // it is on; drop the records when the step is done
  kRecord,   // keep them
  kComplete  // keep them; with this step the cycle's trace is whole
};

struct TraceCycle {
  int wait = 1;
  int warm_up = 1;
  int active = 3;
  int repeat = 1;  // cycles in all
};

class TraceSchedule {
 public:
  // Throws InputError naming what is out of range: wait and warm_up may be 0, active and repeat
  // not, and the steps of all cycles must fit an int.
  explicit TraceSchedule(const TraceCycle& cycle = {});

  int steps() const { return cycle_steps_ * cycle_.repeat; }
  // kPass from steps() on. step: 0 or more.
  TraceAction action(int step) const;

 private:
  TraceCycle cycle_;
  int cycle_steps_;
};

}  // namespace fusegate::bench
