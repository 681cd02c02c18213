#include "baselines/traces/step_expectation.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "baselines/io/pattern.h"
#include "baselines/traces/steps.h"
#include "baselines/traces/summary.h"

namespace fusegate::baselines {
namespace {

void allow(const JsonField& field, std::initializer_list<std::string_view> names) {
  for (const auto& [name, value] : field.members()) {
    if (std::ranges::find(names, name) == names.end())
      value.fail(fmt::format("unknown key; known: {}", fmt::join(names, ", ")));
  }
}

std::optional<int> parse_count(const JsonField& field, std::string_view name) {
  const auto found = field.find(name);
  if (!found) return std::nullopt;
  const int count = found->integer();
  if (count < 0) found->fail(fmt::format("must not be negative, but is {}", count));
  return count;
}

CountRange parse_range(const JsonField& field) {
  if (const auto count = parse_count(field, "count")) {
    for (const char* other : {"least", "most"}) {
      if (const auto found = field.find(other)) found->fail("cannot be combined with \"count\"");
    }
    return {*count, count};
  }
  const CountRange range{parse_count(field, "least").value_or(0), parse_count(field, "most")};
  if (range.most && range.least > *range.most)
    field.at("least").fail("must not be more than \"most\"");
  return range;
}

std::string parse_pattern(const JsonField& field) {
  std::string pattern = field.text();
  try {
    return (Pattern(pattern), pattern);
  } catch (const std::invalid_argument& error) {
    field.fail(error.what());
  }
}

std::vector<CountedNames> parse_names(const JsonField& field) {
  std::vector<CountedNames> names;
  for (const JsonField& one : field.elements()) {
    allow(one, {"what", "pattern", "count", "least", "most"});
    names.push_back({one.at("what").text(), parse_pattern(one.at("pattern")), parse_range(one)});
  }
  return names;
}

// A trace without steps is one.
std::vector<TraceStep> steps_or_whole(const Trace& trace) {
  std::vector<TraceStep> steps = steps_of(trace);
  if (!steps.empty()) return steps;
  steps.emplace_back();
  for (const TraceEvent& event : trace.events) steps[0].add(event);
  return steps;
}

std::vector<std::string> names_of(const std::vector<const TraceEvent*>& events) {
  std::vector<std::string> names;
  for (const TraceEvent* event : events) names.push_back(event->name);
  return names;
}

// Of the first step that does not meet it, or of the first.
template <typename Check>
ExpectationPart check_each(const std::vector<TraceStep>& steps, Check check) {
  ExpectationPart first = check(steps.front());
  for (std::size_t i = 1; first.met && i < steps.size(); ++i) {
    ExpectationPart part = check(steps[i]);
    if (!part.met) return part;
  }
  return first;
}

ExpectationPart check_kernels(const std::vector<CountedNames>& kinds, const TraceStep& step) {
  const std::vector<std::string> kernels = names_of(step.kernels);
  std::vector<std::string> expected;
  for (const CountedNames& kind : kinds) expected.push_back(kind.range.text(kind.what));
  return {.part = "kernels",
          .expected = kinds.empty() ? "no kernel" : fmt::format("{}", fmt::join(expected, ", ")),
          .seen = names_text(kernels),
          .met = kernels_met(kinds, kernels)};
}

ExpectationPart check_memory_operations(const CountRange& range, const TraceStep& step) {
  return {.part = "memory operations",
          .expected = range.text("memory operations"),
          .seen = std::to_string(step.memory_operations.size()),
          .met = range.holds(step.memory_operations.size())};
}

ExpectationPart check_launches_nothing(const std::string& text, const TraceSummary& summary) {
  const Pattern pattern(text);
  std::vector<std::string> fitting, launching;
  for (const TraceRow& row : summary.rows) {
    if (is_gpu_work(row.category) || is_call(row.category) || !pattern.fits(row.name)) continue;
    fitting.push_back(row.name);
    if (row.cuda_ns > 0) launching.push_back(row.name);
  }
  const bool met = !fitting.empty() && launching.empty();
  std::string seen = "no operator or range of this name";
  if (!launching.empty()) {
    seen = names_text(launching) + " with work of the GPU";
  } else if (!fitting.empty()) {
    seen = names_text(fitting) + " without any";
  }
  return {fmt::format("\"{}\"", text), "to launch nothing", std::move(seen), met};
}

}  // namespace

StepExpectation parse_step_expectation(const JsonField& field) {
  allow(field, {"kernels", "memory_operations", "calls", "launch_nothing"});
  StepExpectation expectation;
  if (const auto kernels = field.find("kernels")) expectation.kernels = parse_names(*kernels);
  if (const auto memory = field.find("memory_operations")) {
    allow(*memory, {"count", "least", "most"});
    expectation.memory_operations = parse_range(*memory);
  }
  if (const auto calls = field.find("calls")) expectation.calls = parse_names(*calls);
  if (const auto names = field.find("launch_nothing")) {
    for (const JsonField& name : names->elements()) {
      expectation.launch_nothing.push_back(parse_pattern(name));
    }
  }
  if (field.members().empty())
    field.fail("must have at least one of kernels, memory_operations, calls, launch_nothing");
  return expectation;
}

TraceExpectation check_steps(const Trace& trace, const StepExpectation& expectation) {
  const std::vector<TraceStep> steps = steps_or_whole(trace);
  TraceExpectation checked;
  const auto check = [&](auto of_step) { checked.parts.push_back(check_each(steps, of_step)); };
  if (expectation.kernels) {
    check([&](const TraceStep& step) { return check_kernels(*expectation.kernels, step); });
  }
  if (expectation.memory_operations) {
    check([&](const TraceStep& step) {
      return check_memory_operations(*expectation.memory_operations, step);
    });
  }
  for (const CountedNames& calls : expectation.calls) {
    check([&](const TraceStep& step) { return check_calls(calls, names_of(step.calls)); });
  }
  if (!expectation.launch_nothing.empty()) {
    const TraceSummary summary = summarize(trace);
    for (const std::string& pattern : expectation.launch_nothing) {
      checked.parts.push_back(check_launches_nothing(pattern, summary));
    }
  }
  return checked;
}

}  // namespace fusegate::baselines
