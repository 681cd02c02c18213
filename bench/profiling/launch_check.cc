#include "bench/profiling/launch_check.h"

#include <algorithm>
#include <utility>

namespace fusegate {
namespace {

// Null where nothing of that name was prepared.
SeenStage* find_stage(SeenTrace& trace, const std::string& name) {
  const auto found = std::ranges::find(trace.stages, name, &SeenStage::name);
  return found == trace.stages.end() ? nullptr : &*found;
}

}  // namespace

SeenTrace seen_trace(const CallProfile& profile, const std::vector<Stage>& stages) {
  SeenTrace trace;
  for (const Stage& stage : stages) {
    trace.stages.push_back({.name = stage.name, .choice = stage.choice});
  }
  for (const LaunchedKernel& kernel : profile.kernels) {
    SeenStage* const stage = find_stage(trace, kernel.span.stage);
    (stage != nullptr ? stage->kernels : trace.stray_kernels).push_back(kernel.name);
  }
  for (const LaunchedMemoryOperation& operation : profile.memory_operations) {
    SeenStage* const stage = find_stage(trace, operation.span.stage);
    ++(stage != nullptr ? stage->memory_operations : trace.stray_memory_operations);
  }
  trace.calls.emplace();
  for (const ApiCall& call : profile.calls) trace.calls->push_back(call.name);
  return trace;
}

std::optional<TraceExpectation> check_trace(const Implementation& implementation,
                                            const SeenTrace& seen) {
  if (implementation.expects.empty()) return std::nullopt;
  TraceExpectation result;
  for (CheckedPart& part : check_expectation(implementation.expects, seen)) {
    result.parts.push_back({.part = std::move(part.part),
                            .expected = std::move(part.expected),
                            .seen = std::move(part.seen),
                            .met = part.met});
  }
  return result;
}

}  // namespace fusegate
