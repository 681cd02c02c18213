#include "baselines/record/sample_collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "baselines/formats/sample_range.h"
#include "baselines/io/error.h"
#include "baselines/io/json_field.h"
#include "baselines/statistics/clock_fit.h"
#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

[[noreturn]] void fail(const std::string& source, const RunFileEntry& entry, std::string_view field,
                       std::string_view problem) {
  throw InputError(source, fmt::format("{}.{}", entry.path(), field), problem);
}

double time_unit_ns(const std::string& source, const RunFileEntry& entry) {
  static constexpr std::array<std::pair<std::string_view, double>, 4> kUnits{
      {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
  if (entry.time_unit.empty()) fail(source, entry, "time_unit", "is missing");
  const auto* unit =
      std::ranges::find(kUnits, entry.time_unit, &std::pair<std::string_view, double>::first);
  if (unit == kUnits.end()) {
    fail(source, entry, "time_unit",
         fmt::format("must be ns, us, ms or s, but is \"{}\"", entry.time_unit));
  }
  return unit->second;
}

double positive(const std::string& source, const RunFileEntry& entry, std::string_view field,
                const std::optional<double>& value) {
  if (!value) fail(source, entry, field, "is missing");
  if (!(*value > 0)) fail(source, entry, field, fmt::format("must be positive, but is {}", *value));
  return *value;
}

double clock_hz(const RunFileEntry& entry) {
  const auto found =
      std::ranges::find(entry.counters, kClockCounter, &std::pair<std::string, double>::first);
  return found == entry.counters.end() ? kNan : known_clock(found->second);
}

}  // namespace

InvocationSummary summary_of(const std::vector<double>& times_ns,
                             const std::vector<double>& cycles) {
  InvocationSummary summary;
  summary.samples = static_cast<int>(times_ns.size());
  summary.spread = median_absolute_deviation(times_ns) / median(times_ns);
  summary.time_ns = fast_half(times_ns);
  // A sample without a clock makes the whole benchmark's cycles unknown: the others need not be the
  // same samples in another invocation.
  const bool clocks_known =
      std::ranges::all_of(cycles, [](double cycles_) { return std::isfinite(cycles_); });
  summary.cycles = clocks_known ? fast_half(cycles) : kNan;
  if (clocks_known) summary.clock_fit = fit_clock(times_ns, cycles);
  return summary;
}

void SampleCollector::add(const RunFileEntry& entry) {
  if (entry.name.empty()) fail(source_, entry, "name", "is missing");
  if (entry.run_type == "aggregate") {
    ++aggregates_;
    return;
  }
  if (!entry.run_type.empty() && entry.run_type != "iteration") {
    fail(source_, entry, "run_type", "must be \"iteration\" or \"aggregate\"");
  }
  Samples& samples = samples_of(entry);
  check_repetition(entry, samples);
  add_details(entry, samples);
  if (entry.failed) {
    const bool told = !entry.error_message.empty();
    if (samples.failure.empty()) samples.failure = told ? entry.error_message : "failed";
    return;
  }
  add_times(entry, samples);
  add_counters(entry, samples);
}

// A name stands for one benchmark: Google Benchmark accepts two of the same name, but their samples
// cannot be told apart between runs.
SampleCollector::Samples& SampleCollector::samples_of(const RunFileEntry& entry) {
  const std::string& name = entry.run_name.empty() ? entry.name : entry.run_name;
  const auto [found, inserted] = index_.try_emplace(name, benchmarks_.size());
  if (inserted) {
    benchmarks_.push_back({});
    benchmarks_.back().name = name;
    benchmarks_.back().family_index = entry.family_index;
    benchmarks_.back().per_family_instance_index = entry.per_family_instance_index;
  }
  Samples& samples = benchmarks_[found->second];
  if (samples.family_index != entry.family_index ||
      samples.per_family_instance_index != entry.per_family_instance_index) {
    fail(source_, entry, "name", fmt::format("\"{}\" stands for two benchmarks", name));
  }
  return samples;
}

void SampleCollector::check_repetition(const RunFileEntry& entry, Samples& samples) const {
  if (!entry.repetition_index) return;
  const double index = *entry.repetition_index;
  double& next = samples.repetitions_in_order;
  const bool is_next = index == next;
  const bool came_in_order = 0 <= index && index < next && std::trunc(index) == index;
  const bool came_apart = is_next ? samples.other_repetitions.contains(index)
                                  : !samples.other_repetitions.insert(index).second;
  if (is_next) ++next;
  if (came_in_order || came_apart) {
    fail(source_, entry, "repetition_index",
         fmt::format("\"{}\" has repetition {} twice", samples.name, index));
  }
}

void SampleCollector::add_times(const RunFileEntry& entry, Samples& samples) const {
  positive(source_, entry, "iterations", entry.iterations);
  const double time_ns =
      positive(source_, entry, "real_time", entry.real_time) * time_unit_ns(source_, entry);
  if (const auto problem = time_problem(time_ns); !problem.empty()) {
    fail(source_, entry, "real_time", problem);
  }
  samples.times_ns.push_back(time_ns);
  samples.cycles.push_back(time_ns * 1e-9 * clock_hz(entry));
}

void SampleCollector::add_details(const RunFileEntry& entry, Samples& samples) const {
  if (entry.details.is_null()) return;
  const JsonField details(entry.details, source_, entry.path() + ".details");
  if (const auto choices = details.find("choices")) {
    for (const auto& [name, choice] : choices->members()) samples.choices[name] = choice.text();
  }
  if (const auto profile = details.find("profile")) {
    const CallProfile call = parse_call_profile(*profile);
    samples.stage_times = stage_times(call);
    samples.profile = kernel_profile(call);
  }
  if (const auto expectation = details.find("expectation")) {
    samples.expectation = parse_expectation(*expectation);
  }
  if (const auto energy = details.find(kEnergyPerCall)) {
    samples.energy_per_call_j = energy->positive_number();
  }
  if (const auto identity = details.find("identity")) samples.identity = parse_identity(*identity);
  if (const auto doubts = details.find("doubts")) add_doubts(samples.doubts, read_doubts(*doubts));
}

void SampleCollector::add_counters(const RunFileEntry& entry, Samples& samples) {
  for (std::size_t i = 0; i < entry.counters.size(); ++i) {
    const auto& [name, value] = entry.counters[i];
    // Every entry of a benchmark has the same counters in the same order, but for edited files.
    std::size_t at = i;
    if (at >= samples.counters.size() || samples.counters[at].name != name) {
      const auto [known, added] = samples.counter_index.try_emplace(name, samples.counters.size());
      if (added) samples.counters.push_back({name, {}});
      at = known->second;
    }
    samples.counters[at].values.push_back(value);
  }
}

BenchmarkResult SampleCollector::result(Samples&& samples) {
  BenchmarkResult result;
  result.name = std::move(samples.name);
  result.failure = std::move(samples.failure);
  result.choices = std::move(samples.choices);
  result.doubts = std::move(samples.doubts);
  result.profile = std::move(samples.profile);
  result.stage_times = std::move(samples.stage_times);
  result.expectation = std::move(samples.expectation);
  result.identity = std::move(samples.identity);
  for (Counter& counter : samples.counters) {
    result.counters.emplace(std::move(counter.name), median(std::move(counter.values)));
  }
  if (samples.energy_per_call_j) {
    result.counters.emplace(kEnergyPerCall, *samples.energy_per_call_j);
  }
  result.summary = summary_of(samples.times_ns, samples.cycles);
  const auto host_ns = [&result](const char* counter) {
    const auto found = result.counters.find(counter);
    return found != result.counters.end() && found->second > 0 ? found->second : kNan;
  };
  result.summary.host_ns = host_ns(kHostNs);
  result.summary.host_graph_ns = host_ns(kHostGraphNs);
  return result;
}

std::vector<BenchmarkResult> SampleCollector::results() {
  if (benchmarks_.empty() && aggregates_ > 0) {
    throw InputError(source_, "benchmarks",
                     "holds aggregates only; take repetitions without "
                     "--benchmark_report_aggregates_only, as the samples are what is compared");
  }
  std::vector<BenchmarkResult> results;
  results.reserve(benchmarks_.size());
  for (Samples& samples : benchmarks_) results.push_back(result(std::move(samples)));
  benchmarks_.clear();
  index_.clear();
  return results;
}

}  // namespace fusegate::baselines
