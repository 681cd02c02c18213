#include "baselines/formats/nvbench.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "baselines/formats/benchmark_list.h"
#include "baselines/formats/nvbench_samples.h"
#include "baselines/formats/nvbench_state.h"
#include "baselines/io/error.h"
#include "baselines/io/json_walk.h"

namespace fusegate::baselines {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using simdjson::ondemand::json_type;

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
    file_.protocol = {{kTool, "nvbench"},
                      {kFigures, read_nvbench_samples(states_, source_) ? kSamples : kMean}};
    for (NvbenchState& state : states_) add(std::move(state));
    return std::move(file_);
  }

 private:
  void read_meta(const JsonField& meta) {
    const JsonField version = meta.at("version");
    const JsonField nvbench = version.at("nvbench");
    if (const auto form = version.find("json")) {
      const JsonField major = form->at("major");
      if (major.integer() > kNvbenchJsonVersion) {
        major.fail(fmt::format("version {} is newer than this fusegate reads ({}); update fusegate",
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

  void read_benchmark(simdjson::ondemand::object benchmark, const std::string& path) {
    const std::size_t first = states_.size();
    std::string name;
    for (auto member : benchmark) {
      const std::string_view key = key_of(member);
      simdjson::ondemand::value value = member.value();
      const json_type type = value.type();
      if (key == "name") {
        if (type != json_type::string)
          throw InputError(source_, path + ".name", "must be a string");
        name = text_of(value);
      } else if (key == "states" && type == json_type::array) {
        std::size_t index = 0;
        for (simdjson::ondemand::value state : value.get_array()) {
          read_state(tree_of(state), fmt::format("{}.states[{}]", path, index++));
        }
      } else if (key == "states" && type != json_type::null) {
        throw InputError(source_, path + ".states", "must be an array");
      } else {
        check_json(value);
      }
    }
    if (name.empty()) throw InputError(source_, path + ".name", "is missing");
    name_states(name, first);
  }

  void name_states(const std::string& name, std::size_t first) {
    for (std::size_t i = first; i < states_.size(); ++i) {
      states_[i].benchmark.name.insert(0, name);
      names_.add(states_[i].benchmark.name, source_, states_[i].path);
    }
  }

  void read_state(const json& tree, const std::string& path) {
    const JsonField field(tree, source_, path);
    check_device(field);
    states_.push_back(read_nvbench_state(field, path_.parent_path()));
  }

  // A state without a device ran on the CPU alone.
  void check_device(const JsonField& state) {
    const auto device = state.find("device");
    if (!device) return;
    if (device_ && *device_ != device->integer()) {
      device->fail(
          fmt::format("is {}, but {} in states before; measure each device into its own file "
                      "(--devices {})",
                      device->integer(), *device_, device->integer()));
    }
    device_ = device->integer();
  }

  void add(NvbenchState&& state) {
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
  std::vector<NvbenchState> states_;
  UniqueNames names_;
  std::optional<int> device_;  // of all states
};

}  // namespace

ForeignFile read_nvbench(std::string text, const fs::path& path) {
  return NvbenchReader(path).read(std::move(text));
}

}  // namespace fusegate::baselines
