#include "ci/claims/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/record/baseline.h"
#include "baselines/record/load_run.h"
#include "baselines/record/run_file.h"
#include "baselines/traces/reader.h"
#include "ci/traces/trace_file.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHostNs = "host_ns";

std::optional<double> counter(const baselines::BenchmarkResult& result, std::string_view name) {
  const auto found = result.counters.find(std::string(name));
  return found == result.counters.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Ratio> cycle_ratio(const MeasuredRun& numerator_run, std::string_view numerator,
                                 const MeasuredRun& denominator_run, std::string_view denominator) {
  const auto cycles = [](const baselines::BenchmarkResult& result) {
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

// The first GPU's name by "deviceProperties", which PyTorch writes beside "traceEvents". The events
// are not built: they were read before.
std::string device_of(const std::string& text) {
  const auto but_for_events = [](int depth, nlohmann::json::parse_event_t event,
                                 nlohmann::json& value) {
    return depth != 1 || event != nlohmann::json::parse_event_t::key || value != "traceEvents";
  };
  const auto json = nlohmann::json::parse(text, but_for_events);
  const nlohmann::json::json_pointer name("/deviceProperties/0/name");
  return json.is_object() && json.contains(name) && json.at(name).is_string()
             ? json.at(name).get<std::string>()
             : std::string();
}

}  // namespace

std::string reference_benchmark(std::string_view operation, std::string_view implementation) {
  return fmt::format("{}/{}/{}", operation, implementation, kReferenceProblem);
}

const baselines::BenchmarkSeries* MeasuredRun::find(std::string_view name) const {
  const auto found = std::ranges::find(run.benchmarks, name, &baselines::BenchmarkSeries::name);
  return found == run.benchmarks.end() ? nullptr : &*found;
}

std::vector<double> MeasuredRun::values(
    std::string_view name,
    const std::function<std::optional<double>(const baselines::BenchmarkResult&)>& of) const {
  std::vector<double> values;
  for (const baselines::RunFile& process : processes) {
    const auto result =
        std::ranges::find(process.benchmarks, name, &baselines::BenchmarkResult::name);
    if (result == process.benchmarks.end() || !result->failure.empty()) continue;
    const std::optional<double> value = of(*result);
    if (value && std::isfinite(*value) && *value > 0) values.push_back(*value);
  }
  return values;
}

std::vector<double> MeasuredRun::times_ns(std::string_view name) const {
  return values(name, [](const baselines::BenchmarkResult& result) {
    return std::optional(result.summary.time_ns);
  });
}

std::vector<double> MeasuredRun::host_ns(std::string_view name) const {
  return values(name,
                [](const baselines::BenchmarkResult& result) { return counter(result, kHostNs); });
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
  const auto found =
      std::ranges::find(published->benchmarks, benchmark, &baselines::BenchmarkSeries::name);
  if (found == published->benchmarks.end() || found->invocations.empty()) return std::nullopt;
  return found->invocations.front().time_ns;
}

MeasuredRun read_measured_run(const std::vector<fs::path>& paths) {
  MeasuredRun measured;
  for (const fs::path& file : baselines::run_files(paths)) {
    std::string text = baselines::read_file(file);
    if (baselines::is_baseline_text(text)) {
      throw baselines::InputError(
          file.string(), "",
          "a stored baseline does not have what each process showed; name run files");
    }
    measured.processes.push_back(baselines::parse_run_file(std::move(text), file.string()));
  }
  measured.run = baselines::load_run(paths);
  return measured;
}

std::map<std::string, ReadTrace, std::less<>> read_traces(const fs::path& folder) {
  std::error_code error;
  std::set<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, error)) files.insert(entry.path());
  if (error)
    throw baselines::InputError(folder.string(), "", "cannot read the folder: " + error.message());
  std::map<std::string, ReadTrace, std::less<>> traces;
  for (const fs::path& file : files) {
    const std::string name = trace_name(file);
    if (name.empty()) continue;
    const std::string text = read_trace_text(file);
    const baselines::Trace trace = baselines::parse_trace(text, file.string());
    ReadTrace read{baselines::summarize(trace), trace_steps(trace), device_of(text)};
    if (!traces.try_emplace(name, std::move(read)).second) {
      throw baselines::InputError(file.string(), "",
                                  "there is another trace of that name in the folder");
    }
  }
  return traces;
}

void check_trace_devices(const ClaimsInput& input) {
  const auto ours = input.ours.run.environment.find("device");
  if (ours == input.ours.run.environment.end()) return;
  for (const auto& [name, trace] : input.traces) {
    if (trace.device.empty() || ours->second == trace.device) continue;
    throw baselines::InputError(name, "deviceProperties",
                                fmt::format("is {}, but our run is of {}, unless told "
                                            "--allow-environment-difference",
                                            trace.device, ours->second.dump()));
  }
}

}  // namespace fusegate::ci
