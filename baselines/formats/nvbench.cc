#include "baselines/formats/nvbench.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "baselines/formats/benchmark_list.h"
#include "baselines/formats/float32_file.h"
#include "baselines/formats/sample_range.h"
#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/json_walk.h"

namespace fusegate::baselines {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using simdjson::ondemand::json_type;

constexpr double kSecondNs = 1e9;
constexpr double kMostBytes = 1e18;  // more is no work of one call
constexpr const char* kNoneAccepted = "nvbench accepted none of its samples";
// How nvbench's runner begins the reason where an exception ended the state.
constexpr std::string_view kException = "Unexpected error: ";

// By which summaries a state tells its times.
struct Measurement {
  std::string_view mean, samples, clock, clocks;
};
constexpr Measurement kOnGpu{"nv/cold/time/gpu/mean", "nv/json/bin:nv/cold/sample_times",
                             "nv/cold/sm_clock_rate/mean",
                             "nv/json/freqs-bin:nv/cold/sample_freqs"};
constexpr Measurement kOnCpu{"nv/cpu_only/time/cpu/mean", "nv/json/bin:nv/cpu_only/sample_times",
                             "", ""};

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// nvbench writes its numbers as strings. Nothing where the field holds none; "-nan", which it makes
// of samples that were all discarded, is one.
std::optional<double> number_in(const JsonField& field) {
  if (field.value().is_number()) return field.number();
  if (!field.value().is_string()) return std::nullopt;
  const std::string text = field.text();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

double number_of(const JsonField& field) {
  const auto number = number_in(field);
  if (!number || !std::isfinite(*number)) field.fail("must be a number");
  return *number;
}

// A value of a summary: {"tag": ..., "data": [{"name": ..., "type": ..., "value": ...}, ...]}.
std::optional<JsonField> value_of(const JsonField& summary, std::string_view name) {
  const auto data = summary.find("data");
  if (!data) return std::nullopt;
  for (const JsonField& value : data->elements()) {
    if (value.at("name").text() == name) return value.at("value");
  }
  return std::nullopt;
}

std::optional<JsonField> summary_of(const JsonField& state, std::string_view tag) {
  const auto summaries = state.find("summaries");
  if (!summaries || tag.empty()) return std::nullopt;
  for (const JsonField& summary : summaries->elements()) {
    if (summary.at("tag").text() == tag) return summary;
  }
  return std::nullopt;
}

// NaN where it holds none, and nothing where there is no such summary.
std::optional<double> number_in(const JsonField& state, std::string_view tag) {
  const auto summary = summary_of(state, tag);
  const auto value = summary ? value_of(*summary, "value") : std::nullopt;
  return value ? std::optional(number_in(*value).value_or(kNan)) : std::nullopt;
}

// "/BlockSize:64/NumBlocks:1024".
std::string axis_values(const JsonField& state) {
  std::string text;
  const auto values = state.find("axis_values");
  if (!values) return text;
  for (const JsonField& value : values->elements()) {
    text += fmt::format("/{}:{}", value.at("name").text(), value.at("value").text());
  }
  return text;
}

// What a state tells, before its samples are read.
struct State {
  std::string place;  // "benchmarks[0].states[3]"
  ForeignBenchmark benchmark;
  std::string skip_reason{};
  std::optional<double> clock_hz{};
  std::optional<Float32File> samples{};
  std::optional<Float32File> clocks{};
  bool on_gpu = false;

  bool is_measured() const { return !benchmark.times_ns.empty(); }
};

class NvbenchReader {
 public:
  explicit NvbenchReader(const fs::path& path) : path_(path), source_(path.string()) {}

  ForeignFile read(std::string text) {
    const json rest =
        walk_benchmarks(std::move(text), source_, [this](auto value, std::size_t index) {
          read_benchmark(value.get_object(), fmt::format("benchmarks[{}]", index));
        });
    const JsonField root(rest, source_, "");
    read_meta(root.at(kNvbenchMark));
    if (const auto devices = root.find("devices")) read_devices(*devices);
    file_.protocol = {{kTool, "nvbench"}, {kFigures, read_samples() ? kSamples : kMean}};
    for (State& state : states_) add(std::move(state));
    return std::move(file_);
  }

 private:
  void read_meta(const JsonField& meta) {
    const JsonField version = meta.at("version");
    const JsonField nvbench = version.at("nvbench");
    if (const auto form = version.find("json")) {
      const JsonField major = form->at("major");
      if (major.integer() > kNvbenchJsonVersion) {
        major.fail(fmt::format("{} is newer than this fusegate, which reads up to {}",
                               major.integer(), kNvbenchJsonVersion));
      }
    }
    const std::string commit = nvbench.text_or_empty("git_version");
    file_.toolchain = "nvbench " + nvbench.text_or_empty("string");
    if (!commit.empty()) file_.toolchain += " (" + commit + ")";
  }

  void read_devices(const JsonField& devices) {
    for (const JsonField& device : devices.elements()) {
      if (!device_ || device.at("id").integer() != *device_) continue;
      file_.environment["device"] = device.at("name").text();
      if (const auto ecc = device.find("ecc_state")) file_.environment["ecc"] = ecc->boolean();
    }
  }

  void read_benchmark(simdjson::ondemand::object benchmark, const std::string& place) {
    const std::size_t first = states_.size();
    std::string name;
    for (auto member : benchmark) {
      const std::string_view key = key_of(member);
      simdjson::ondemand::value value = member.value();
      const json_type type = value.type();
      if (key == "name") {
        if (type != json_type::string)
          throw InputError(source_, place + ".name", "must be a string");
        name = text_of(value);
      } else if (key == "states" && type == json_type::array) {
        std::size_t index = 0;
        for (simdjson::ondemand::value state : value.get_array()) {
          read_state(tree_of(state), fmt::format("{}.states[{}]", place, index++));
        }
      } else if (key == "states" && type != json_type::null) {
        throw InputError(source_, place + ".states", "must be an array");
      } else {
        check_json(value);
      }
    }
    if (name.empty()) throw InputError(source_, place + ".name", "is missing");
    name_states(name, first);
  }

  void name_states(const std::string& name, std::size_t first) {
    for (std::size_t i = first; i < states_.size(); ++i) {
      states_[i].benchmark.name.insert(0, name);
      names_.add(states_[i].benchmark.name, source_, states_[i].place);
    }
  }

  void read_state(const json& tree, const std::string& place) {
    const JsonField field(tree, source_, place);
    State state{.place = place, .benchmark = {.name = axis_values(field)}};
    check_device(field);
    if (field.at("is_skipped").boolean()) {
      const std::string reason = field.text_or_empty("skip_reason");
      (reason.starts_with(kException) ? state.benchmark.failure : state.skip_reason) =
          reason.empty() ? "nvbench gives no reason" : reason;
    } else if (!read_times(field, kOnGpu, state) && !read_times(field, kOnCpu, state)) {
      const auto accepted = number_in(field, "nv/cold/sample_size");
      (accepted ? state.benchmark.failure : state.skip_reason) =
          accepted ? kNoneAccepted : "nvbench timed nothing in it";
    }
    states_.push_back(std::move(state));
  }

  // A state without a device ran on the CPU alone.
  void check_device(const JsonField& state) {
    const auto device = state.find("device");
    if (!device) return;
    if (device_ && *device_ != device->integer()) {
      device->fail(
          fmt::format("is {}, and {} before: measure each device into a file of its own "
                      "(--devices {})",
                      device->integer(), *device_, device->integer()));
    }
    device_ = device->integer();
  }

  bool read_times(const JsonField& field, const Measurement& measurement, State& state) {
    const auto summary = summary_of(field, measurement.mean);
    const auto mean = summary ? value_of(*summary, "value") : std::nullopt;
    if (!mean) return false;
    const double time_s = number_in(*mean).value_or(kNan);
    state.benchmark.failure = time_failure(*mean, time_s);
    if (!state.benchmark.failure.empty()) return true;
    state.benchmark.times_ns = {time_s * kSecondNs};
    state.clock_hz = number_in(field, measurement.clock);
    state.samples = samples_of(field, measurement.samples);
    state.clocks = samples_of(field, measurement.clocks);
    state.on_gpu = !measurement.clock.empty();
    if (const auto rate = number_in(field, "nv/cold/bw/global/bytes_per_second")) {
      const double bytes = *rate * time_s;
      if (bytes > 0 && bytes <= kMostBytes) state.benchmark.counters["min_bytes"] = bytes;
    }
    return true;
  }

  // One odd state costs no other. Older nvbench gives a state whose samples it discarded a mean of
  // them.
  static std::string time_failure(const JsonField& mean, double time_s) {
    if (std::isnan(time_s)) {
      const bool is_nan = number_in(mean).has_value();
      return is_nan ? kNoneAccepted : fmt::format("{}: must be a number", mean.path());
    }
    const std::string_view problem = time_problem(time_s * kSecondNs);
    return problem.empty() ? "" : fmt::format("{}: {}", mean.path(), problem);
  }

  // nvbench names a file that it could write. Older ones named it from their working folder, so
  // only its own folder's name counts: it lies beside the JSON file.
  std::optional<Float32File> samples_of(const JsonField& state, std::string_view tag) const {
    const auto summary = summary_of(state, tag);
    const auto name = summary ? value_of(*summary, "filename") : std::nullopt;
    const auto size = summary ? value_of(*summary, "size") : std::nullopt;
    if (!name || !size) return std::nullopt;
    const fs::path given = name->text();
    const fs::path folder = given.parent_path().filename();
    for (const fs::path& part : {folder, given.filename()}) {
      if (part.empty() || part == "." || part == "..") name->fail("must name a folder and a file");
    }
    const double count = number_of(*size);
    if (!(count >= 0 && count <= 1e12)) size->fail("must be a number of samples");
    return Float32File{path_.parent_path() / folder / given.filename(),
                       static_cast<std::size_t>(count)};
  }

  // Whether there are any. Then every state that was measured must have its own: a mean is another
  // quantity.
  bool read_samples() {
    const auto is_there = [](const std::optional<Float32File>& samples) {
      std::error_code error;
      return samples && fs::exists(samples->path, error);
    };
    const auto has_samples = [&](const State& state) { return is_there(state.samples); };
    if (std::ranges::none_of(states_, has_samples)) return false;
    for (State& state : states_) {
      if (!state.is_measured()) continue;
      if (!has_samples(state)) {
        throw InputError(source_, state.place,
                         state.samples ? fmt::format("its samples are missing ({}), and others of "
                                                     "this file are there",
                                                     state.samples->path.string())
                                       : "has no samples, and others of this file have");
      }
      if (state.clocks && state.clocks->size > 0) {
        state.benchmark.clocks_hz = numbers_of(state, *state.clocks);
      }
      std::vector<double>& times = state.benchmark.times_ns;
      times = numbers_of(state, *state.samples);
      if (times.empty()) throw InputError(state.samples->path.string(), "", "holds no sample");
      check_samples(state);
      for (double& time : times) time *= kSecondNs;
    }
    return true;
  }

  // A file of a few MB that 100,000 states name would be read as often.
  std::vector<double> numbers_of(const State& state, const Float32File& file) {
    if (!sample_files_.insert(file.path.lexically_normal()).second) {
      throw InputError(
          source_, state.place,
          fmt::format("another state names its file of samples, too ({})", file.path.string()));
    }
    sample_bytes_ += 4 * file.size;
    if (sample_bytes_ > largest_file()) {
      throw InputError(source_, state.place,
                       fmt::format("with its samples, those of all states are larger than {} MiB; "
                                   "{} lets more be read",
                                   largest_file() >> 20, kLargestFileFlag));
    }
    return read_float32(file, source_);
  }

  static void check_samples(State& state) {
    std::vector<double>& times = state.benchmark.times_ns;
    const auto& clocks = state.benchmark.clocks_hz;
    if (!clocks.empty() && clocks.size() != times.size()) {
      throw InputError(
          state.clocks->path.string(), "",
          fmt::format("holds {} frequencies for {} samples", clocks.size(), times.size()));
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

  void add(State&& state) {
    ForeignBenchmark& benchmark = state.benchmark;
    if (!state.skip_reason.empty()) {
      file_.skipped.emplace(std::move(benchmark.name), std::move(state.skip_reason));
      return;
    }
    if (benchmark.clocks_hz.empty() && state.clock_hz) {
      benchmark.clocks_hz.assign(benchmark.times_ns.size(), *state.clock_hz);
    }
    const bool is_timed = !benchmark.times_ns.empty();
    file_.lacks_clocks |= state.on_gpu && is_timed && benchmark.clocks_hz.empty();
    file_.benchmarks.push_back(std::move(benchmark));
  }

  fs::path path_;
  std::string source_;
  ForeignFile file_;
  std::vector<State> states_;
  UniqueNames names_;
  std::optional<int> device_;  // of all states
  std::set<fs::path> sample_files_;
  std::size_t sample_bytes_ = 0;
};

}  // namespace

ForeignFile read_nvbench(std::string text, const fs::path& path) {
  return NvbenchReader(path).read(std::move(text));
}

}  // namespace fusegate::baselines
