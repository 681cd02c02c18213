// What the programs that measure speed and memory share: run files in the form that fusegate_bench
// writes them, and what a step takes.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

namespace fusegate::baselines::audit {

struct WrittenSize {
  int benchmarks = 10'000;
  int processes = 5;
  int samples = 3;
};

std::string written_benchmark(int i);

// Of the benchmarks first, first + step, ... Processes differ by 0.2 % and samples by 0.5 %, about
// as on a GPU.
std::string written_run_file(const WrittenSize& size, unsigned seed, int first = 0, int step = 1);

double folder_megabytes(const std::filesystem::path& folder);

// From its start on. What was written before is no part of the peak.
class Measurement {
 public:
  Measurement();

  double seconds() const;
  // On a busy machine it says more than the clock on the wall.
  double processor_seconds() const;
  double peak_megabytes() const;

 private:
  std::chrono::steady_clock::time_point start_;
  double processor_start_;
};

}  // namespace fusegate::baselines::audit
