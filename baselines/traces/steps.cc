#include "baselines/traces/steps.h"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <utility>

#include "baselines/traces/owners.h"

namespace fusegate::baselines {
namespace {

class StepSearch {
 public:
  explicit StepSearch(const Trace& trace)
      : events_(trace.events), owners_(owners(trace)), step_of_(events_.size(), kNotLookedFor) {}

  std::vector<TraceStep> take() {
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (!is_step(events_[i])) continue;
      step_of_[i] = ranges_.size();
      ranges_.push_back(i);
    }
    find_enclosing();
    for (const bool by_launch : {true, false}) find_by_time(by_launch);
    std::vector<TraceStep> steps(ranges_.size());
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (step_of_[i] != kNoEvent) steps[step_of_[i]].add(events_[i]);
    }
    return steps;
  }

 private:
  static constexpr std::size_t kNotLookedFor = kNoEvent - 1;

  // Each owner is passed once, however deep events are nested.
  void find_enclosing() {
    std::vector<std::size_t> passed;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      std::size_t at = i;
      for (; at != kNoEvent && step_of_[at] == kNotLookedFor; at = owners_[at])
        passed.push_back(at);
      const std::size_t step = at == kNoEvent ? kNoEvent : step_of_[at];
      for (const std::size_t event : passed) step_of_[event] = step;
      passed.clear();
    }
  }

  // Of calls and GPU work without a step yet: by the time of the call or of the launch, else by the
  // work's own.
  void find_by_time(bool by_launch) {
    const auto calls = by_launch ? calls_by_correlation() : Calls();
    std::vector<std::pair<std::int64_t, std::size_t>> looked_for;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const TraceEvent& event = events_[i];
      if (step_of_[i] != kNoEvent) continue;
      if (is_gpu_work(event.category)) {
        const auto call = calls.find(event.correlation);
        if (call != calls.end()) looked_for.emplace_back(call->second, i);
        if (!by_launch) looked_for.emplace_back(event.start_ns, i);
      } else if (is_call(event.category) && by_launch) {
        looked_for.emplace_back(event.start_ns, i);
      }
    }
    std::ranges::sort(looked_for);
    take_times(looked_for);
  }

  // When what has that correlation was called first.
  using Calls = std::unordered_map<std::int64_t, std::int64_t>;
  Calls calls_by_correlation() const {
    Calls calls;
    for (const TraceEvent& event : events_) {
      if (!is_call(event.category) || event.correlation == 0) continue;
      const auto [call, added] = calls.try_emplace(event.correlation, event.start_ns);
      if (!added) call->second = std::min(call->second, event.start_ns);
    }
    return calls;
  }

  // In the order of time, against steps in the order of time. Of several at once the last that
  // began.
  void take_times(const std::vector<std::pair<std::int64_t, std::size_t>>& looked_for) {
    std::vector<std::size_t> order(ranges_.size());
    for (std::size_t step = 0; step < order.size(); ++step) order[step] = step;
    const auto range_of = [this](std::size_t step) -> const TraceEvent& {
      return events_[ranges_[step]];
    };
    const auto start = [&](std::size_t step) { return range_of(step).start_ns; };
    std::ranges::stable_sort(order, {}, start);
    std::priority_queue<std::pair<std::int64_t, std::size_t>> open;
    auto next = order.begin();
    for (const auto& [time, event] : looked_for) {
      for (; next != order.end() && start(*next) <= time; ++next) open.emplace(start(*next), *next);
      while (!open.empty() && range_of(open.top().second).end_ns() <= time) open.pop();
      if (!open.empty()) step_of_[event] = open.top().second;
    }
  }

  const std::vector<TraceEvent>& events_;
  std::vector<std::size_t> owners_;
  std::vector<std::size_t> ranges_;   // the steps' events
  std::vector<std::size_t> step_of_;  // by event
};

}  // namespace

bool is_step(const TraceEvent& event) {
  return event.category == TraceCategory::kRange && event.name.starts_with(kStepPrefix);
}

void TraceStep::add(const TraceEvent& event) {
  if (is_call(event.category)) calls.push_back(&event);
  if (event.category == TraceCategory::kKernel) {
    kernels.push_back(&event);
  } else if (is_gpu_work(event.category)) {
    memory_operations.push_back(&event);
  }
}

std::vector<TraceStep> steps_of(const Trace& trace) { return StepSearch(trace).take(); }

}  // namespace fusegate::baselines
