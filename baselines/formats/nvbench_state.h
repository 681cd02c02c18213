// One state of an nvbench file: a benchmark at one combination of its axes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "baselines/formats/foreign_file.h"
#include "baselines/io/json_field.h"

namespace fusegate::baselines {

// Of little-endian float32 numbers and nothing else, as --jsonbin writes them.
struct Float32File {
  std::filesystem::path path;
  std::size_t size = 0;  // how many it is said to hold
};

struct NvbenchState {
  std::string path;            // "benchmarks[0].states[3]"
  ForeignBenchmark benchmark;  // its name without the benchmark's; its time is the mean
  std::string skip_reason{};
  std::optional<double> clock_hz{};
  std::optional<Float32File> samples{};  // in s
  std::optional<Float32File> clocks{};   // in Hz
  bool on_gpu = false;

  bool is_measured() const { return !benchmark.times_ns.empty(); }
};

// folder: of the nvbench file, which the files of samples are named from. Throws InputError.
NvbenchState read_nvbench_state(const JsonField& field, const std::filesystem::path& folder);

}  // namespace fusegate::baselines
