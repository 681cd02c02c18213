#include "bench/runner.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <regex.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "baselines/error.h"
#include "baselines/file_io.h"

namespace fusegate {
namespace {

using nlohmann::json;

volatile std::sig_atomic_t interrupted = 0;

// Between two samples is soon enough to stop; a second signal ends the process at once.
void stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

double process_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// ISO 8601 with the zone's offset, "2026-11-21T03:00:00+00:00": strftime leaves out the last colon.
std::string date_now() {
  std::array<char, 64> text{};
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  const std::string_view date(text.data(),
                              std::strftime(text.data(), text.size(), "%FT%T%z", &local));
  const std::size_t minutes = date.size() - 2;
  return fmt::format("{}:{}", date.substr(0, minutes), date.substr(minutes));
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

// Whether --benchmark_filter lets the name through: a regular expression, negated by a leading '-'.
// POSIX's, since g++ 12 finds uninitialised variables in <regex> when it builds with sanitizers.
bool passes_filter(const std::string& name) {
  std::string filter = benchmark::GetBenchmarkFilter();
  if (filter.empty() || filter == "all") return true;
  const bool negated = filter.front() == '-';
  if (negated) filter.erase(0, 1);
  regex_t expression{};
  // Google Benchmark says what is wrong with a bad one.
  if (regcomp(&expression, filter.c_str(), REG_EXTENDED | REG_NOSUB) != 0) return false;
  const bool found = regexec(&expression, name.c_str(), 0, nullptr, 0) == 0;
  regfree(&expression);
  return found != negated;
}

class Runner {
 public:
  Runner(Device& device, const Plan& plan, EnvironmentProbe& probe, const RunnerOptions& options)
      : device_(device),
        meter_(make_meter(device)),
        verifier_(device, options.info.seed),
        plan_(plan),
        probe_(probe),
        options_(options),
        samples_(plan.benchmarks.size()),
        records_(plan.benchmarks.size()) {}

  void register_benchmarks();
  Outcome run();

  // Called by the reporter.
  void begin(const benchmark::BenchmarkReporter::Context& context);
  // Whether the benchmark was measured to its end, which a signal may have prevented.
  bool is_result(const std::string& name) const;
  void finish(const std::string& name);

 private:
  void measure(std::size_t index, benchmark::State& state);
  void pass_over(std::size_t index, benchmark::State& state, const char* why);
  void take_samples(std::size_t index, Session& session, benchmark::State& state);
  Session& activate(std::size_t index);
  void fail(std::size_t index, const std::string& failure);
  SampleEntry entry_of(const Session& session, const Sample& sample, int index,
                       double cpu_ns) const;
  bool stopped() const { return interrupted != 0 || device_lost_; }

  Device& device_;
  std::unique_ptr<Meter> meter_;
  Verifier verifier_;
  const Plan& plan_;
  EnvironmentProbe& probe_;
  const RunnerOptions& options_;
  std::vector<std::vector<SampleEntry>> samples_;  // by benchmark
  std::vector<BenchmarkRecord> records_;           // by benchmark
  std::map<std::string, std::size_t> index_by_name_;
  std::optional<RunFileWriter> writer_;
  json kept_entries_ = json::array();  // of a run file that is resumed

  // One benchmark's memory is held at a time.
  std::unique_ptr<Session> session_;
  std::size_t active_ = 0;
  std::set<std::size_t> finished_;
  std::chrono::duration<double> recording_{};  // spent on the run file
  int total_ = 0;
  int failures_ = 0;
  bool device_lost_ = false;
};

// Google Benchmark calls it when a benchmark's repetitions are over.
class Reporter : public benchmark::BenchmarkReporter {
 public:
  Reporter(Runner& runner, std::unique_ptr<benchmark::BenchmarkReporter> display)
      : runner_(runner), display_(std::move(display)) {}

  bool ReportContext(const Context& context) override {
    runner_.begin(context);
    return display_ == nullptr || display_->ReportContext(context);
  }
  void ReportRuns(const std::vector<Run>& runs) override {
    if (runs.empty()) return;
    // Sixty lines a benchmark are no table: repetitions are left to the aggregates, which come
    // next.
    const bool repetitions = runs.size() > 1 && runs.front().run_type == Run::RT_Iteration;
    const std::string& name = runs.front().run_name.function_name;
    if (display_ != nullptr && !repetitions && runner_.is_result(name)) display_->ReportRuns(runs);
    runner_.finish(name);
  }
  void Finalize() override {
    if (display_ != nullptr) display_->Finalize();
  }

 private:
  Runner& runner_;
  std::unique_ptr<benchmark::BenchmarkReporter> display_;
};

void Runner::register_benchmarks() {
  if (options_.resume && options_.out && std::filesystem::exists(*options_.out)) {
    kept_entries_ = json::parse(read_file(*options_.out)).at("benchmarks");
    failures_ = static_cast<int>(std::ranges::count_if(
        kept_entries_, [](const json& entry) { return entry.contains("error_occurred"); }));
  }
  const auto is_kept = [&](const std::string& name) {
    return std::ranges::any_of(kept_entries_, [&](const json& e) { return e.at("name") == name; });
  };
  for (std::size_t i = 0; i < plan_.benchmarks.size(); ++i) {
    const std::string name = plan_.benchmarks[i].name();
    if (is_kept(name)) continue;
    index_by_name_[name] = i;
    if (passes_filter(name)) ++total_;
    benchmark::RegisterBenchmark(name.c_str(),
                                 [this, i](benchmark::State& state) { measure(i, state); })
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
}

void Runner::begin(const benchmark::BenchmarkReporter::Context& context) {
  if (options_.progress) {
    fmt::print("@fusegate {}\n", json{{"event", "start"}, {"total", total_}}.dump());
    std::fflush(stdout);
  }
  if (!options_.out) return;
  json whole = google_context(context);
  whole["fusegate"] = fusegate_context(options_.info, probe_);
  writer_.emplace(*options_.out, std::move(whole));
  if (!kept_entries_.empty()) writer_->append(kept_entries_.get<std::vector<json>>());
}

void Runner::measure(std::size_t index, benchmark::State& state) {
  if (stopped()) return pass_over(index, state, "stopped");
  try {
    take_samples(index, activate(index), state);
  } catch (const std::exception& error) {
    fail(index, error.what());
    pass_over(index, state, error.what());
  }
}

// Ends a repetition that is not a sample. Google Benchmark aborts where some repetitions of a
// benchmark succeeded and another fails (it checks that all did as many iterations), so that from
// the second sample on, the iterations are gone through for nothing; what is recorded does not see
// them.
void Runner::pass_over(std::size_t index, benchmark::State& state, const char* why) {
  if (samples_[index].empty()) {
    state.SkipWithError(why);
    return;
  }
  const auto calls = samples_[index].back().iterations;
  while (state.KeepRunningBatch(calls)) {
    state.SetIterationTime(1e-9 * samples_[index].back().real_time_ns * static_cast<double>(calls));
  }
}

Session& Runner::activate(std::size_t index) {
  if (!records_[index].failure.empty()) throw std::runtime_error(records_[index].failure);
  if (session_ == nullptr || active_ != index) {
    session_.reset();  // its memory may be needed
    session_ = std::make_unique<Session>(device_, *meter_, verifier_, options_.info.protocol,
                                         plan_.benchmarks[index], options_.info.seed);
    active_ = index;
  }
  return *session_;
}

void Runner::take_samples(std::size_t index, Session& session, benchmark::State& state) {
  session.prepare_sample(static_cast<int>(samples_[index].size()));
  double total_ns = 0, cycles = 0, cpu_ns = 0;
  int batches = 0;
  // Once, unless --benchmark_min_time asks for more than a batch.
  while (state.KeepRunningBatch(session.calls())) {
    const double before = process_cpu_ns();
    const Sample sample = session.run_sample();
    cpu_ns += process_cpu_ns() - before;
    state.SetIterationTime(sample.batch_ns * 1e-9);
    probe_.saw_clock(sample.sm_clock_hz);
    total_ns += sample.batch_ns;
    cycles += sample.batch_ns * sample.sm_clock_hz;
    ++batches;
    if (interrupted != 0) return pass_over(index, state, "interrupted");
  }
  const Sample mean{.batch_ns = total_ns / batches, .sm_clock_hz = cycles / total_ns};
  records_[index] = session.record();
  samples_[index].push_back(
      entry_of(session, mean, static_cast<int>(samples_[index].size()), cpu_ns / batches));
  for (const auto& [name, value] : samples_[index].back().counters) state.counters[name] = value;
}

SampleEntry Runner::entry_of(const Session& session, const Sample& sample, int index,
                             double cpu_ns) const {
  const BenchmarkRecord& record = session.record();
  SampleEntry entry{
      .index = index,
      .iterations = session.calls(),
      .real_time_ns = sample.batch_ns / session.calls(),
      .cpu_time_ns = cpu_ns / session.calls(),
      .counters = {{"flops", record.flops},
                   {"min_bytes", record.min_bytes},
                   {"kernel_launches", static_cast<double>(record.launches.kernels)}}};
  if (record.launches.memory_operations > 0) {
    entry.counters["memory_operations"] = static_cast<double>(record.launches.memory_operations);
  }
  if (std::isfinite(record.host_ns)) entry.counters["host_ns"] = record.host_ns;
  if (std::isfinite(sample.sm_clock_hz)) entry.counters["sm_clock_hz"] = sample.sm_clock_hz;
  return entry;
}

void Runner::fail(std::size_t index, const std::string& failure) {
  records_[index].failure = failure;
  session_.reset();
  try {
    device_.synchronize();
  } catch (const DeviceError&) {
    device_lost_ = true;  // CUDA reports a broken context at every call from then on
  }
}

bool Runner::is_result(const std::string& name) const {
  const std::size_t index = index_by_name_.at(name);
  if (finished_.contains(index)) return records_[index].failure.empty();
  return records_[index].failure.empty() && interrupted == 0 && !samples_[index].empty();
}

void Runner::finish(const std::string& name) {
  const std::size_t index = index_by_name_.at(name);
  BenchmarkRecord& record = records_[index];
  // Google Benchmark reports the repetitions, then once more their aggregates.
  if (finished_.contains(index)) return;
  if (record.failure.empty() && !is_result(name)) return;
  finished_.insert(index);
  if (!device_lost_) probe_.look();
  record.throttle_reasons = probe_.throttle_reasons();
  if (!record.failure.empty()) {
    ++failures_;
    fmt::print(stderr, "fusegate_bench: {}: {}\n", name, record.failure);
  }
  if (writer_) {
    const auto start = std::chrono::steady_clock::now();
    writer_->append(benchmark_entries(name, static_cast<int>(index), options_.info.number,
                                      samples_[index], record));
    recording_ += std::chrono::steady_clock::now() - start;
  }
  if (options_.progress) {
    fmt::print("{}\n", progress_line(name, static_cast<int>(finished_.size()), total_,
                                     samples_[index], record));
    std::fflush(stdout);
  }
  samples_[index] = {};
}

Outcome Runner::run() {
  std::unique_ptr<benchmark::BenchmarkReporter> display(
      options_.progress ? nullptr : benchmark::CreateDefaultDisplayReporter());
  Reporter reporter(*this, std::move(display));
  benchmark::RunSpecifiedBenchmarks(&reporter);
  session_.reset();
  if (device_lost_) return Outcome::kDeviceLost;
  if (interrupted != 0) return Outcome::kInterrupted;
  if (writer_) {
    writer_->finish({probe_.doubts().begin(), probe_.doubts().end()});
    fmt::print(stderr, "fusegate_bench: {} benchmarks, {:.2f} s spent on the run file\n",
               finished_.size(), recording_.count());
  }
  return failures_ > 0 ? Outcome::kFailures : Outcome::kComplete;
}

// Defaults stand first, so that a flag that the user gave comes later and wins.
std::vector<std::string> google_benchmark_flags(const RunnerOptions& options) {
  std::vector<std::string> flags{
      "fusegate_bench", fmt::format("--benchmark_repetitions={}", options.info.protocol.samples),
      // A repetition is one batch, however short it is to Google Benchmark.
      "--benchmark_min_time=0.000001"};
  flags.insert(flags.end(), options.benchmark_flags.begin(), options.benchmark_flags.end());
  return flags;
}

// flags must outlive every benchmark: Google Benchmark keeps pointers into them.
void initialize_google_benchmark(std::vector<std::string>& flags) {
  std::vector<char*> argv;
  for (std::string& flag : flags) argv.push_back(flag.data());
  int argc = static_cast<int>(argv.size());
  benchmark::Initialize(&argc, argv.data());
  if (argc > 1) throw InputError(argv[1], "", "Google Benchmark does not know this flag");
}

}  // namespace

Outcome run_benchmarks(Device& device, const Plan& plan, EnvironmentProbe& probe,
                       const RunnerOptions& options) {
  std::vector<std::string> flags = google_benchmark_flags(options);
  initialize_google_benchmark(flags);
  stop_on_signals();
  Runner runner(device, plan, probe, options);
  runner.register_benchmarks();
  return runner.run();
}

}  // namespace fusegate
