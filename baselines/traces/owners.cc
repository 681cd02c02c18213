#include "baselines/traces/owners.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace fusegate::baselines {
namespace {

bool is_scope(TraceCategory category) {
  return category == TraceCategory::kOperator || category == TraceCategory::kRange;
}

class OwnerSearch {
 public:
  explicit OwnerSearch(const Trace& trace)
      : events_(trace.events), owners_(trace.events.size(), kNoEvent), scope_of_(owners_) {}

  std::vector<std::size_t> take() {
    const std::vector<std::size_t> host = host_events_in_order();
    nest(host);
    std::unordered_map<std::int64_t, std::size_t> calls, scopes;
    for (const std::size_t i : host) {
      const TraceEvent& event = events_[i];
      // The first of several is the outermost: a runtime call around the driver's.
      if (is_call(event.category) && event.correlation != 0) calls.emplace(event.correlation, i);
      if (is_scope(event.category) && event.external_id != 0) scopes.emplace(event.external_id, i);
    }
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (is_gpu_work(events_[i].category)) owners_[i] = launcher(events_[i], calls, scopes);
    }
    return std::move(owners_);
  }

 private:
  // Track by track, by start, what encloses first.
  std::vector<std::size_t> host_events_in_order() const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (is_scope(events_[i].category) || is_call(events_[i].category)) order.push_back(i);
    }
    std::ranges::sort(order, {}, [&](std::size_t i) {
      const TraceEvent& event = events_[i];
      return std::tuple(event.track, event.start_ns, -event.duration_ns, i);
    });
    return order;
  }

  void nest(const std::vector<std::size_t>& order) {
    std::vector<std::size_t> open;
    for (const std::size_t i : order) {
      const TraceEvent& event = events_[i];
      while (!open.empty() && (events_[open.back()].track != event.track ||
                               events_[open.back()].end_ns() <= event.start_ns)) {
        open.pop_back();
      }
      if (!open.empty()) {
        owners_[i] = open.back();
        scope_of_[i] =
            is_scope(events_[open.back()].category) ? open.back() : scope_of_[open.back()];
      }
      open.push_back(i);
    }
  }

  std::size_t launcher(const TraceEvent& work,
                       const std::unordered_map<std::int64_t, std::size_t>& calls,
                       const std::unordered_map<std::int64_t, std::size_t>& scopes) const {
    if (const auto call = calls.find(work.correlation); call != calls.end()) {
      const std::size_t owner = scope_of_[call->second];
      if (owner != kNoEvent) return owner;
    }
    // Older Kineto wrote the correlation for an External id where it had none; that such a number
    // is also some operator's means nothing.
    if (work.external_id == work.correlation) return kNoEvent;
    const auto scope = scopes.find(work.external_id);
    return scope == scopes.end() ? kNoEvent : scope->second;
  }

  const std::vector<TraceEvent>& events_;
  std::vector<std::size_t> owners_;
  std::vector<std::size_t> scope_of_;  // the innermost operator or range around a host event
};

}  // namespace

std::vector<std::size_t> owners(const Trace& trace) { return OwnerSearch(trace).take(); }

}  // namespace fusegate::baselines
