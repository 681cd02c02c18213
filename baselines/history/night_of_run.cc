#include "baselines/history/night_of_run.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <utility>

#include "baselines/comparing/clock_share.h"
#include "baselines/comparing/compare_suite.h"
#include "baselines/comparing/outlier_processes.h"
#include "baselines/history/text_hash.h"
#include "baselines/io/error.h"
#include "baselines/io/instant.h"
#include "baselines/record/benchmark_name.h"
#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {
namespace {

// Each once, in the order of the processes.
std::vector<std::string> different_cards(const Run& run) {
  std::vector<std::string> cards;
  for (const std::string& card : cards_of(run)) {
    if (!card.empty() && std::ranges::find(cards, card) == cards.end()) cards.push_back(card);
  }
  return cards;
}

std::string text_of(const Environment& environment, const std::string& field) {
  const auto found = environment.find(field);
  if (found == environment.end()) return "";
  return found->second.is_string() ? found->second.get<std::string>() : found->second.dump();
}

std::string method_of(const nlohmann::json& protocol) {
  if (!protocol.is_object()) return "";
  nlohmann::json method = nlohmann::json::object();
  for (const auto& [field, value] : protocol.items()) {
    if (!is_of_gate(field)) method[field] = value;
  }
  return text_hash(method.dump());
}

Run inliers_of(const Run& run) {
  return without_outliers(run, outlier_processes(run, Rule{}.min_effect));
}

template <typename Figure>
std::vector<double> finite_figures(const BenchmarkSeries& series, Figure figure) {
  std::vector<double> values;
  for (const ProcessSummary& process : series.processes) {
    if (std::isfinite(process.*figure)) values.push_back(process.*figure);
  }
  return values;
}

// The geometric mean over processes.
double clock_ghz(const BenchmarkSeries& series) {
  std::vector<double> logs;
  for (const ProcessSummary& process : series.processes) {
    logs.push_back(std::log(process.cycles / process.time_ns));
  }
  return std::exp(mean(logs));
}

// By card, as cards differ.
double process_variance(const BenchmarkSeries& series, const std::vector<double>& logs) {
  std::map<int, std::vector<double>> by_card;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    by_card[series.processes[i].card].push_back(logs[i]);
  }
  std::vector<std::span<const double>> groups;
  for (const auto& [card, values] : by_card) groups.emplace_back(values);
  const VarianceEstimate within = pooled_variance(groups);
  return within.degrees_of_freedom > 0 ? within.variance : kUnknown;
}

// Whether its samples show a share, if only that there is none.
bool shows_share(const BenchmarkSeries& series) {
  return std::ranges::any_of(series.processes, [](const ProcessSummary& process) {
    return process.clock_fit.degrees_of_freedom > 0;
  });
}

// cycles_alone: see Circumstances.
CommonClock own_clock(const BenchmarkSeries& series, bool cycles_alone) {
  return {.ghz = clock_ghz(series), .share = cycles_alone ? 1 : clock_share({&series})};
}

void set_times(const BenchmarkSeries& series, const CommonClock* common, bool cycles_alone,
               NightBenchmark& benchmark) {
  benchmark.processes = static_cast<int>(series.processes.size());
  benchmark.ns = median(finite_figures(series, &ProcessSummary::time_ns));
  benchmark.cycles = median(finite_figures(series, &ProcessSummary::cycles));
  benchmark.host_ns = median(finite_figures(series, &ProcessSummary::host_ns));
  benchmark.energy_j = counter_of(series, kEnergyPerCall);
  if (has_cycles(series) && (common != nullptr || cycles_alone || shows_share(series))) {
    const CommonClock clock = common != nullptr ? *common : own_clock(series, cycles_alone);
    benchmark.clock_ghz = clock.ghz;
    benchmark.clock_share = clock.share;
  }
  std::vector<double> logs;
  for (const ProcessSummary& process : series.processes) {
    logs.push_back(log_at_share(process, benchmark.clock_share));
  }
  benchmark.process_variance = process_variance(series, logs);
  benchmark.log_equal_clock = mean(logs);
  if (benchmark.clock_ghz > 0) {
    benchmark.log_equal_clock -= benchmark.clock_share * std::log(benchmark.clock_ghz);
  }
}

void set_code(const BenchmarkSeries& series, NightBenchmark& benchmark) {
  benchmark.choices = series.choices;
  if (code_is_known(series)) {
    std::string all = series.identity->order;
    for (const LaunchIdentity& launch : series.identity->launches) {
      all += fmt::format("\n{}\n{}\n{}", launch.code, launch.launch, launch.arguments);
      benchmark.kernels.push_back(fmt::format("{}|{}", launch.kernel, launch.code));
    }
    benchmark.identity = text_hash(all);
  } else if (series.profile) {
    for (const ProfiledKernel& kernel : series.profile->kernels) {
      benchmark.kernels.push_back(kernel.name + "|");
    }
  }
}

// By benchmark.
std::map<std::string, LogEffect> effects_over(const Run& replay, const Run& run) {
  std::map<std::string, const BenchmarkSeries*> before;
  for (const BenchmarkSeries& series : replay.benchmarks) {
    if (!series.processes.empty()) before.emplace(series.name, &series);
  }
  std::vector<Comparison> suite;
  for (const BenchmarkSeries& series : run.benchmarks) {
    const auto found = before.find(series.name);
    if (found == before.end() || series.processes.empty()) continue;
    suite.push_back(
        {.baseline = found->second, .candidate = &series, .limits = limits_of(Rule{}, {})});
  }
  compare_suite(suite, circumstances_of(replay, run), Rule{});
  std::map<std::string, LogEffect> effects;
  for (const Comparison& comparison : suite) {
    const Contrast& stated = comparison.stated();
    if (!(stated.degrees_of_freedom > 0)) continue;
    effects.emplace(comparison.candidate->name,
                    LogEffect{.value = stated.effect,
                              .variance = stated.standard_error * stated.standard_error});
  }
  return effects;
}

NightBenchmark night_benchmark(const BenchmarkSeries& series, const CommonClock* common,
                               bool cycles_alone) {
  NightBenchmark benchmark{.name = series.name, .is_control = series.is_control};
  if (const auto name = parse_benchmark_name(series.name)) {
    benchmark.operation = name->operation;
    benchmark.implementation = name->implementation;
  }
  set_code(series, benchmark);
  if (!series.processes.empty()) set_times(series, common, cycles_alone, benchmark);
  return benchmark;
}

// All but the benchmarks.
Night night_around(const Run& run) {
  const Provenance& from = run.provenance;
  return {.session = session_of(run),
          .unix_s = date_of(run).time_since_epoch().count(),
          .commit = from.commit,
          .device = device_of(run),
          .card = fmt::format("{}", fmt::join(different_cards(run), ", ")),
          .machine = from.host,
          .driver = text_of(run.environment, "driver"),
          .cuda = text_of(run.environment, "cuda"),
          .cublas = text_of(run.environment, "cublas"),
          .suite = from.suite,
          .method = method_of(from.protocol)};
}

}  // namespace

std::chrono::sys_seconds date_of(const Run& run) {
  const auto date = parse_instant(run.provenance.date);
  if (!date) {
    throw InputError(run.source, "context.date",
                     "no date, which a night of a history needs; measure it again, or write the "
                     "date into the file as 2026-11-21T02:53:32Z");
  }
  return *date;
}

std::string device_of(const Run& run) { return text_of(run.environment, "device"); }

std::string session_of(const Run& run) {
  constexpr std::size_t kFewDigits = 8, kCommitDigits = 12;
  std::vector<std::string> parts{fmt::format("{:%Y%m%dT%H%M%SZ}", date_of(run))};
  if (!run.provenance.suite.empty()) parts.push_back(slug(run.provenance.suite));
  for (const std::string& card : different_cards(run)) {
    parts.push_back(slug(card.starts_with("GPU-") ? card.substr(4, kFewDigits) : card));
  }
  if (!run.provenance.commit.empty()) {
    parts.push_back(run.provenance.commit.substr(0, kCommitDigits));
  }
  return fmt::format("{}", fmt::join(parts, "-"));
}

Night night_of_run(const Run& whole_run, const Run* replay,
                   const std::map<std::string, CommonClock>& clocks) {
  const Run run = inliers_of(whole_run);
  Night night = night_around(run);
  std::map<std::string, LogEffect> over_replay;
  if (replay != nullptr) {
    over_replay = effects_over(inliers_of(*replay), run);
    night.replayed = replay->provenance.commit;
  }
  const bool cycles_alone = circumstances_of(run, run).cycles_alone;
  for (const BenchmarkSeries& series : run.benchmarks) {
    const bool is_known = series.is_unmeasured() && code_is_known(series);
    if (series.processes.empty() && !is_known) continue;
    const auto common = clocks.find(series.name);
    night.benchmarks.push_back(
        night_benchmark(series, common == clocks.end() ? nullptr : &common->second, cycles_alone));
    const auto over = over_replay.find(series.name);
    if (over != over_replay.end()) night.benchmarks.back().over_replay = over->second;
  }
  return night;
}

}  // namespace fusegate::baselines
