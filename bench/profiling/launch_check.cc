#include "bench/profiling/launch_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "baselines/io/pattern.h"
#include "baselines/launches/expectation.h"

namespace fusegate::bench {
namespace {

using baselines::CountedNames;
using baselines::ExpectationPart;

// Null where nothing of that name was prepared.
SeenStage* find_stage(SeenTrace& trace, const std::string& name) {
  const auto found = std::ranges::find(trace.stages, name, &SeenStage::name);
  return found == trace.stages.end() ? nullptr : &*found;
}

template <typename Stages>
std::vector<std::string> names_of(const Stages& stages) {
  std::vector<std::string> names;
  for (const auto& stage : stages) names.push_back(stage.name);
  return names;
}

std::string seen_text(const std::vector<std::string>& kernels, int memory_operations) {
  if (memory_operations == 0) return baselines::names_text(kernels);
  return fmt::format(
      "{}{}{} memory operation{}", kernels.empty() ? "" : baselines::names_text(kernels),
      kernels.empty() ? "" : ", ", memory_operations, memory_operations == 1 ? "" : "s");
}

ExpectationPart check_stage(const kernels::ExpectedStage& expected, const SeenStage& seen) {
  const baselines::CountRange memory{expected.least_memory_operations,
                                     expected.most_memory_operations};
  std::vector<CountedNames> kinds;
  std::string text;
  for (const kernels::ExpectedKernels& kind : expected.kernels) {
    kinds.push_back({kind.what, kind.pattern, {0, 0}});
    // Not shown: the choice excludes it. It must not be there.
    if (!kind.if_choice.empty() && !baselines::Pattern(kind.if_choice).fits(seen.choice)) continue;
    kinds.back().range = {kind.least, kind.most};
    text += kinds.back().range.text(kind.what) + ", ";
  }
  return {.part = expected.name,
          .expected = text + memory.text("memory operation"),
          .seen = seen_text(seen.kernels, seen.memory_operations),
          .met = baselines::kernels_met(kinds, seen.kernels) &&
                 memory.holds(static_cast<std::size_t>(seen.memory_operations))};
}

std::vector<ExpectationPart> check(const std::vector<kernels::Expectation>& alternatives,
                                   const SeenTrace& seen) {
  const std::vector<std::string> stages = names_of(seen.stages);
  const auto found = std::ranges::find_if(alternatives, [&](const kernels::Expectation& one) {
    return names_of(one.stages) == stages;
  });
  if (found == alternatives.end()) {
    return {{.part = "stages",
             .expected = baselines::names_text(names_of(alternatives.front().stages)),
             .seen = baselines::names_text(stages)}};
  }
  std::vector<ExpectationPart> parts;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    parts.push_back(check_stage(found->stages[i], seen.stages[i]));
  }
  if (!seen.stray_kernels.empty() || seen.stray_memory_operations > 0) {
    parts.push_back({.part = "outside of stages",
                     .expected = "nothing",
                     .seen = seen_text(seen.stray_kernels, seen.stray_memory_operations)});
  }
  if (!seen.calls) return parts;
  for (const kernels::ExpectedCalls& calls : found->calls) {
    const CountedNames counted{calls.what, calls.pattern, {calls.least, calls.most}};
    parts.push_back(baselines::check_calls(counted, *seen.calls));
  }
  return parts;
}

}  // namespace

SeenTrace seen_trace(const baselines::CallProfile& profile,
                     const std::vector<kernels::Stage>& stages) {
  SeenTrace trace;
  for (const kernels::Stage& stage : stages) {
    trace.stages.push_back({.name = stage.name, .choice = stage.choice});
  }
  for (const baselines::LaunchedKernel& kernel : profile.kernels) {
    SeenStage* const stage = find_stage(trace, kernel.span.stage);
    (stage != nullptr ? stage->kernels : trace.stray_kernels).push_back(kernel.name);
  }
  for (const baselines::LaunchedMemoryOperation& operation : profile.memory_operations) {
    SeenStage* const stage = find_stage(trace, operation.span.stage);
    ++(stage != nullptr ? stage->memory_operations : trace.stray_memory_operations);
  }
  trace.calls.emplace();
  for (const baselines::ApiCall& call : profile.calls) trace.calls->push_back(call.name);
  return trace;
}

std::optional<baselines::TraceExpectation> check_trace(
    const kernels::Implementation& implementation, const SeenTrace& seen) {
  if (implementation.expects.empty()) return std::nullopt;
  return baselines::TraceExpectation{check(implementation.expects, seen)};
}

}  // namespace fusegate::bench
