#include "bench/profiling/trace_schedule.h"

#include <fmt/format.h>

#include <limits>
#include <string_view>

#include "baselines/io/error.h"

namespace fusegate::bench {
namespace {

void require_at_least(int least, std::string_view name, int value) {
  if (value >= least) return;
  throw baselines::InputError("trace schedule", name,
                              fmt::format("must be {} or more, but is {}", least, value));
}

int checked_steps(const TraceCycle& cycle) {
  require_at_least(0, "wait", cycle.wait);
  require_at_least(0, "warm_up", cycle.warm_up);
  require_at_least(1, "active", cycle.active);
  require_at_least(1, "repeat", cycle.repeat);
  const long steps = static_cast<long>(cycle.wait) + cycle.warm_up + cycle.active;
  if (steps > std::numeric_limits<int>::max() / cycle.repeat) {
    throw baselines::InputError("trace schedule", "", "has more steps than an int can count");
  }
  return static_cast<int>(steps);
}

}  // namespace

TraceSchedule::TraceSchedule(const TraceCycle& cycle)
    : cycle_(cycle), cycle_steps_(checked_steps(cycle)) {}

TraceAction TraceSchedule::action(int step) const {
  if (step >= steps()) return TraceAction::kPass;
  const int in_cycle = step % cycle_steps_;
  if (in_cycle < cycle_.wait) return TraceAction::kPass;
  if (in_cycle < cycle_.wait + cycle_.warm_up) return TraceAction::kWarmUp;
  return in_cycle + 1 == cycle_steps_ ? TraceAction::kComplete : TraceAction::kRecord;
}

}  // namespace fusegate::bench
