#include "baselines/record/sample_collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string_view>

#include "baselines/formats/sample_range.h"
#include "baselines/io/error.h"
#include "baselines/io/json_field.h"
#include "baselines/io/printable.h"
#include "baselines/statistics/clock_fit.h"
#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kLongestUnit = 40;  // that a message shows
constexpr const char* kAggregatesOnly = "it has only aggregates, no samples";

[[noreturn]] void fail(const std::string& source, const RunFileEntry& entry, std::string_view field,
                       std::string_view problem) {
  throw InputError(source, fmt::format("{}.{}", entry.path(), field), problem);
}

// 0 where it is unknown.
double time_unit_ns(const RunFileEntry& entry) {
  static constexpr std::array<std::pair<std::string_view, double>, 4> kUnits{
      {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
  const auto* unit =
      std::ranges::find(kUnits, entry.time_unit, &std::pair<std::string_view, double>::first);
  return unit == kUnits.end() ? 0 : unit->second;
}

std::string not_positive(std::string_view field, const std::optional<double>& value) {
  if (!value) return fmt::format("{}: is missing", field);
  return *value > 0 ? "" : fmt::format("{}: must be positive, but is {}", field, *value);
}

// Why the entry cannot be a sample, with the field; empty where it can.
std::string sample_problem(const RunFileEntry& entry) {
  const bool is_of_counter = is_own_counter(entry.bad_value.substr(0, entry.bad_value.find(':')));
  if (!entry.bad_value.empty() && !is_of_counter) return entry.bad_value;
  if (std::string problem = not_positive("iterations", entry.iterations); !problem.empty()) {
    return problem;
  }
  if (std::string problem = not_positive("real_time", entry.real_time); !problem.empty()) {
    return problem;
  }
  if (entry.time_unit.empty()) return "time_unit: is missing";
  const double unit_ns = time_unit_ns(entry);
  if (unit_ns == 0) {
    return fmt::format("time_unit: must be ns, us, ms or s, but is \"{}\"",
                       printable_excerpt(entry.time_unit, kLongestUnit));
  }
  const std::string_view problem = time_problem(*entry.real_time * unit_ns);
  return problem.empty() ? "" : fmt::format("real_time: {}", problem);
}

// "BM_gemm" of "BM_gemm_mean"; else empty.
std::string before_suffix(const std::string& name) {
  const std::size_t underline = name.rfind('_');
  return underline == std::string::npos ? "" : name.substr(0, underline);
}

// Google Benchmark's fits have the name of a family, not of a benchmark.
bool is_fit(const RunFileEntry& entry) {
  return entry.name.ends_with("_BigO") || entry.name.ends_with("_RMS");
}

double clock_hz(const RunFileEntry& entry) {
  const auto found =
      std::ranges::find(entry.counters, kClockCounter, &std::pair<std::string, double>::first);
  return found == entry.counters.end() ? kNan : known_clock(found->second);
}

}  // namespace

ProcessSummary summary_of(const std::vector<double>& times_ns, const std::vector<double>& cycles) {
  ProcessSummary summary;
  summary.samples = static_cast<int>(times_ns.size());
  summary.spread = median_absolute_deviation(times_ns) / median(times_ns);
  summary.time_ns = fast_half(times_ns);
  // One sample without a clock makes the benchmark's cycles unknown: another process may lack other
  // samples.
  const bool clocks_known =
      std::ranges::all_of(cycles, [](double cycles_) { return std::isfinite(cycles_); });
  summary.cycles = clocks_known ? fast_half(cycles) : kNan;
  if (clocks_known) summary.clock_fit = fit_clock(times_ns, cycles);
  return summary;
}

void SampleCollector::add(const RunFileEntry& entry) {
  if (entry.name.empty()) fail(source_, entry, "name", "is missing");
  if (entry.run_type == "aggregate") return add_aggregate(entry);
  if (!entry.run_type.empty() && entry.run_type != "iteration") {
    fail(source_, entry, "run_type", "must be \"iteration\" or \"aggregate\"");
  }
  Samples& samples = samples_of(entry);
  check_repetition(entry, samples);
  add_details(entry, samples);
  mix_fingerprint(entry);
  ++samples.entries;
  samples.is_typed |= !entry.run_type.empty();
  samples.is_indexed |= entry.family_index || entry.repetition_index;
  if (entry.failed) {
    if (samples.failure.empty()) {
      samples.failure = entry.error_message.empty() ? "failed" : entry.error_message;
    }
    return;
  }
  if (entry.skipped) {
    samples.skip_reason =
        entry.error_message.empty() ? "the program gives no reason" : entry.error_message;
    return;
  }
  const auto in_file = [&](const std::string& problem) {
    return fmt::format("{}: {}.{}", source_, entry.path(), problem);
  };
  if (const std::string problem = sample_problem(entry); !problem.empty()) {
    if (samples.failure.empty()) samples.failure = in_file(problem);
    return;
  }
  if (!entry.bad_value.empty() && samples.bad_counter.empty()) {
    samples.bad_counter = in_file(entry.bad_value);
  }
  samples.times_ns.push_back(*entry.real_time * time_unit_ns(entry));
  samples.cycles.push_back(samples.times_ns.back() * 1e-9 * clock_hz(entry));
  add_counters(entry, samples);
}

void SampleCollector::add_aggregate(const RunFileEntry& entry) {
  if (entry.run_name.empty()) {
    aggregated_.insert(before_suffix(entry.name));
  } else if (!is_fit(entry)) {
    aggregated_.insert(entry.run_name);
  } else {
    has_fits_ = true;
  }
}

void SampleCollector::mix_fingerprint(const RunFileEntry& entry) {
  const auto mix = [this](std::size_t hash) {
    fingerprint_ ^= hash + 0x9e3779b97f4a7c15 + (fingerprint_ << 6) + (fingerprint_ >> 2);
  };
  mix(std::hash<std::string>{}(entry.name));
  mix(std::hash<double>{}(entry.real_time.value_or(0)));
  mix(std::hash<double>{}(entry.iterations.value_or(0)));
}

// Google Benchmark accepts two benchmarks of one name, but their samples cannot be distinguished.
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
  // Entries without indexes come benchmark by benchmark.
  const bool is_back = !entry.family_index && !entry.repetition_index && !inserted &&
                       found->second + 1 < benchmarks_.size();
  if (is_back || samples.family_index != entry.family_index ||
      samples.per_family_instance_index != entry.per_family_instance_index) {
    fail(source_, entry, "name", fmt::format("\"{}\" names two benchmarks", name));
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
  for (const char* const name : {kEnergyPerCall, kElapsed}) {
    if (const auto value = details.find(name)) samples.of_process[name] = value->positive_number();
  }
  if (const auto identity = details.find("identity")) samples.identity = parse_identity(*identity);
  add_warnings(samples.warnings, read_warnings(details));
}

void SampleCollector::add_counters(const RunFileEntry& entry, Samples& samples) {
  for (std::size_t i = 0; i < entry.counters.size(); ++i) {
    const auto& [name, value] = entry.counters[i];
    // Every entry of a benchmark has the same counters in the same order, except in edited files.
    std::size_t at = i;
    if (at >= samples.counters.size() || samples.counters[at].name != name) {
      const auto [known, added] = samples.counter_index.try_emplace(name, samples.counters.size());
      if (added) samples.counters.push_back({name, {}});
      at = known->second;
    }
    samples.counters[at].values.push_back(value);
  }
}

// Google Benchmark before 1.5 does not mark aggregates. They are entries with a benchmark's name
// and a suffix, each once, "_mean" and "_stddev" always among them; fits have "_BigO" and "_RMS".
void SampleCollector::take_untyped_aggregates() {
  const auto stands_once = [this](const std::string& name) {
    const auto found = index_.find(name);
    return found != index_.end() && !benchmarks_[found->second].is_typed &&
           benchmarks_[found->second].entries == 1;
  };
  const auto is_aggregate = [&](const Samples& samples) {
    const std::string of = before_suffix(samples.name);
    if (of.empty() || samples.name.find('/', of.size()) != std::string::npos) return false;
    const bool is_statistic = stands_once(of + "_mean") && stands_once(of + "_stddev");
    const bool is_of_fit = stands_once(of + "_BigO") && stands_once(of + "_RMS");
    if (!stands_once(samples.name) || (!is_statistic && !is_of_fit)) return false;
    if (is_statistic) aggregated_.insert(of);
    return true;
  };
  std::vector<bool> found;
  for (const Samples& samples : benchmarks_) found.push_back(is_aggregate(samples));
  std::size_t next = 0;
  std::erase_if(benchmarks_, [&](const Samples&) { return found[next++]; });
}

// Refuses two benchmarks of one name that follow each other: the name has twice as many entries as
// every other name. A benchmark with its own number of repetitions has it in its name.
void SampleCollector::refuse_doubled() const {
  std::map<int, std::vector<const Samples*>> by_entries;
  for (const Samples& samples : benchmarks_) {
    const bool has_own_number = samples.name.find("/repeats:") != std::string::npos;
    if (!samples.is_indexed && !has_own_number) by_entries[samples.entries].push_back(&samples);
  }
  if (by_entries.size() != 2) return;
  const auto& [fewer, others] = *by_entries.begin();
  const auto& [more, doubled] = *by_entries.rbegin();
  if (others.size() < 2 || doubled.size() > 1 || more != 2 * fewer) return;
  throw InputError(source_, "benchmarks",
                   fmt::format("\"{}\" has {} entries and every other benchmark {}: it names "
                               "two benchmarks",
                               doubled.front()->name, more, fewer));
}

BenchmarkResult SampleCollector::result(Samples&& samples, bool is_ours) {
  BenchmarkResult result;
  result.name = std::move(samples.name);
  result.failure = std::move(samples.failure);
  const bool is_clock = samples.bad_counter.find(kClockCounter) != std::string::npos;
  if (result.failure.empty() && (is_ours || is_clock)) {
    result.failure = std::move(samples.bad_counter);
  }
  if (result.failure.empty() && !samples.skip_reason.empty()) {
    result.failure = "skipped in some repetitions: " + samples.skip_reason;
  }
  result.choices = std::move(samples.choices);
  result.warnings = std::move(samples.warnings);
  result.profile = std::move(samples.profile);
  result.stage_times = std::move(samples.stage_times);
  result.expectation = std::move(samples.expectation);
  result.identity = std::move(samples.identity);
  for (Counter& counter : samples.counters) {
    if (!is_ours && is_own_counter(counter.name) && counter.name != kClockCounter) continue;
    result.counters.emplace(std::move(counter.name), median(std::move(counter.values)));
  }
  result.counters.merge(samples.of_process);
  result.summary = summary_of(samples.times_ns, samples.cycles);
  const auto host_ns = [&result](const char* counter) {
    const auto found = result.counters.find(counter);
    return found != result.counters.end() && found->second > 0 ? found->second : kNan;
  };
  result.summary.host_ns = host_ns(kHostNs);
  result.summary.host_graph_ns = host_ns(kHostGraphNs);
  return result;
}

void SampleCollector::finish(bool is_ours, RunFile& file) {
  take_untyped_aggregates();
  refuse_doubled();
  if (benchmarks_.empty() && (has_fits_ || !aggregated_.empty())) {
    throw InputError(source_, "benchmarks",
                     "has only aggregates, and samples are compared; run the program without "
                     "--benchmark_report_aggregates_only");
  }
  file.fingerprint = fingerprint_;
  file.benchmarks.reserve(benchmarks_.size());
  for (Samples& samples : benchmarks_) {
    aggregated_.erase(samples.name);
    const bool is_skipped = samples.failure.empty() && samples.times_ns.empty();
    if (is_skipped && !samples.skip_reason.empty()) {
      file.skipped.emplace(std::move(samples.name), std::move(samples.skip_reason));
    } else {
      file.benchmarks.push_back(result(std::move(samples), is_ours));
    }
  }
  for (const std::string& name : aggregated_) file.left_out.emplace(name, kAggregatesOnly);
}

}  // namespace fusegate::baselines
