// What the claims are checked by: our run and the peers', process by process,
// torch.profiler's traces, and the figures that were published.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baselines/record/run.h"
#include "baselines/traces/summary.h"

namespace fusegate::ci {

// A run, and each of its processes by itself.
struct MeasuredRun {
  baselines::Run run;
  std::vector<baselines::RunFile> processes;

  const baselines::BenchmarkSeries* find(std::string_view name) const;
};

struct StepKernel {
  std::string name;
  double duration_ns = 0;  // median over the steps
};

// What a trace launches a step: torch.profiler's "ProfilerStep#N" ranges, each
// one call of what is traced. What was launched outside of them is passed over.
struct TraceSteps {
  std::size_t steps = 0;
  // In order of their start. Empty where the steps launch different kernels, or none.
  std::vector<StepKernel> kernels;
  bool alike = false;  // all steps launch the same kernels in the same order
};
TraceSteps trace_steps(const baselines::Trace& trace);

struct ReadTrace {
  baselines::TraceSummary summary;
  TraceSteps steps;
  std::string device{};  // as PyTorch writes it beside the events; empty where
                         // it does not
};

struct ClaimsInput {
  MeasuredRun ours;
  std::optional<MeasuredRun> peers{};
  std::map<std::string, ReadTrace, std::less<>> traces{};  // by name, such as "linear-torch_eager"
  std::optional<baselines::Run> published{};
};

// Throws InputError as load_run() does, and for a stored baseline, which has no processes.
MeasuredRun read_measured_run(const std::vector<std::filesystem::path>& paths);

// NAME.json and NAME.json.gz of a folder, as bench/peers/record_trace.py writes them. Throws
// InputError where the folder cannot be read, a trace cannot be read or is there twice.
std::map<std::string, ReadTrace, std::less<>> read_traces(const std::filesystem::path& folder);

// Throws InputError where a trace says that it is of another device than our run.
void check_trace_devices(const ClaimsInput& input);

}  // namespace fusegate::ci
