// How long the gate takes and how much memory: writes two runs of the same code in the form that
// fusegate_bench writes them, then loads and gates them.
//
//   fusegate_gate_speed [--benchmarks=10000] [--processes=5] [--samples=3]
#include <fmt/format.h>
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <random>

#include "baselines/gating/gate.h"
#include "baselines/io/parallel.h"
#include "baselines/io/scratch_folder.h"
#include "baselines/record/load_run.h"

namespace fusegate::baselines {
namespace {

namespace fs = std::filesystem;

struct Options {
  int benchmarks = 10'000;
  int processes = 5;
  int samples = 3;
};

// Processes differ by 0.2 % and samples by 0.5 %, about as on a GPU.
std::string run_file_text(const Options& options, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::string text =
      R"({"context": {"date": "2026-11-21T01:46:00+00:00", "host_name": "h200", "fusegate":)"
      R"( {"schema_version": 1, "finished": true, "environment": {"device": "NVIDIA H200"}}},)"
      "\n\"benchmarks\": [\n";
  for (int i = 0; i < options.benchmarks; ++i) {
    const std::string name = fmt::format(
        "geglu_mlp/fused_pointwise/bf16/batch:{}/seq:128/dim:768/hidden:{}", i % 100, i / 100);
    const double center = (2 + i % 300) * (1 + 0.002 * normal(random));
    for (int sample = 0; sample < options.samples; ++sample) {
      const double time_us = center * (1 + 0.005 * normal(random));
      text += fmt::format(
          R"({{"name":"{0}","family_index":{1},"per_family_instance_index":0,"run_name":"{0}",)"
          R"("run_type":"iteration","repetitions":{2},"repetition_index":{3},"threads":1,)"
          R"("iterations":40,"real_time":{4},"cpu_time":{4},"time_unit":"us","process":1,)"
          R"("sm_clock_hz":1978125000.0,"kernel_launches":4.0,"flops":115964116992.0,)"
          R"("min_bytes":226492416.0,"host_ns":10250.5{5}}},)"
          "\n",
          name, i, options.samples, sample, time_us,
          sample == 0 ? R"(,"details":{"choices":{"gate_proj":"cublaslt algo 66 tile 20"}})" : "");
    }
  }
  text.resize(text.size() - 2);
  return text + "\n]}\n";
}

void write_runs(const fs::path& folder, const Options& options) {
  const auto processes = static_cast<std::size_t>(options.processes);
  in_parallel(2 * processes, [&](std::size_t i) {
    const fs::path side = i < processes ? "baseline" : "candidate";
    write_atomically(folder / side / fmt::format("{}.json", i % processes + 1),
                     run_file_text(options, static_cast<unsigned>(i)));
  });
}

double folder_megabytes(const fs::path& folder) {
  double bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) bytes += static_cast<double>(entry.file_size());
  }
  return bytes / 1e6;
}

// On a busy machine the processor time says more than the clock on the wall.
double processor_seconds() {
  return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The peak counts the writing of the files too, which is no part of the gate, unless it is reset;
// getrusage cannot be, /proc can (man 5 proc, clear_refs and VmHWM).
void reset_peak_memory() {
  if (std::FILE* file = std::fopen("/proc/self/clear_refs", "w")) {
    std::fputs("5", file);
    std::fclose(file);
  }
}

double peak_megabytes() {
  const std::string status = read_file("/proc/self/status");
  const auto line = status.find("VmHWM:");
  return line == status.npos ? 0 : std::atof(status.c_str() + line + 6) * 1024 / 1e6;
}

void measure(const Options& options) {
  const ScratchFolder folder;
  write_runs(folder.path(), options);
  fmt::print("two runs of {} benchmarks x {} processes x {} samples, {:.0f} MB\n",
             options.benchmarks, options.processes, options.samples,
             folder_megabytes(folder.path()));
  ::malloc_trim(0);
  reset_peak_memory();
  const double processor_start = processor_seconds();
  const auto start = std::chrono::steady_clock::now();
  const Run baseline = load_run({folder.path() / "baseline"});
  const Run candidate = load_run({folder.path() / "candidate"});
  const double load_seconds = seconds_since(start);
  const GateResult result = gate(baseline, candidate, {});
  const double seconds = seconds_since(start);
  fmt::print("load {:.2f} s, gate {:.2f} s, together {:.2f} s ({:.2f} s of processor time)\n",
             load_seconds, seconds - load_seconds, seconds, processor_seconds() - processor_start);
  fmt::print("peak {:.0f} MB, {} verdicts\n", peak_megabytes(), result.verdicts.size());
}

}  // namespace
}  // namespace fusegate::baselines

int main(int argc, char** argv) {
  fusegate::baselines::Options options;
  CLI::App app("How long the gate takes, and how much memory.");
  app.add_option("--benchmarks", options.benchmarks)->check(CLI::PositiveNumber);
  app.add_option("--processes", options.processes)->check(CLI::PositiveNumber);
  app.add_option("--samples", options.samples)->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  try {
    fusegate::baselines::measure(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "fusegate_gate_speed: {}\n", error.what());
    return 2;
  }
}
