// How long shards take to be merged and how much memory: writes a suite's shards in the form that
// fusegate writes them, then merges them.
//
//   fusegate_merge_speed [--shards=64] [--benchmarks=10000] [--processes=5] [--samples=3]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "baselines/io/file_io.h"
#include "baselines/io/parallel.h"
#include "baselines/io/scratch_folder.h"
#include "ci/processes/run_record.h"
#include "ci/shards/merging.h"
#include "tests/audit/speed.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
namespace audit = baselines::audit;

struct Options {
  int shards = 64;
  audit::WrittenSize size{};  // of the suite
};

// number: from 1.
void write_shard(const fs::path& folder, int number, const Options& options) {
  RunRecord record;
  record.suite = "nightly";
  record.session = std::to_string(number);
  record.finished = true;
  record.shard = ShardRecord{.plan = "p", .number = number, .of = options.shards};
  for (int i = number - 1; i < options.size.benchmarks; i += options.shards) {
    record.shard->benchmarks.push_back(audit::written_benchmark(i));
  }
  for (int process = 1; process <= options.size.processes; ++process) {
    const std::string file = fmt::format("{}.json", process);
    const auto seed = static_cast<unsigned>(number * options.size.processes + process);
    baselines::write_atomically(
        folder / file, audit::written_run_file(options.size, seed, number - 1, options.shards));
    record.processes.push_back({.file = file, .block = process});
  }
  write_run_record(folder, record);
}

void measure(const Options& options) {
  const baselines::ScratchFolder folder;
  std::vector<fs::path> shards;
  for (int i = 1; i <= options.shards; ++i) {
    shards.push_back(folder.path() / fmt::format("shard-{}", i));
  }
  baselines::in_parallel(shards.size(), [&](std::size_t i) {
    write_shard(shards[i], static_cast<int>(i) + 1, options);
  });
  fmt::print("{} shards of {} benchmarks x {} processes x {} samples, {:.0f} MB\n", options.shards,
             options.size.benchmarks, options.size.processes, options.size.samples,
             audit::folder_megabytes(folder.path()));
  const audit::Measurement measurement;
  const std::vector<MergedRun> merged = merge_shards(shards, folder.path() / "merged");
  const double seconds = measurement.seconds();
  fmt::print("merge {:.2f} s ({:.2f} s of processor time), peak {:.0f} MB, {} benchmarks\n",
             seconds, measurement.processor_seconds(), measurement.peak_megabytes(),
             merged.front().benchmarks);
}

}  // namespace
}  // namespace fusegate::ci

int main(int argc, char** argv) {
  fusegate::ci::Options options;
  CLI::App app("How long shards take to be merged, and how much memory.");
  app.add_option("--shards", options.shards)->check(CLI::PositiveNumber);
  app.add_option("--benchmarks", options.size.benchmarks)->check(CLI::PositiveNumber);
  app.add_option("--processes", options.size.processes)->check(CLI::PositiveNumber);
  app.add_option("--samples", options.size.samples)->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  try {
    fusegate::ci::measure(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "fusegate_merge_speed: {}\n", error.what());
    return 2;
  }
}
