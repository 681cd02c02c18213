#include "tests/audit/speed.h"

#include <fmt/format.h>
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>

#include "baselines/io/file_io.h"

namespace fusegate::baselines::audit {
namespace {

namespace fs = std::filesystem;

double processor_seconds_now() {
  return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

// getrusage's peak cannot be reset, /proc's can (man 5 proc, clear_refs and VmHWM).
void reset_peak_memory() {
  if (std::FILE* file = std::fopen("/proc/self/clear_refs", "w")) {
    std::fputs("5", file);
    std::fclose(file);
  }
}

}  // namespace

std::string written_benchmark(int i) {
  return fmt::format("geglu_mlp/fused_pointwise/bf16/batch:{}/seq:128/dim:768/hidden:{}", i % 100,
                     i / 100);
}

std::string written_run_file(const WrittenSize& size, unsigned seed, int first, int step) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::string text =
      R"({"context": {"date": "2026-11-21T01:46:00+00:00", "host_name": "h200", "fusegate":)"
      R"( {"schema_version": 1, "finished": true, "environment": {"device": "NVIDIA H200"}}},)"
      "\n\"benchmarks\": [\n";
  for (int i = first; i < size.benchmarks; i += step) {
    const double center = (2 + i % 300) * (1 + 0.002 * normal(random));
    for (int sample = 0; sample < size.samples; ++sample) {
      const double time_us = center * (1 + 0.005 * normal(random));
      text += fmt::format(
          R"({{"name":"{0}","family_index":{1},"per_family_instance_index":0,"run_name":"{0}",)"
          R"("run_type":"iteration","repetitions":{2},"repetition_index":{3},"threads":1,)"
          R"("iterations":40,"real_time":{4},"cpu_time":{4},"time_unit":"us","process":1,)"
          R"("sm_clock_hz":1978125000.0,"kernel_launches":4.0,"flops":115964116992.0,)"
          R"("min_bytes":226492416.0,"host_ns":10250.5{5}}},)"
          "\n",
          written_benchmark(i), i, size.samples, sample, time_us,
          sample == 0 ? R"(,"details":{"choices":{"gate_proj":"cublaslt algo 66 tile 20"}})" : "");
    }
  }
  text.resize(text.size() - 2);
  return text + "\n]}\n";
}

double folder_megabytes(const fs::path& folder) {
  double bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) bytes += static_cast<double>(entry.file_size());
  }
  return bytes / 1e6;
}

Measurement::Measurement() {
  ::malloc_trim(0);
  reset_peak_memory();
  processor_start_ = processor_seconds_now();
  start_ = std::chrono::steady_clock::now();
}

double Measurement::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

double Measurement::processor_seconds() const { return processor_seconds_now() - processor_start_; }

double Measurement::peak_megabytes() const {
  const std::string status = read_file("/proc/self/status");
  const auto line = status.find("VmHWM:");
  return line == status.npos ? 0 : std::atof(status.c_str() + line + 6) * 1024 / 1e6;
}

}  // namespace fusegate::baselines::audit
