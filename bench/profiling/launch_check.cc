#include "bench/profiling/launch_check.h"

#include <algorithm>
#include <utility>

namespace fusegate::bench {
namespace {

// Null where nothing of that name was prepared.
kernels::SeenStage* find_stage(kernels::SeenTrace& trace, const std::string& name) {
  const auto found = std::ranges::find(trace.stages, name, &kernels::SeenStage::name);
  return found == trace.stages.end() ? nullptr : &*found;
}

}  // namespace

kernels::SeenTrace seen_trace(const baselines::CallProfile& profile,
                              const std::vector<kernels::Stage>& stages) {
  kernels::SeenTrace trace;
  for (const kernels::Stage& stage : stages) {
    trace.stages.push_back({.name = stage.name, .choice = stage.choice});
  }
  for (const baselines::LaunchedKernel& kernel : profile.kernels) {
    kernels::SeenStage* const stage = find_stage(trace, kernel.span.stage);
    (stage != nullptr ? stage->kernels : trace.stray_kernels).push_back(kernel.name);
  }
  for (const baselines::LaunchedMemoryOperation& operation : profile.memory_operations) {
    kernels::SeenStage* const stage = find_stage(trace, operation.span.stage);
    ++(stage != nullptr ? stage->memory_operations : trace.stray_memory_operations);
  }
  trace.calls.emplace();
  for (const baselines::ApiCall& call : profile.calls) trace.calls->push_back(call.name);
  return trace;
}

std::optional<baselines::TraceExpectation> check_trace(
    const kernels::Implementation& implementation, const kernels::SeenTrace& seen) {
  if (implementation.expects.empty()) return std::nullopt;
  baselines::TraceExpectation result;
  for (kernels::CheckedPart& part : kernels::check_expectation(implementation.expects, seen)) {
    result.parts.push_back({.part = std::move(part.part),
                            .expected = std::move(part.expected),
                            .seen = std::move(part.seen),
                            .met = part.met});
  }
  return result;
}

}  // namespace fusegate::bench
