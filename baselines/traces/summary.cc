#include "baselines/traces/summary.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "baselines/traces/owners.h"
#include "baselines/traces/steps.h"

namespace fusegate::baselines {
namespace {

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
  explicit Summarizer(const Trace& trace)
      : events_(trace.events), owners_(owners(trace)), launched_ns_(events_.size(), 0) {
    summary_.lost = trace.lost;
  }

  TraceSummary take() {
    for (const TraceEvent& event : events_) row_of_.push_back(row_index(event));
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const TraceEvent& event = events_[i];
      if (is_gpu_work(event.category)) {
        add_work(i);
      } else if (has_row(event.category)) {
        add_host(i);
      }
    }
    add_to_owners();
    summary_.enclosing = enclosing_work();
    for (TraceRow& row : summary_.rows) {
      // Below zero only where rounded times let what is enclosed outlast what encloses it.
      row.self_cpu_ns = std::max<std::int64_t>(row.self_cpu_ns, 0);
      add(summary_.cpu_ns, row.self_cpu_ns);
    }
    return std::move(summary_);
  }

 private:
  // The row of an event, which is made where it is the first of its name and category.
  std::size_t row_index(const TraceEvent& event) {
    if (!has_row(event.category)) return kNoEvent;
    const std::string_view name = is_step(event) ? "ProfilerStep*" : std::string_view(event.name);
    const auto [known, added] =
        index_by_name_.try_emplace(std::pair(event.category, name), summary_.rows.size());
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
    add(launched_ns_[owners_[i]], ns);
  }

  // What an event launched goes to all around it, from the innermost outwards: each is visited
  // once, however deep they are nested.
  void add_to_owners() {
    std::vector<std::size_t> within(events_.size(), 0);  // not visited yet
    for (const std::size_t owner : owners_) {
      if (owner != kNoEvent) ++within[owner];
    }
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (within[i] == 0) ready.push_back(i);
    }
    while (!ready.empty()) {
      const std::size_t i = ready.back();
      ready.pop_back();
      if (launched_ns_[i] > 0) add(row(i).cuda_ns, launched_ns_[i]);
      if (owners_[i] == kNoEvent) continue;
      add(launched_ns_[owners_[i]], launched_ns_[i]);
      if (--within[owners_[i]] == 0) ready.push_back(owners_[i]);
    }
  }

  // The one that encloses most.
  std::optional<EnclosingWork> enclosing_work() const {
    std::vector<std::size_t> work;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (is_gpu_work(events_[i].category)) work.push_back(i);
    }
    std::ranges::sort(work, {}, [this](std::size_t i) {
      return std::tuple(events_[i].track, events_[i].start_ns, i);
    });
    std::optional<EnclosingWork> most;
    for (std::size_t first = 0; first < work.size();) {
      const TraceEvent& around = events_[work[first]];
      std::size_t last = first + 1;
      const auto is_enclosed = [&](const TraceEvent& event) {
        return event.track == around.track && around.start_ns < event.start_ns &&
               event.end_ns() < around.end_ns();
      };
      while (last < work.size() && is_enclosed(events_[work[last]])) ++last;
      const std::size_t enclosed = last - first - 1;
      if (enclosed > (most ? most->enclosed : 0)) {
        most = {around.name, around.duration_ns, enclosed};
      }
      first = last;
    }
    return most;
  }

  const std::vector<TraceEvent>& events_;
  std::vector<std::size_t> owners_;
  std::vector<std::int64_t> launched_ns_;  // by event: of GPU work within it
  std::vector<std::size_t> row_of_;        // by event
  std::map<std::pair<TraceCategory, std::string_view>, std::size_t> index_by_name_;
  TraceSummary summary_;
};

}  // namespace

TraceSummary summarize(const Trace& trace) { return Summarizer(trace).take(); }

}  // namespace fusegate::baselines
