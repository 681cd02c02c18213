#include "ci/claims/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/record/baseline.h"
#include "baselines/record/load_run.h"
#include "baselines/record/run_file.h"
#include "baselines/statistics/statistics.h"
#include "baselines/traces/reader.h"
#include "baselines/traces/steps.h"
#include "ci/traces/trace_file.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

// "linear-torch_eager" of linear-torch_eager.json.gz; empty for other files.
std::string trace_name(const fs::path& file) {
  const fs::path whole = file.extension() == ".gz" ? file.stem() : file.filename();
  return whole.extension() == ".json" ? whole.stem().string() : std::string();
}

// The first GPU's name by "deviceProperties", which PyTorch writes beside
// "traceEvents". The events are not built: they were read before.
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

const baselines::BenchmarkSeries* MeasuredRun::find(std::string_view name) const {
  const auto found = std::ranges::find(run.benchmarks, name, &baselines::BenchmarkSeries::name);
  return found == run.benchmarks.end() ? nullptr : &*found;
}

TraceSteps trace_steps(const baselines::Trace& trace) {
  std::vector<baselines::TraceStep> steps = baselines::steps_of(trace);
  TraceSteps result;
  result.steps = steps.size();
  if (steps.empty()) return result;
  for (baselines::TraceStep& step : steps) {
    std::ranges::stable_sort(step.kernels, {}, &baselines::TraceEvent::start_ns);
  }
  const auto& first = steps.front().kernels;
  result.alike = std::ranges::all_of(steps, [&](const baselines::TraceStep& step) {
    return std::ranges::equal(step.kernels, first, {}, &baselines::TraceEvent::name,
                              &baselines::TraceEvent::name);
  });
  if (!result.alike) return result;
  for (std::size_t i = 0; i < first.size(); ++i) {
    std::vector<double> durations;
    for (const baselines::TraceStep& step : steps) {
      durations.push_back(static_cast<double>(step.kernels[i]->duration_ns));
    }
    result.kernels.push_back({first[i]->name, baselines::median(durations)});
  }
  return result;
}

MeasuredRun read_measured_run(const std::vector<fs::path>& paths) {
  MeasuredRun measured;
  for (const fs::path& file : baselines::run_files(paths)) {
    std::string text = baselines::read_file(file);
    if (baselines::is_baseline_text(text)) {
      throw baselines::InputError(file.string(), "",
                                  "a stored baseline does not have what each "
                                  "process showed; name run files");
    }
    baselines::RunFile process = baselines::parse_run_file(std::move(text), file.string());
    if (process.finished) measured.processes.push_back(std::move(process));
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
    baselines::require_regular(file);
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
