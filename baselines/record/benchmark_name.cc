#include "baselines/record/benchmark_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <ranges>
#include <vector>

namespace fusegate::baselines {
namespace {

bool is_identifier(std::string_view text) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::ranges::all_of(text, fits);
}

// Google Benchmark's own suffixes.
bool is_google_benchmarks(std::string_view axis) {
  return axis == "threads" || axis == "repeats" || axis == "iterations" || axis == "min_time" ||
         axis == "min_warmup_time";
}

// 0 where the text is not a size.
std::int64_t size_of(std::string_view digits) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  // Larger extents than any device has would overflow M = batch x seq.
  constexpr std::int64_t kLargest = 1'000'000'000;
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  return whole && value > 0 && value <= kLargest ? value : 0;
}

// A name, a switch or a fraction: "gelu", "true", "0.5", "1e-06".
bool is_label(std::string_view text) {
  if (text.empty()) return false;
  if (std::isalpha(static_cast<unsigned char>(text.front())) != 0) return true;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value) &&
         text.find_first_of(".e") != std::string_view::npos;
}

bool has_axis(const BenchmarkName& name, std::string_view axis) {
  return name.axis(axis) > 0 ||
         std::ranges::find(name.labels, axis, &std::pair<std::string, std::string>::first) !=
             name.labels.end();
}

}  // namespace

std::int64_t BenchmarkName::axis(std::string_view wanted) const {
  const auto found = std::ranges::find(axes, wanted, &std::pair<std::string, std::int64_t>::first);
  return found == axes.end() ? 0 : found->second;
}

std::optional<BenchmarkName> parse_benchmark_name(std::string_view name) {
  std::vector<std::string_view> parts;
  for (const auto part : std::views::split(name, '/')) parts.emplace_back(part.begin(), part.end());
  if (parts.size() < 4) return std::nullopt;
  const bool is_ours = !parts[0].empty() && !parts[1].empty() &&
                       parts[1].find(':') == std::string_view::npos && is_identifier(parts[2]);
  if (!is_ours) return std::nullopt;
  BenchmarkName parsed{std::string(parts[0]), std::string(parts[1]), std::string(parts[2]), {}, {}};
  for (std::size_t i = 3; i < parts.size(); ++i) {
    const std::size_t colon = std::min(parts[i].find(':'), parts[i].size());
    const std::string_view axis = parts[i].substr(0, colon);
    if (colon == parts[i].size()) return std::nullopt;
    if (!is_identifier(axis) || is_google_benchmarks(axis) || has_axis(parsed, axis)) {
      return std::nullopt;
    }
    const std::string_view value = parts[i].substr(colon + 1);
    if (const std::int64_t size = size_of(value); size > 0) {
      parsed.axes.emplace_back(axis, size);
    } else if (is_label(value)) {
      parsed.labels.emplace_back(axis, value);
    } else {
      return std::nullopt;
    }
  }
  return parsed.axes.empty() ? std::nullopt : std::optional(std::move(parsed));
}

std::string dtype_text(const BenchmarkName& name) {
  std::string text = name.dtype;
  for (const auto& [axis, value] : name.labels) text += fmt::format(", {} {}", axis, value);
  return text;
}

std::string problem_text(const BenchmarkName& name) {
  std::string text;
  for (const auto& [axis, size] : name.axes) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis, size);
  }
  for (const auto& [axis, value] : name.labels) text += fmt::format(", {} {}", axis, value);
  return text;
}

}  // namespace fusegate::baselines
