#include "ci/run/failed_benchmarks.h"

#include <fmt/format.h>

#include <algorithm>

#include "ci/console/format.h"
#include "ci/processes/run_record.h"

namespace fusegate::ci {
namespace {

// "geglu/fused" of "geglu/fused/bf16/batch:1".
std::string kernel_of(const std::string& benchmark) {
  const std::size_t operation_end = benchmark.find('/');
  if (operation_end == benchmark.npos) return benchmark;
  return benchmark.substr(0, benchmark.find('/', operation_end + 1));
}

// "wrong result" of "wrong result: relative error ...": the rest differs from shape to shape.
std::string kind_of(const std::string& failure) { return failure.substr(0, failure.find(':')); }

}  // namespace

bool FailedBenchmarks::add(const std::string& benchmark, const std::string& failure) {
  Group& group = groups_[{kernel_of(benchmark), kind_of(failure)}];
  const bool is_first = group.times.empty();
  if (is_first) group.first = benchmark, group.failure = failure;
  ++group.times[benchmark];
  return is_first;
}

void FailedBenchmarks::print(std::size_t processes, const std::string& where,
                             Console& console) const {
  for (const auto& [key, group] : groups_) {
    const auto most =
        std::ranges::max_element(group.times, {}, [](const auto& entry) { return entry.second; });
    const std::string times = fmt::format("failed in {} of {}{}", most->second,
                                          process_count(static_cast<int>(processes)),
                                          where.empty() ? "" : " in " + where);
    if (group.times.size() == 1) {
      console.err.print("fusegate: {}: {}: {}\n", group.first, times, group.failure);
    } else {
      console.err.print("fusegate: {}: {} {}, the first {}: {}\n", key.first,
                        format_count(group.times.size(), "benchmark"), times, group.first,
                        group.failure);
    }
  }
}

}  // namespace fusegate::ci
