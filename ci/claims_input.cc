#include "ci/claims_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "baselines/baseline.h"
#include "baselines/error.h"
#include "baselines/file_io.h"
#include "ci/trace_file.h"

namespace fusegate {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHostNs = "host_ns";

std::optional<double> counter(const BenchmarkResult& result, std::string_view name) {
  const auto found = result.counters.find(std::string(name));
  return found == result.counters.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Ratio> cycle_ratio(const MeasuredRun& numerator_run, std::string_view numerator,
                                 const MeasuredRun& denominator_run, std::string_view denominator) {
  const auto cycles = [](const BenchmarkResult& result) {
    return std::optional(result.summary.cycles);
  };
  const std::vector<double> above = numerator_run.values(numerator, cycles);
  const std::vector<double> below = denominator_run.values(denominator, cycles);
  const bool all = above.size() == numerator_run.times_ns(numerator).size() &&
                   below.size() == denominator_run.times_ns(denominator).size();
  return all ? ratio_of(above, below) : std::nullopt;
}

// "linear-torch_eager" of linear-torch_eager.json.gz; empty for other files.
std::string trace_name(const fs::path& file) {
  const fs::path whole = file.extension() == ".gz" ? file.stem() : file.filename();
  return whole.extension() == ".json" ? whole.stem().string() : std::string();
}

}  // namespace

std::string reference_benchmark(std::string_view operation, std::string_view implementation) {
  return fmt::format("{}/{}/{}", operation, implementation, kReferenceProblem);
}

const BenchmarkSeries* MeasuredRun::find(std::string_view name) const {
  const auto found = std::ranges::find(run.benchmarks, name, &BenchmarkSeries::name);
  return found == run.benchmarks.end() ? nullptr : &*found;
}

std::vector<double> MeasuredRun::values(
    std::string_view name,
    const std::function<std::optional<double>(const BenchmarkResult&)>& of) const {
  std::vector<double> values;
  for (const RunFile& process : processes) {
    const auto result = std::ranges::find(process.benchmarks, name, &BenchmarkResult::name);
    if (result == process.benchmarks.end() || !result->failure.empty()) continue;
    const std::optional<double> value = of(*result);
    if (value && std::isfinite(*value) && *value > 0) values.push_back(*value);
  }
  return values;
}

std::vector<double> MeasuredRun::times_ns(std::string_view name) const {
  return values(
      name, [](const BenchmarkResult& result) { return std::optional(result.summary.time_ns); });
}

std::vector<double> MeasuredRun::host_ns(std::string_view name) const {
  return values(name, [](const BenchmarkResult& result) { return counter(result, kHostNs); });
}

std::optional<TimeRatio> time_ratio(const MeasuredRun& numerator_run, std::string_view numerator,
                                    const MeasuredRun& denominator_run,
                                    std::string_view denominator) {
  const auto time =
      ratio_of(numerator_run.times_ns(numerator), denominator_run.times_ns(denominator));
  if (!time) return std::nullopt;
  return TimeRatio{*time, cycle_ratio(numerator_run, numerator, denominator_run, denominator)};
}

const ReadTrace* ClaimsInput::trace(std::string_view name) const {
  const auto found = traces.find(name);
  return found == traces.end() ? nullptr : &found->second;
}

std::optional<double> ClaimsInput::published_ns(std::string_view benchmark) const {
  if (!published) return std::nullopt;
  const auto found = std::ranges::find(published->benchmarks, benchmark, &BenchmarkSeries::name);
  if (found == published->benchmarks.end() || found->invocations.empty()) return std::nullopt;
  return found->invocations.front().time_ns;
}

MeasuredRun read_measured_run(const std::vector<fs::path>& paths) {
  MeasuredRun measured;
  for (const fs::path& file : run_files(paths)) {
    const std::string text = read_file(file);
    if (is_baseline_text(text)) {
      throw InputError(file.string(), "",
                       "a stored baseline does not have what each process showed; name run files");
    }
    measured.processes.push_back(parse_run_file(text, file.string()));
  }
  measured.run = load_run(paths);
  return measured;
}

std::map<std::string, ReadTrace, std::less<>> read_traces(const fs::path& folder) {
  std::error_code error;
  std::set<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, error)) files.insert(entry.path());
  if (error) throw InputError(folder.string(), "", "cannot read the folder: " + error.message());
  std::map<std::string, ReadTrace, std::less<>> traces;
  for (const fs::path& file : files) {
    const std::string name = trace_name(file);
    if (name.empty()) continue;
    const Trace trace = read_trace_file(file);
    if (!traces.try_emplace(name, ReadTrace{summarize(trace), trace_steps(trace)}).second) {
      throw InputError(file.string(), "", "there is another trace of that name in the folder");
    }
  }
  return traces;
}

}  // namespace fusegate
