#include "kernels/contract/expectation.h"

#include <fmt/format.h>
#include <regex.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace fusegate::kernels {
namespace {

// Of a name with template arguments; what comes later seldom tells kernels apart.
constexpr std::size_t kLongestName = 100;

// Not <regex>, in which g++ 12 finds uninitialised variables when it builds with sanitizers.
bool fits(const std::string& text, const std::string& pattern) {
  regex_t expression{};
  if (regcomp(&expression, pattern.c_str(), REG_EXTENDED | REG_NOSUB) != 0) {
    throw std::invalid_argument(fmt::format("\"{}\" is no regular expression", pattern));
  }
  const bool found = regexec(&expression, text.c_str(), 0, nullptr, 0) == 0;
  regfree(&expression);
  return found;
}

std::string range_text(int least, int most, const std::string& what) {
  if (most == 0) return fmt::format("no {}", what);
  if (least == most) return fmt::format("{} {}", most, what);
  return least == 0 ? fmt::format("at most {} {}", most, what)
                    : fmt::format("{} to {} {}", least, most, what);
}

void append(std::string& text, const std::string& more) {
  if (!text.empty()) text += ", ";
  text += more;
}

std::string joined(const std::vector<std::string>& names, int memory_operations) {
  std::string text;
  for (const std::string& name : names) {
    append(text, name.size() <= kLongestName ? name : name.substr(0, kLongestName) + "...");
  }
  if (memory_operations > 0) {
    append(text, fmt::format("{} memory operation{}", memory_operations,
                             memory_operations == 1 ? "" : "s"));
  }
  return text.empty() ? "nothing" : text;
}

bool lies_within(int count, int least, int most) { return count >= least && count <= most; }

// Whether every kernel is of a kind that may be there, as often as it may.
bool kernels_met(const std::vector<ExpectedKernels>& kinds, const SeenStage& stage) {
  std::vector<int> counts(kinds.size());
  for (const std::string& kernel : stage.kernels) {
    const auto kind = std::ranges::find_if(
        kinds, [&](const ExpectedKernels& one) { return fits(kernel, one.pattern); });
    if (kind == kinds.end()) return false;
    ++counts[static_cast<std::size_t>(kind - kinds.begin())];
  }
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const ExpectedKernels& kind = kinds[i];
    const bool applies = kind.if_choice.empty() || fits(stage.choice, kind.if_choice);
    if (!lies_within(counts[i], applies ? kind.least : 0, applies ? kind.most : 0)) return false;
  }
  return true;
}

std::string expected_text(const ExpectedStage& stage, const std::string& choice) {
  std::string text;
  for (const ExpectedKernels& kind : stage.kernels) {
    if (!kind.if_choice.empty() && !fits(choice, kind.if_choice)) continue;
    append(text, range_text(kind.least, kind.most, kind.what));
  }
  append(text, range_text(stage.least_memory_operations, stage.most_memory_operations,
                          "memory operation"));
  return text;
}

CheckedPart check_stage(const ExpectedStage& expected, const SeenStage& seen) {
  return {.part = expected.name,
          .expected = expected_text(expected, seen.choice),
          .seen = joined(seen.kernels, seen.memory_operations),
          .met = kernels_met(expected.kernels, seen) &&
                 lies_within(seen.memory_operations, expected.least_memory_operations,
                             expected.most_memory_operations)};
}

CheckedPart check_calls(const ExpectedCalls& expected, const std::vector<std::string>& calls) {
  std::vector<std::string> fitting;
  std::ranges::copy_if(calls, std::back_inserter(fitting),
                       [&](const std::string& call) { return fits(call, expected.pattern); });
  return {.part = "calls",
          .expected = range_text(expected.least, expected.most, expected.what),
          .seen = joined(fitting, 0),
          .met = lies_within(static_cast<int>(fitting.size()), expected.least, expected.most)};
}

template <typename Stages>
std::vector<std::string> names_of(const Stages& stages) {
  std::vector<std::string> names;
  for (const auto& stage : stages) names.push_back(stage.name);
  return names;
}

std::string list_text(const std::vector<std::string>& names) {
  return names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::vector<CheckedPart> check_expectation(const std::vector<Expectation>& alternatives,
                                           const SeenTrace& seen) {
  const std::vector<std::string> stages = names_of(seen.stages);
  const auto found = std::ranges::find_if(
      alternatives, [&](const Expectation& one) { return names_of(one.stages) == stages; });
  if (found == alternatives.end()) {
    return {{.part = "stages",
             .expected = list_text(names_of(alternatives.at(0).stages)),
             .seen = list_text(stages)}};
  }
  std::vector<CheckedPart> parts;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    parts.push_back(check_stage(found->stages[i], seen.stages[i]));
  }
  if (!seen.stray_kernels.empty() || seen.stray_memory_operations > 0) {
    parts.push_back({.part = "outside of stages",
                     .expected = "nothing",
                     .seen = joined(seen.stray_kernels, seen.stray_memory_operations)});
  }
  for (const ExpectedCalls& calls : found->calls) {
    if (seen.calls) parts.push_back(check_calls(calls, *seen.calls));
  }
  return parts;
}

}  // namespace fusegate::kernels
