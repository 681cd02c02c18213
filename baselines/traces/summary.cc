#include "baselines/traces/summary.h"

#include <algorithm>
#include <limits>
#include <map>
#include <ranges>
#include <string_view>
#include <utility>

#include "baselines/traces/owners.h"

namespace fusegate::baselines {
namespace {

constexpr std::string_view kStepPrefix = "ProfilerStep#";

// A range "ProfilerStep#N", as torch.profiler names the steps of its schedule.
bool is_step(const TraceEvent& event) {
  return event.category == TraceCategory::kRange && event.name.starts_with(kStepPrefix);
}

bool has_row(TraceCategory category) {
  return category != TraceCategory::kPython && category != TraceCategory::kGpuRange;
}

// Stays at the limit, 292 years, where sums pass it: only a file with wrong times comes near.
void add(std::int64_t& sum, std::int64_t ns) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (__builtin_add_overflow(sum, ns, &sum)) sum = ns > 0 ? Limits::max() : Limits::min();
}

class Summarizer {
 public:
  explicit Summarizer(const Trace& trace) : events_(trace.events), owners_(owners(trace)) {}

  TraceSummary take() {
    for (const TraceEvent& event : events_) row_of_.push_back(place(event));
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const TraceEvent& event = events_[i];
      if (is_gpu_work(event.category)) {
        add_work(i);
      } else if (has_row(event.category)) {
        add_host(i);
      }
    }
    for (TraceRow& row : summary_.rows) {
      // Below zero only where rounded times let what is enclosed outlast what encloses it.
      row.self_cpu_ns = std::max<std::int64_t>(row.self_cpu_ns, 0);
      add(summary_.cpu_ns, row.self_cpu_ns);
    }
    return std::move(summary_);
  }

 private:
  // The row of an event, which is made where it is the first of its name and category.
  std::size_t place(const TraceEvent& event) {
    if (!has_row(event.category)) return kNoEvent;
    const std::string_view name = is_step(event) ? "ProfilerStep*" : std::string_view(event.name);
    const auto [known, added] =
        places_.try_emplace(std::pair(event.category, name), summary_.rows.size());
    if (added) summary_.rows.push_back({.name = std::string(name), .category = event.category});
    ++summary_.rows[known->second].calls;
    summary_.steps += is_step(event);
    return known->second;
  }

  TraceRow& row(std::size_t event) { return summary_.rows[row_of_[event]]; }

  void add_host(std::size_t i) {
    add(row(i).cpu_ns, events_[i].duration_ns);
    add(row(i).self_cpu_ns, events_[i].duration_ns);
    if (owners_[i] != kNoEvent) add(row(owners_[i]).self_cpu_ns, -events_[i].duration_ns);
  }

  void add_work(std::size_t i) {
    const std::int64_t ns = events_[i].duration_ns;
    ++(events_[i].category == TraceCategory::kKernel ? summary_.kernels
                                                     : summary_.memory_operations);
    add(summary_.cuda_ns, ns);
    add(row(i).self_cuda_ns, ns);
    add(row(i).cuda_ns, ns);
    if (owners_[i] == kNoEvent) {
      ++summary_.unowned;
      return;
    }
    add(row(owners_[i]).self_cuda_ns, ns);
    for (std::size_t o = owners_[i]; o != kNoEvent; o = owners_[o]) add(row(o).cuda_ns, ns);
  }

  const std::vector<TraceEvent>& events_;
  std::vector<std::size_t> owners_;
  std::vector<std::size_t> row_of_;  // by event
  std::map<std::pair<TraceCategory, std::string_view>, std::size_t> places_;
  TraceSummary summary_;
};

}  // namespace

TraceSummary summarize(const Trace& trace) { return Summarizer(trace).take(); }

void TraceStep::add(const TraceEvent& event) {
  if (is_call(event.category)) calls.push_back(&event);
  if (event.category == TraceCategory::kKernel) {
    kernels.push_back(&event);
  } else if (is_gpu_work(event.category)) {
    memory_operations.push_back(&event);
  }
}

std::vector<TraceStep> steps_of(const Trace& trace) {
  const std::vector<std::size_t> owner = owners(trace);
  std::map<std::size_t, TraceStep> by_range;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    if (is_step(trace.events[i])) by_range[i];
  }
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    std::size_t at = owner[i];
    while (at != kNoEvent && !by_range.contains(at)) at = owner[at];
    if (at != kNoEvent) by_range[at].add(trace.events[i]);
  }
  const auto steps = std::views::values(by_range);
  return {steps.begin(), steps.end()};
}

}  // namespace fusegate::baselines
