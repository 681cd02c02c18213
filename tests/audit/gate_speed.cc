// How long the gate takes and how much memory: writes two runs of the same code in the form that
// fusegate_bench writes them, then loads and gates them.
//
//   fusegate_gate_speed [--benchmarks=10000] [--processes=5] [--samples=3]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "baselines/gating/gate.h"
#include "baselines/io/file_io.h"
#include "baselines/io/parallel.h"
#include "baselines/io/scratch_folder.h"
#include "baselines/record/load_run.h"
#include "tests/audit/speed.h"

namespace fusegate::baselines::audit {
namespace {

namespace fs = std::filesystem;

void write_runs(const fs::path& folder, const WrittenSize& size) {
  const auto processes = static_cast<std::size_t>(size.processes);
  in_parallel(2 * processes, [&](std::size_t i) {
    const fs::path side = i < processes ? "baseline" : "candidate";
    write_atomically(folder / side / fmt::format("{}.json", i % processes + 1),
                     written_run_file(size, static_cast<unsigned>(i)));
  });
}

void measure(const WrittenSize& size) {
  const ScratchFolder folder;
  write_runs(folder.path(), size);
  fmt::print("two runs of {} benchmarks x {} processes x {} samples, {:.0f} MB\n", size.benchmarks,
             size.processes, size.samples, folder_megabytes(folder.path()));
  const Measurement measurement;
  const Run baseline = load_run({folder.path() / "baseline"});
  const Run candidate = load_run({folder.path() / "candidate"});
  const double load_seconds = measurement.seconds();
  const GateResult result = gate(baseline, candidate, {});
  const double seconds = measurement.seconds();
  fmt::print("load {:.2f} s, gate {:.2f} s, together {:.2f} s ({:.2f} s of processor time)\n",
             load_seconds, seconds - load_seconds, seconds, measurement.processor_seconds());
  fmt::print("peak {:.0f} MB, {} verdicts\n", measurement.peak_megabytes(), result.verdicts.size());
}

}  // namespace
}  // namespace fusegate::baselines::audit

int main(int argc, char** argv) {
  fusegate::baselines::audit::WrittenSize size;
  CLI::App app("How long the gate takes, and how much memory.");
  app.add_option("--benchmarks", size.benchmarks)->check(CLI::PositiveNumber);
  app.add_option("--processes", size.processes)->check(CLI::PositiveNumber);
  app.add_option("--samples", size.samples)->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  try {
    fusegate::baselines::audit::measure(size);
  } catch (const std::exception& error) {
    fmt::print(stderr, "fusegate_gate_speed: {}\n", error.what());
    return 2;
  }
}
