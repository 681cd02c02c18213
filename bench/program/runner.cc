#include "bench/program/runner.h"

#include <benchmark/benchmark.h>
#include <fmt/chrono.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "baselines/io/error.h"
#include "baselines/io/pattern.h"
#include "bench/meters/make_meter.h"
#include "bench/ranks/interrupt.h"

namespace fusegate::bench {
namespace {

using nlohmann::json;

// ISO 8601 with the zone's offset, "2026-11-21T03:00:00+00:00": %z leaves out the last colon.
std::string date_now() {
  std::string date = fmt::format("{:%FT%T%z}", fmt::localtime(std::time(nullptr)));
  date.insert(date.end() - 2, ':');
  return date;
}

// Google Benchmark's own context, as its JSON reporter writes it.
json google_context(const benchmark::BenchmarkReporter::Context& context) {
  json caches = json::array();
  for (const auto& cache : context.cpu_info.caches) {
    caches.push_back({{"type", cache.type},
                      {"level", cache.level},
                      {"size", cache.size},
                      {"num_sharing", cache.num_sharing}});
  }
  return {{"date", date_now()},
          {"host_name", context.sys_info.name},
          {"executable", context.executable_name != nullptr ? context.executable_name : ""},
          {"num_cpus", context.cpu_info.num_cpus},
          {"mhz_per_cpu", std::lround(context.cpu_info.cycles_per_second / 1e6)},
          {"cpu_scaling_enabled", context.cpu_info.scaling == benchmark::CPUInfo::ENABLED},
          {"caches", caches},
          {"load_avg", context.cpu_info.load_avg},
#ifdef NDEBUG
          {"library_build_type", "release"}};
#else
          {"library_build_type", "debug"}};
#endif
}

// What the first rank gives the others: which benchmark is measured next, that none is, or that
// results are compared.
constexpr const char* kNext = "the next benchmark";
constexpr std::uint64_t kNone = ~std::uint64_t{0}, kCompare = kNone - 1;

constexpr const char* kFilterFlag = "--benchmark_filter";

baselines::Pattern pattern_of(std::string_view filter) try {
  return baselines::Pattern(filter);
} catch (const std::invalid_argument& error) {
  throw baselines::InputError(kFilterFlag, "", error.what());
}

// --benchmark_filter: a regular expression, negated by a leading '-'. One of 1000 names takes 40 ms
// to compile.
class Filter {
 public:
  explicit Filter(std::string_view text)
      : negated_(text.starts_with('-')),
        pattern_(pattern_of(text == "all" ? "" : text.substr(negated_ ? 1 : 0))) {}

  bool selects(const std::string& benchmark) const {
    return pattern_.fits(benchmark + "/manual_time") != negated_;  // its name to Google Benchmark
  }

 private:
  bool negated_;
  baselines::Pattern pattern_;
};

[[noreturn]] void fail_for_filter(std::size_t benchmarks) {
  throw baselines::InputError(kFilterFlag, "",
                              fmt::format("matches none of {} benchmarks", benchmarks));
}

// What a repetition reported to Google Benchmark: its calls, the same number in every repetition of
// a benchmark, and their time.
struct Iterations {
  std::int64_t calls = 0;
  double time_s = 0;
};

class Runner {
 public:
  Runner(MeasuringProcess& process, const Plan& plan, kernels::Ranks& ranks)
      : process_(process), plan_(plan), ranks_(ranks), iterations_(plan.benchmarks.size()) {}

  void register_benchmarks();
  void run(bool display);
  // Of another rank: measures what the first measures, when it does.
  void follow();

  // Called by the reporter. False where nothing is to be measured.
  bool begin(const benchmark::BenchmarkReporter::Context& context);
  // Whether the benchmark was measured completely and without failure.
  bool is_result(const std::string& name) const;

 private:
  void measure(std::size_t index, benchmark::State& state);
  LayoutRecord measure_layout(std::size_t index, benchmark::State& state);
  void skip(std::size_t index, benchmark::State& state, const char* why) const;

  MeasuringProcess& process_;
  const Plan& plan_;
  kernels::Ranks& ranks_;
  std::vector<Iterations> iterations_;  // by benchmark
  std::map<std::string, std::size_t> index_by_name_;
};

// Google Benchmark calls it when it starts, and when all repetitions of a benchmark are over.
class Reporter : public benchmark::BenchmarkReporter {
 public:
  // display: prints for people; may be null.
  Reporter(Runner& runner, std::unique_ptr<benchmark::BenchmarkReporter> display)
      : runner_(runner), display_(std::move(display)) {}

  bool ReportContext(const Context& context) override {
    return runner_.begin(context) && (display_ == nullptr || display_context(context));
  }
  void ReportRuns(const std::vector<Run>& runs) override {
    if (display_ == nullptr || runs.empty()) return;
    if (!runner_.is_result(runs.front().run_name.function_name)) return;
    // A row a benchmark: the median over its layouts, or its only layout.
    std::vector<Run> rows;
    std::ranges::copy_if(runs, std::back_inserter(rows), [](const Run& run) {
      return run.run_type == Run::RT_Aggregate ? run.aggregate_name == "median"
                                               : run.repetitions == 1;
    });
    if (!rows.empty()) display_->ReportRuns(rows);
  }
  void Finalize() override {
    if (display_ != nullptr) display_->Finalize();
  }

 private:
  // Without the line that Debian's Google Benchmark has, "Library was built as DEBUG. Timings may
  // be affected": the timings are our meters', and of that library nothing runs within a sample.
  bool display_context(const Context& context) {
    std::ostringstream messages;
    display_->SetErrorStream(&messages);
    const bool goes_on = display_->ReportContext(context);
    display_->SetErrorStream(&std::cerr);
    std::istringstream lines(messages.str());
    for (std::string line; std::getline(lines, line);) {
      if (line.find("Library was built as DEBUG") == line.npos) std::cerr << line << '\n';
    }
    return goes_on;
  }

  Runner& runner_;
  std::unique_ptr<benchmark::BenchmarkReporter> display_;
};

void Runner::register_benchmarks() {
  RunFileRecorder& recorder = process_.recorder();
  const Filter filter(benchmark::GetBenchmarkFilter());
  bool is_any_selected = false;
  for (std::size_t i = 0; i < plan_.benchmarks.size(); ++i) {
    const std::string name = plan_.benchmarks[i].name();
    if (filter.selects(name)) {
      recorder.select(i);
      is_any_selected = true;
    }
    if (recorder.is_complete(i)) continue;
    index_by_name_[name] = i;
    benchmark::RegisterBenchmark(name.c_str(),
                                 [this, i](benchmark::State& state) { measure(i, state); })
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
  if (!is_any_selected) fail_for_filter(plan_.benchmarks.size());
}

bool Runner::begin(const benchmark::BenchmarkReporter::Context& context) {
  process_.start(google_context(context));
  return !process_.stopped();
}

void Runner::measure(std::size_t index, benchmark::State& state) {
  if (process_.stopped()) return skip(index, state, "stopped");
  if (process_.recorder().is_complete(index)) return skip(index, state, "complete");
  LayoutRecord layout;
  try {
    if (process_.is_short_of_room()) {
      ranks_.first(kNext, kCompare);
      process_.compare_timed();
    }
    ranks_.first(kNext, index);
    layout = measure_layout(index, state);
  } catch (const std::exception& error) {
    process_.fail(index, error.what());
    return skip(index, state, error.what());
  }
  process_.record(index, std::move(layout));
}

// Ends a repetition without samples. Google Benchmark aborts where a repetition fails after another
// succeeded (it checks that all have as many iterations), so after the first success the iterations
// are counted without running; they are not recorded.
void Runner::skip(std::size_t index, benchmark::State& state, const char* why) const {
  const Iterations& done = iterations_[index];
  if (done.calls == 0) return state.SkipWithError(why);
  while (state.KeepRunningBatch(done.calls)) state.SetIterationTime(done.time_s);
}

LayoutRecord Runner::measure_layout(std::size_t index, benchmark::State& state) {
  const std::unique_ptr<Layout> layout = process_.enter(index);
  const std::int64_t calls = process_.calls_per_layout(index);
  const BenchmarkRecord& record = process_.record_of(index);
  while (state.KeepRunningBatch(calls)) {
    const double batch_ns = process_.take_samples(index, *layout);
    iterations_[index] = {calls, 1e-9 * batch_ns * static_cast<double>(calls) / record.calls};
    process_.check_timed(index, *layout);  // may throw; skip() then ends the iterations
    state.SetIterationTime(iterations_[index].time_s);
  }
  for (const auto& [name, value] : counters(record, layout->record.samples.front())) {
    state.counters[name] = value;
  }
  return std::move(layout->record);
}

bool Runner::is_result(const std::string& name) const {
  const std::size_t index = index_by_name_.at(name);
  return process_.recorder().is_complete(index) && !process_.recorder().has_failed(index);
}

void Runner::run(bool display) {
  Reporter reporter(*this, std::unique_ptr<benchmark::BenchmarkReporter>(
                               display ? benchmark::CreateDefaultDisplayReporter() : nullptr));
  const RunFileRecorder& recorder = process_.recorder();
  if (recorder.is_everything_complete() && recorder.complete_benchmarks() > 0) {
    begin({});  // a resumed run file that is complete but not finished
  } else {
    benchmark::RunSpecifiedBenchmarks(&reporter);
  }
  // Where a rank has ended, the others end with this one.
  if (!process_.stopped()) ranks_.first(kNext, kNone);
}

void Runner::follow() {
  process_.start({});
  while (!process_.stopped()) {
    const std::uint64_t next = ranks_.first(kNext, kNone);
    if (next == kNone) return;
    const auto index = static_cast<std::size_t>(next);
    if (next == kCompare) {
      process_.compare_timed();
      continue;
    }
    if (!process_.takes_part(index)) continue;
    try {
      const std::unique_ptr<Layout> layout = process_.enter(index);
      process_.take_samples(index, *layout);
      process_.check_timed(index, *layout);
      process_.record(index, std::move(layout->record));
    } catch (const std::exception& error) {
      process_.fail(index, error.what());
    }
  }
}

// Google Benchmark seeds its shuffle from std::random_device: each process has another order.
std::vector<std::string> google_benchmark_flags(const Protocol& protocol,
                                                const std::vector<std::string>& more) {
  std::vector<std::string> flags{"fusegate_bench",
                                 fmt::format("--benchmark_repetitions={}", protocol.layouts),
                                 fmt::format("--benchmark_enable_random_interleaving={}",
                                             protocol.order == Order::kInterleaved),
                                 // A repetition is one layout, however short.
                                 "--benchmark_min_time=0.000001"};
  flags.insert(flags.end(), more.begin(), more.end());
  return flags;
}

// flags must outlive every benchmark: Google Benchmark keeps pointers into them.
void initialize_google_benchmark(std::vector<std::string>& flags) {
  std::vector<char*> argv;
  for (std::string& flag : flags) argv.push_back(flag.data());
  int argc = static_cast<int>(argv.size());
  benchmark::Initialize(&argc, argv.data());
  if (argc > 1) throw baselines::InputError(argv[1], "", "unknown to Google Benchmark; see --help");
}

}  // namespace

Plan filtered_plan(const Plan& plan, const std::vector<std::string>& flags) {
  std::vector<std::string> all_flags{"fusegate_bench"};
  all_flags.insert(all_flags.end(), flags.begin(), flags.end());
  initialize_google_benchmark(all_flags);
  Plan filtered{.benchmarks = {}, .refusals = plan.refusals};
  const Filter filter(benchmark::GetBenchmarkFilter());
  std::ranges::copy_if(
      plan.benchmarks, std::back_inserter(filtered.benchmarks),
      [&](const PlannedBenchmark& benchmark) { return filter.selects(benchmark.name()); });
  if (plan.benchmarks.empty() || !filtered.benchmarks.empty()) return filtered;
  fail_for_filter(plan.benchmarks.size());
}

Outcome run_benchmarks(kernels::Device& device, const Plan& plan, EnvironmentProbe& probe,
                       const ProcessOptions& options, const std::vector<std::string>& flags) {
  std::vector<std::string> all_flags = google_benchmark_flags(options.info.protocol, flags);
  initialize_google_benchmark(all_flags);
  kernels::Ranks& ranks = device.ranks();
  if (ranks.is_first()) stop_on_signals();
  const std::unique_ptr<Meter> meter = make_meter(device);
  MeasuringProcess process(device, *meter, plan, probe, options);
  Runner runner(process, plan, ranks);
  runner.register_benchmarks();
  ranks.is_first() ? runner.run(!options.progress) : runner.follow();
  return process.finish();
}

}  // namespace fusegate::bench
