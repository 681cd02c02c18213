#include "baselines/record/benchmark_name.h"

#include <fmt/format.h>

#include <charconv>
#include <vector>

namespace fusegate::baselines {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

// The number of "batch:64", 0 where the text is not that.
std::int64_t axis_value(std::string_view text, std::string_view axis) {
  if (!text.starts_with(axis) || text.substr(axis.size(), 1) != ":") return 0;
  const std::string_view digits = text.substr(axis.size() + 1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  // Larger extents than any device has would overflow M = batch x seq.
  constexpr std::int64_t kLargest = 1'000'000'000;
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  return whole && value > 0 && value <= kLargest ? value : 0;
}

}  // namespace

std::optional<BenchmarkName> parse_benchmark_name(std::string_view name) {
  const std::vector<std::string_view> parts = split(name, '/');
  if (parts.size() != 7) return std::nullopt;
  BenchmarkName parsed{std::string(parts[0]),         std::string(parts[1]),
                       std::string(parts[2]),         axis_value(parts[3], "batch"),
                       axis_value(parts[4], "seq"),   axis_value(parts[5], "dim"),
                       axis_value(parts[6], "hidden")};
  const bool complete = !parsed.operation.empty() && !parsed.implementation.empty() &&
                        !parsed.dtype.empty() && parsed.batch > 0 && parsed.seq > 0 &&
                        parsed.dim > 0 && parsed.hidden > 0;
  return complete ? std::optional(std::move(parsed)) : std::nullopt;
}

std::string problem_text(const BenchmarkName& name) {
  return fmt::format("batch {}, seq {}, dim {}, hidden {}", name.batch, name.seq, name.dim,
                     name.hidden);
}

}  // namespace fusegate::baselines
