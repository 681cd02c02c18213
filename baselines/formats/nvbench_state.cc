#include "baselines/formats/nvbench_state.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "baselines/formats/sample_range.h"

namespace fusegate::baselines {
namespace {

namespace fs = std::filesystem;

constexpr double kMostBytes = 1e18;  // more cannot be moved by one call
constexpr const char* kNoneAccepted = "nvbench accepted none of its samples";
// nvbench's reason begins so where an exception ended the state.
constexpr std::string_view kException = "Unexpected error: ";

// The tags of the summaries that have a state's times.
struct Measurement {
  std::string_view mean, samples, clock, clocks;
};
constexpr Measurement kOnGpu{"nv/cold/time/gpu/mean", "nv/json/bin:nv/cold/sample_times",
                             "nv/cold/sm_clock_rate/mean",
                             "nv/json/freqs-bin:nv/cold/sample_freqs"};
constexpr Measurement kOnCpu{"nv/cpu_only/time/cpu/mean", "nv/json/bin:nv/cpu_only/sample_times",
                             "", ""};

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// nvbench writes numbers as strings, and "-nan" where it discarded all samples. Nothing for other
// texts.
std::optional<double> number_in(const JsonField& field) {
  if (field.value().is_number()) return field.number();
  if (!field.value().is_string()) return std::nullopt;
  const std::string text = field.text();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

double number_of(const JsonField& field) {
  const auto number = number_in(field);
  if (!number || !std::isfinite(*number)) field.fail("must be a number");
  return *number;
}

// A value of a summary: {"tag": ..., "data": [{"name": ..., "type": ..., "value": ...}, ...]}.
std::optional<JsonField> value_of(const JsonField& summary, std::string_view name) {
  const auto data = summary.find("data");
  if (!data) return std::nullopt;
  for (const JsonField& value : data->elements()) {
    if (value.at("name").text() == name) return value.at("value");
  }
  return std::nullopt;
}

std::optional<JsonField> summary_of(const JsonField& state, std::string_view tag) {
  const auto summaries = state.find("summaries");
  if (!summaries || tag.empty()) return std::nullopt;
  for (const JsonField& summary : summaries->elements()) {
    if (summary.at("tag").text() == tag) return summary;
  }
  return std::nullopt;
}

// NaN where the summary has no number, nothing without the summary.
std::optional<double> number_in(const JsonField& state, std::string_view tag) {
  const auto summary = summary_of(state, tag);
  const auto value = summary ? value_of(*summary, "value") : std::nullopt;
  return value ? std::optional(number_in(*value).value_or(kNan)) : std::nullopt;
}

// "/BlockSize:64/NumBlocks:1024".
std::string axis_values(const JsonField& state) {
  std::string text;
  const auto values = state.find("axis_values");
  if (!values) return text;
  for (const JsonField& value : values->elements()) {
    text += fmt::format("/{}:{}", value.at("name").text(), value.at("value").text());
  }
  return text;
}

// A bad state fails alone. Older nvbench writes a mean of samples that it discarded.
std::string time_failure(const JsonField& mean, double time_s) {
  if (std::isnan(time_s)) {
    const bool is_nan = number_in(mean).has_value();
    return is_nan ? kNoneAccepted : fmt::format("{}: must be a number", mean.path());
  }
  const std::string_view problem = time_problem(time_s * kSecondNs);
  return problem.empty() ? "" : fmt::format("{}: {}", mean.path(), problem);
}

// Older nvbench names the file from its working folder, so only the last folder's name counts: it
// lies beside the JSON file.
std::optional<Float32File> samples_of(const JsonField& state, std::string_view tag,
                                      const fs::path& folder) {
  const auto summary = summary_of(state, tag);
  const auto name = summary ? value_of(*summary, "filename") : std::nullopt;
  const auto size = summary ? value_of(*summary, "size") : std::nullopt;
  if (!name || !size) return std::nullopt;
  const fs::path given = name->text();
  const fs::path beside = given.parent_path().filename();
  for (const fs::path& part : {beside, given.filename()}) {
    if (part.empty() || part == "." || part == "..") name->fail("must name a folder and a file");
  }
  const double count = number_of(*size);
  if (!(count >= 0 && count <= 1e12)) size->fail("must be a number of samples, from 0 to 1e12");
  return Float32File{folder / beside / given.filename(), static_cast<std::size_t>(count)};
}

bool read_times(const JsonField& field, const Measurement& measurement, const fs::path& folder,
                NvbenchState& state) {
  const auto summary = summary_of(field, measurement.mean);
  const auto mean = summary ? value_of(*summary, "value") : std::nullopt;
  if (!mean) return false;
  const double time_s = number_in(*mean).value_or(kNan);
  state.benchmark.failure = time_failure(*mean, time_s);
  if (!state.benchmark.failure.empty()) return true;
  state.benchmark.times_ns = {time_s * kSecondNs};
  state.clock_hz = number_in(field, measurement.clock);
  state.samples = samples_of(field, measurement.samples, folder);
  state.clocks = samples_of(field, measurement.clocks, folder);
  state.on_gpu = !measurement.clock.empty();
  if (const auto rate = number_in(field, "nv/cold/bw/global/bytes_per_second")) {
    const double bytes = *rate * time_s;
    if (bytes > 0 && bytes <= kMostBytes) state.benchmark.counters["min_bytes"] = bytes;
  }
  return true;
}

}  // namespace

NvbenchState read_nvbench_state(const JsonField& field, const fs::path& folder) {
  NvbenchState state{.path = field.path(), .benchmark = {.name = axis_values(field)}};
  if (field.at("is_skipped").boolean()) {
    const std::string reason = field.text_or_empty("skip_reason");
    (reason.starts_with(kException) ? state.benchmark.failure : state.skip_reason) =
        reason.empty() ? "nvbench gives no reason" : reason;
  } else if (!read_times(field, kOnGpu, folder, state) &&
             !read_times(field, kOnCpu, folder, state)) {
    const auto accepted = number_in(field, "nv/cold/sample_size");
    (accepted ? state.benchmark.failure : state.skip_reason) =
        accepted ? kNoneAccepted : "nvbench did not time it";
  }
  return state;
}

}  // namespace fusegate::baselines
