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
#include "bench/measuring/interrupt.h"

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

constexpr const char* kFilterFlag = "--benchmark_filter";

// Whether --benchmark_filter lets the benchmark through: a regular expression, negated by a leading
// '-'.
bool passes_filter(const std::string& benchmark) {
  const std::string name = benchmark + "/manual_time";  // its name to Google Benchmark
  std::string filter = benchmark::GetBenchmarkFilter();
  if (filter.empty() || filter == "all") return true;
  const bool negated = filter.front() == '-';
  if (negated) filter.erase(0, 1);
  try {
    return baselines::Pattern(filter).fits(name) != negated;
  } catch (const std::invalid_argument& error) {
    throw baselines::InputError(kFilterFlag, "", error.what());
  }
}

[[noreturn]] void fail_for_filter(std::size_t benchmarks) {
  throw baselines::InputError(kFilterFlag, "",
                              fmt::format("lets none of {} benchmarks through", benchmarks));
}

// What a repetition told Google Benchmark: its calls, the same number in every repetition of a
// benchmark, and their time.
struct Claim {
  std::int64_t calls = 0;
  double time_s = 0;
};

class Runner {
 public:
  Runner(Invocation& invocation, const Plan& plan)
      : invocation_(invocation), plan_(plan), claims_(plan.benchmarks.size()) {}

  void register_benchmarks();
  void run(bool display);

  // Called by the reporter. False where there is nothing to go on with.
  bool begin(const benchmark::BenchmarkReporter::Context& context);
  // Whether the benchmark was measured to its end, which a signal may have prevented.
  bool is_result(const std::string& name) const;

 private:
  void measure(std::size_t index, benchmark::State& state);
  PlaceRecord measure_place(std::size_t index, benchmark::State& state);
  void pass_over(std::size_t index, benchmark::State& state, const char* why) const;

  Invocation& invocation_;
  const Plan& plan_;
  std::vector<Claim> claims_;  // by benchmark
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
    // A row a benchmark: the median over its places, or the place where there is one alone.
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
    std::ostringstream told;
    display_->SetErrorStream(&told);
    const bool goes_on = display_->ReportContext(context);
    display_->SetErrorStream(&std::cerr);
    std::istringstream lines(told.str());
    for (std::string line; std::getline(lines, line);) {
      if (line.find("Library was built as DEBUG") == line.npos) std::cerr << line << '\n';
    }
    return goes_on;
  }

  Runner& runner_;
  std::unique_ptr<benchmark::BenchmarkReporter> display_;
};

void Runner::register_benchmarks() {
  Ledger& ledger = invocation_.ledger();
  bool is_any_selected = false;
  for (std::size_t i = 0; i < plan_.benchmarks.size(); ++i) {
    const std::string name = plan_.benchmarks[i].name();
    if (passes_filter(name)) {
      ledger.select(i);
      is_any_selected = true;
    }
    if (ledger.is_complete(i)) continue;
    index_by_name_[name] = i;
    benchmark::RegisterBenchmark(name.c_str(),
                                 [this, i](benchmark::State& state) { measure(i, state); })
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
  if (!is_any_selected) fail_for_filter(plan_.benchmarks.size());
}

bool Runner::begin(const benchmark::BenchmarkReporter::Context& context) {
  invocation_.start(google_context(context));
  return !invocation_.stopped();
}

void Runner::measure(std::size_t index, benchmark::State& state) {
  if (invocation_.stopped()) return pass_over(index, state, "stopped");
  if (invocation_.ledger().is_complete(index)) return pass_over(index, state, "complete");
  PlaceRecord place;
  try {
    place = measure_place(index, state);
  } catch (const std::exception& error) {
    invocation_.fail(index, error.what());
    return pass_over(index, state, error.what());
  }
  invocation_.record(index, std::move(place));
}

// Ends a repetition that has no samples. Google Benchmark aborts where some repetitions of a
// benchmark succeeded and another fails (it checks that all did as many iterations), so that after
// the first that succeeded, the iterations are gone through for nothing; what is recorded does not
// see them.
void Runner::pass_over(std::size_t index, benchmark::State& state, const char* why) const {
  const Claim& claim = claims_[index];
  if (claim.calls == 0) return state.SkipWithError(why);
  while (state.KeepRunningBatch(claim.calls)) state.SetIterationTime(claim.time_s);
}

PlaceRecord Runner::measure_place(std::size_t index, benchmark::State& state) {
  const std::unique_ptr<Place> place = invocation_.enter(index);
  const std::int64_t calls = invocation_.calls_a_place(index);
  const BenchmarkRecord& record = invocation_.record_of(index);
  while (state.KeepRunningBatch(calls)) {
    const double batch_ns = invocation_.take_samples(index, *place);
    claims_[index] = {calls, 1e-9 * batch_ns * static_cast<double>(calls) / record.calls};
    state.SetIterationTime(claims_[index].time_s);
  }
  for (const auto& [name, value] : counters(record, place->record.samples.front())) {
    state.counters[name] = value;
  }
  return std::move(place->record);
}

bool Runner::is_result(const std::string& name) const {
  const std::size_t index = index_by_name_.at(name);
  return invocation_.ledger().is_complete(index) && !invocation_.ledger().has_failed(index);
}

void Runner::run(bool display) {
  Reporter reporter(*this, std::unique_ptr<benchmark::BenchmarkReporter>(
                               display ? benchmark::CreateDefaultDisplayReporter() : nullptr));
  const Ledger& ledger = invocation_.ledger();
  if (ledger.is_everything_complete() && ledger.complete_benchmarks() > 0) {
    begin({});  // a resumed run file that lacks nothing but its end
  } else {
    benchmark::RunSpecifiedBenchmarks(&reporter);
  }
}

// Google Benchmark seeds its shuffle from std::random_device, so that no two processes have one
// order.
std::vector<std::string> google_benchmark_flags(const Protocol& protocol,
                                                const std::vector<std::string>& more) {
  std::vector<std::string> flags{
      "fusegate_bench", fmt::format("--benchmark_repetitions={}", protocol.places),
      fmt::format("--benchmark_enable_random_interleaving={}",
                  protocol.order == Order::kInterleaved),
      // A repetition is one place, however short it is to Google Benchmark.
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
  if (argc > 1)
    throw baselines::InputError(argv[1], "", "Google Benchmark does not know this flag");
}

}  // namespace

Plan filtered_plan(const Plan& plan, const std::vector<std::string>& flags) {
  std::vector<std::string> all_flags{"fusegate_bench"};
  all_flags.insert(all_flags.end(), flags.begin(), flags.end());
  initialize_google_benchmark(all_flags);
  Plan filtered{.benchmarks = {}, .refusals = plan.refusals};
  std::ranges::copy_if(
      plan.benchmarks, std::back_inserter(filtered.benchmarks),
      [](const PlannedBenchmark& benchmark) { return passes_filter(benchmark.name()); });
  if (plan.benchmarks.empty() || !filtered.benchmarks.empty()) return filtered;
  fail_for_filter(plan.benchmarks.size());
}

Outcome run_benchmarks(kernels::Device& device, const Plan& plan, EnvironmentProbe& probe,
                       const InvocationOptions& options, const std::vector<std::string>& flags) {
  std::vector<std::string> all_flags = google_benchmark_flags(options.info.protocol, flags);
  initialize_google_benchmark(all_flags);
  stop_on_signals();
  const std::unique_ptr<Meter> meter = make_meter(device);
  Invocation invocation(device, *meter, plan, probe, options);
  Runner runner(invocation, plan);
  runner.register_benchmarks();
  runner.run(!options.progress);
  return invocation.finish();
}

}  // namespace fusegate::bench
