#include "baselines/formats/nvbench_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
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

// named_in: the file that names the size, for messages.
std::vector<double> read_float32(const Float32File& file, const std::string& named_in) {
  static_assert(sizeof(float) == 4);
  const std::string bytes = read_regular_file(file.path);
  if (bytes.size() != 4 * file.size) {
    throw InputError(file.path.string(), "",
                     fmt::format("has {} bytes, but {} names {} numbers of 4 bytes", bytes.size(),
                                 named_in, file.size));
  }
  std::vector<double> numbers(file.size);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::uint32_t word = 0;
    for (std::size_t byte = 4; byte-- > 0;) {
      word = word << 8 | static_cast<unsigned char>(bytes[4 * i + byte]);
    }
    numbers[i] = std::bit_cast<float>(word);
  }
  return numbers;
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
