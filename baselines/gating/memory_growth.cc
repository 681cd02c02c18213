#include "baselines/gating/memory_growth.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace fusegate::baselines {
namespace {

// Stored baselines keep five digits.
constexpr double kStoredError = 1e-4;

std::optional<double> counter_of(const Run& run, const std::string& benchmark,
                                 const std::string& counter) {
  const auto series =
      std::ranges::lower_bound(run.benchmarks, benchmark, {}, &BenchmarkSeries::name);
  if (series == run.benchmarks.end() || series->name != benchmark) return std::nullopt;
  const auto found = series->counters.find(counter);
  return found == series->counters.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::vector<MemoryGrowth> memory_growth(const Run& baseline, const Run& candidate,
                                        const std::vector<Verdict>& verdicts,
                                        const std::function<double(const Verdict&)>& allowed) {
  std::vector<MemoryGrowth> grown;
  for (const Verdict& verdict : verdicts) {
    const double most = 1 + std::max(allowed(verdict), kStoredError);
    for (const char* const counter : {"memory_bytes", "kept_bytes"}) {
      const auto before = counter_of(baseline, verdict.benchmark, counter);
      const auto after = counter_of(candidate, verdict.benchmark, counter);
      if (!before || !after || *after <= *before * most) continue;
      grown.push_back({verdict.benchmark, counter, *before, *after});
    }
  }
  return grown;
}

}  // namespace fusegate::baselines
