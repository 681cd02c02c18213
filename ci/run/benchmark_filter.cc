#include "ci/run/benchmark_filter.h"

#include <fmt/format.h>

#include <string_view>

namespace fusegate::ci {
namespace {

// MAX_ARG_STRLEN, 32 pages of 4 KiB, counts the terminating zero.
constexpr std::size_t kLongestArgument = 32 * 4096 - 1;

// What Google Benchmark appends to a name before it looks at the filter, by how the benchmark is
// measured (BenchmarkName::str() in its benchmark_name.cc), and which other builds may do
// otherwise.
constexpr std::string_view kSuffixes =
    "(/"
    "(min_time:|min_warmup_time:|iterations:|repeats:|process_time|real_time|manual_time|threads:)"
    "[^/]*)*";

std::string literal(std::string_view name) {
  constexpr std::string_view kSpecial = R"(\^$.|?*+()[]{})";
  std::string expression;
  for (const char c : name) {
    if (kSpecial.find(c) != kSpecial.npos) expression += '\\';
    expression += c;
  }
  return expression;
}

}  // namespace

std::optional<std::string> benchmark_filter_flag(const std::vector<std::string>& names) {
  std::vector<std::string> literals;
  for (const std::string& name : names) literals.push_back(literal(name));
  const std::string flag =
      fmt::format("--benchmark_filter=^({}){}$", fmt::join(literals, "|"), kSuffixes);
  return flag.size() <= kLongestArgument ? std::optional(flag) : std::nullopt;
}

}  // namespace fusegate::ci
