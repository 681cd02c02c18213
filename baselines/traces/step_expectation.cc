#include "baselines/traces/step_expectation.h"

#include <fmt/format.h>
#include <regex.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "baselines/traces/owners.h"
#include "baselines/traces/summary.h"

namespace fusegate::baselines {
namespace {

// Not <regex>, in which g++ 12 finds uninitialised variables when it builds with sanitizers.
class Pattern {
 public:
  explicit Pattern(const std::string& text)
      : is_valid_(regcomp(&expression_, text.c_str(), REG_EXTENDED | REG_NOSUB) == 0) {}
  ~Pattern() {
    if (is_valid_) regfree(&expression_);
  }
  // What regcomp made may point into itself.
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  bool is_valid() const { return is_valid_; }
  bool fits(const std::string& name) const {
    return regexec(&expression_, name.c_str(), 0, nullptr, 0) == 0;
  }

 private:
  regex_t expression_{};
  bool is_valid_;
};

void allow(const JsonField& field, std::initializer_list<std::string_view> names) {
  for (const auto& [name, value] : field.members()) {
    if (std::ranges::find(names, name) == names.end()) value.fail("is nothing to expect");
  }
}

std::optional<int> parse_count(const JsonField& field, std::string_view name) {
  const auto found = field.find(name);
  if (!found) return std::nullopt;
  const int count = found->integer();
  if (count < 0) found->fail(fmt::format("must not be below zero, but is {}", count));
  return count;
}

CountRange parse_range(const JsonField& field) {
  if (const auto count = parse_count(field, "count")) {
    for (const char* other : {"least", "most"}) {
      if (const auto found = field.find(other)) found->fail("is said by \"count\" already");
    }
    return {*count, count};
  }
  const CountRange range{parse_count(field, "least").value_or(0), parse_count(field, "most")};
  if (range.most && range.least > *range.most) field.at("least").fail("is more than \"most\"");
  return range;
}

std::string parse_pattern(const JsonField& field) {
  std::string pattern = field.text();
  if (!Pattern(pattern).is_valid()) field.fail("is no regular expression");
  return pattern;
}

std::vector<CountedNames> parse_names(const JsonField& field) {
  std::vector<CountedNames> names;
  for (const JsonField& one : field.elements()) {
    allow(one, {"what", "pattern", "count", "least", "most"});
    names.push_back({one.at("what").text(), parse_pattern(one.at("pattern")), parse_range(one)});
  }
  return names;
}

// What ran of one step, or of the whole trace.
struct Step {
  std::vector<std::string> kernels;
  int memory_operations = 0;
  std::vector<std::string> calls;
};

// By the step's range; what ran outside of any step of a trace that has some is left out, as are
// its calls: the profiler's own setting up is there.
std::vector<Step> steps_of(const Trace& trace) {
  const std::vector<std::size_t> owner = owners(trace);
  std::map<std::size_t, Step> steps;  // by the range's event, in order of the file
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    if (is_step(trace.events[i])) steps[i];
  }
  const bool is_one_step = steps.empty();
  if (is_one_step) steps[kNoEvent];
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const TraceEvent& event = trace.events[i];
    if (!is_gpu_work(event.category) && !is_call(event.category)) continue;
    std::size_t at = is_one_step ? kNoEvent : owner[i];
    while (at != kNoEvent && !is_step(trace.events[at])) at = owner[at];
    const auto step = steps.find(at);
    if (step == steps.end()) continue;
    if (is_call(event.category)) {
      step->second.calls.push_back(event.name);
    } else if (event.category == TraceCategory::kKernel) {
      step->second.kernels.push_back(event.name);
    } else {
      ++step->second.memory_operations;
    }
  }
  std::vector<Step> result;
  for (auto& [event, step] : steps) result.push_back(std::move(step));
  return result;
}

bool lies_within(std::size_t count, const CountRange& range) {
  return count >= static_cast<std::size_t>(range.least) &&
         (!range.most || count <= static_cast<std::size_t>(*range.most));
}

std::string range_text(const CountRange& range, std::string_view what) {
  if (!range.most) return fmt::format("{} or more {}", range.least, what);
  if (*range.most == 0) return fmt::format("no {}", what);
  if (range.least == *range.most) return fmt::format("{} {}", range.least, what);
  return range.least == 0 ? fmt::format("at most {} {}", *range.most, what)
                          : fmt::format("{} to {} {}", range.least, *range.most, what);
}

std::string list_text(const std::vector<std::string>& parts) {
  return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, ", "));
}

// is_met and seen are of one step.
template <typename IsMet, typename Seen>
ExpectationPart part_of(std::string name, std::string expected, const std::vector<Step>& steps,
                        IsMet is_met, Seen seen) {
  const auto bad = std::ranges::find_if_not(steps, is_met);
  const bool met = bad == steps.end();
  return {std::move(name), std::move(expected), seen(met ? steps.front() : *bad), met};
}

bool kernels_met(const std::vector<CountedNames>& kinds, const std::vector<std::string>& kernels) {
  std::vector<std::size_t> counts(kinds.size());
  for (const std::string& kernel : kernels) {
    const auto kind = std::ranges::find_if(
        kinds, [&](const CountedNames& one) { return Pattern(one.pattern).fits(kernel); });
    if (kind == kinds.end()) return false;
    ++counts[static_cast<std::size_t>(kind - kinds.begin())];
  }
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (!lies_within(counts[i], kinds[i].range)) return false;
  }
  return true;
}

ExpectationPart check_kernels(const std::vector<CountedNames>& kinds,
                              const std::vector<Step>& steps) {
  std::vector<std::string> expected;
  for (const CountedNames& kind : kinds) expected.push_back(range_text(kind.range, kind.what));
  return part_of(
      "kernels", kinds.empty() ? "no kernel" : list_text(expected), steps,
      [&](const Step& step) { return kernels_met(kinds, step.kernels); },
      [](const Step& step) { return list_text(step.kernels); });
}

ExpectationPart check_memory_operations(const CountRange& range, const std::vector<Step>& steps) {
  const auto count = [](const Step& step) {
    return static_cast<std::size_t>(step.memory_operations);
  };
  return part_of(
      "memory operations", range_text(range, "memory operations"), steps,
      [&](const Step& step) { return lies_within(count(step), range); },
      [&](const Step& step) { return fmt::format("{}", count(step)); });
}

ExpectationPart check_calls(const CountedNames& calls, const std::vector<Step>& steps) {
  const Pattern pattern(calls.pattern);
  const auto fitting = [&](const Step& step) {
    std::vector<std::string> names;
    std::ranges::copy_if(step.calls, std::back_inserter(names),
                         [&](const std::string& name) { return pattern.fits(name); });
    return names;
  };
  return part_of(
      "calls", range_text(calls.range, calls.what), steps,
      [&](const Step& step) { return lies_within(fitting(step).size(), calls.range); },
      [&](const Step& step) { return list_text(fitting(step)); });
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
  std::string seen = "no such operator or range";
  if (!launching.empty()) {
    seen = list_text(launching) + " with work of the GPU";
  } else if (!fitting.empty()) {
    seen = list_text(fitting) + " without any";
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
  if (field.members().empty()) field.fail("expects nothing");
  return expectation;
}

TraceExpectation check_steps(const Trace& trace, const StepExpectation& expectation) {
  const std::vector<Step> steps = steps_of(trace);
  TraceExpectation checked;
  if (expectation.kernels) checked.parts.push_back(check_kernels(*expectation.kernels, steps));
  if (expectation.memory_operations) {
    checked.parts.push_back(check_memory_operations(*expectation.memory_operations, steps));
  }
  for (const CountedNames& calls : expectation.calls) {
    checked.parts.push_back(check_calls(calls, steps));
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
