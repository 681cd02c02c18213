#include "baselines/formats/nvbench_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "baselines/formats/sample_range.h"
#include "baselines/io/error.h"
#include "baselines/io/file_io.h"

namespace fusegate::baselines {
namespace {

namespace fs = std::filesystem;

bool has_samples(const NvbenchState& state) {
  std::error_code error;
  return state.samples && fs::exists(state.samples->path, error);
}

void check_samples(NvbenchState& state) {
  std::vector<double>& times = state.benchmark.times_ns;
  const auto& clocks = state.benchmark.clocks_hz;
  if (!clocks.empty() && clocks.size() != times.size()) {
    throw InputError(state.clocks->path.string(), "",
                     fmt::format("has {} frequencies for {} samples", clocks.size(), times.size()));
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (const auto problem = time_problem(times[i] * kSecondNs); !problem.empty()) {
      state.benchmark.failure =
          fmt::format("{}: sample {}: {}", state.samples->path.string(), i + 1, problem);
      times.clear();
      state.benchmark.clocks_hz.clear();
      return;
    }
  }
}

class SampleFiles {
 public:
  explicit SampleFiles(const std::string& source) : source_(source) {}

  void read_into(NvbenchState& state) {
    if (!has_samples(state)) {
      throw InputError(
          source_, state.path,
          state.samples ? fmt::format("its samples are missing ({}), and other states have theirs",
                                      state.samples->path.string())
                        : "has no samples, and other states have");
    }
    if (state.clocks && state.clocks->size > 0) {
      state.benchmark.clocks_hz = numbers_of(state, *state.clocks);
    }
    std::vector<double>& times = state.benchmark.times_ns;
    times = numbers_of(state, *state.samples);
    if (times.empty()) throw InputError(state.samples->path.string(), "", "has no sample");
    check_samples(state);
    for (double& time : times) time *= kSecondNs;
  }

 private:
  // Each file once: 100,000 states that name one file of a few MB would fill the memory.
  std::vector<double> numbers_of(const NvbenchState& state, const Float32File& file) {
    if (!files_.insert(file.path.lexically_normal()).second) {
      throw InputError(
          source_, state.path,
          fmt::format("another state has the same file of samples, {}", file.path.string()));
    }
    bytes_ += 4 * file.size;
    if (bytes_ > largest_file()) {
      throw InputError(source_, state.path,
                       fmt::format("all samples together are larger than {} MiB; raise the limit "
                                   "with {}",
                                   largest_file() >> 20, kLargestFileFlag));
    }
    return read_float32(file, source_);
  }

  const std::string& source_;
  std::set<fs::path> files_;
  std::size_t bytes_ = 0;
};

}  // namespace

bool read_nvbench_samples(std::vector<NvbenchState>& states, const std::string& source) {
  if (std::ranges::none_of(states, has_samples)) return false;
  SampleFiles files(source);
  for (NvbenchState& state : states) {
    if (state.is_measured()) files.read_into(state);
  }
  return true;
}

}  // namespace fusegate::baselines
