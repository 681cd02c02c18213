// What the claims are checked by: our run and the peers', process by process, torch.profiler's
// traces, and the figures that were published.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baselines/record/benchmark_name.h"
#include "baselines/record/run.h"
#include "ci/claims/ratio.h"
#include "ci/claims/trace.h"

namespace fusegate::ci {

// The series' problem, as benchmarks' names end.
inline constexpr std::string_view kReferenceProblem = "bf16/batch:64/seq:128/dim:768/hidden:3072";
std::string reference_benchmark(std::string_view operation, std::string_view implementation);

// A run, and each of its processes by itself.
struct MeasuredRun {
  baselines::Run run;
  std::vector<baselines::RunFile> processes;

  const baselines::BenchmarkSeries* find(std::string_view name) const;
  // Of each process that has it, in their order: finite and above zero.
  std::vector<double> values(
      std::string_view name,
      const std::function<std::optional<double>(const baselines::BenchmarkResult&)>& of) const;
  std::vector<double> times_ns(std::string_view name) const;
  std::vector<double> host_ns(std::string_view name) const;  // of one call, launched on a stream
};

// Nothing where either was not measured. Cycles only where every process of both has them.
std::optional<TimeRatio> time_ratio(const MeasuredRun& numerator_run, std::string_view numerator,
                                    const MeasuredRun& denominator_run,
                                    std::string_view denominator);

// In place of a figure that the published file was to have.
inline constexpr std::string_view kNotGiven = "a figure that --published does not have";

struct ReadTrace {
  baselines::TraceSummary summary;
  TraceSteps steps;
  std::string device{};  // as PyTorch writes it beside the events; empty where it does not
};

struct ClaimsInput {
  MeasuredRun ours;
  std::optional<MeasuredRun> peers{};
  std::map<std::string, ReadTrace, std::less<>> traces{};  // by name, such as "linear-torch_eager"
  std::optional<baselines::Run> published{};

  const ReadTrace* trace(std::string_view name) const;
  std::optional<double> published_ns(std::string_view benchmark) const;
};

// Throws InputError as load_run() does, and for a stored baseline, which has no processes.
MeasuredRun read_measured_run(const std::vector<std::filesystem::path>& paths);

// NAME.json and NAME.json.gz of a folder, as bench/peers/record_trace.py writes them. Throws
// InputError where the folder cannot be read, a trace cannot be read or is there twice.
std::map<std::string, ReadTrace, std::less<>> read_traces(const std::filesystem::path& folder);

// Throws InputError where a trace says that it is of another device than our run.
void check_trace_devices(const ClaimsInput& input);

}  // namespace fusegate::ci
