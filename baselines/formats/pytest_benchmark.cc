#include "baselines/formats/pytest_benchmark.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <utility>

#include "baselines/formats/benchmark_list.h"
#include "baselines/io/error.h"
#include "baselines/io/json_walk.h"

namespace fusegate::baselines {
namespace {

using nlohmann::json;

class PytestBenchmarkReader {
 public:
  explicit PytestBenchmarkReader(const std::string& source) : source_(source) {}

  ForeignFile read(std::string text) {
    const json rest =
        walk_benchmarks(std::move(text), source_, [this](auto value, std::size_t index) {
          const json tree = tree_of(value);
          read_test({tree, source_, fmt::format("benchmarks[{}]", index)});
        });
    read_rest({rest, source_, ""});
    file_.protocol = {{kTool, "pytest-benchmark"},
                      {kFigures, have_data_ ? kSamples : kMean},
                      {kTimer, fmt::format("{}", fmt::join(timers_, ", "))}};
    return std::move(file_);
  }

 private:
  void read_rest(const JsonField& root) {
    const JsonField machine = root.at(kPytestBenchmarkMark);
    file_.host = machine.text_or_empty("node");
    if (const auto cpu = machine.find("cpu")) {
      if (const auto brand = cpu->find("brand_raw")) file_.environment["device"] = brand->text();
    }
    const std::string python = fmt::format("{} {}", machine.text_or_empty("python_implementation"),
                                           machine.text_or_empty("python_version"));
    if (python != " ") file_.environment["python"] = python;
    file_.date = root.text_or_empty("datetime");
    file_.toolchain = "pytest-benchmark " + root.text_or_empty("version");
    if (const auto commit = root.find("commit_info")) read_commit(*commit);
  }

  void read_commit(const JsonField& commit) {
    const std::string id = commit.text_or_empty("id");
    if (id != "unversioned" && id != "unknown") file_.commit = id;
    if (const auto dirty = commit.find("dirty")) file_.dirty = dirty->boolean();
  }

  void read_test(const JsonField& test) {
    ForeignBenchmark benchmark{.name = test.at("fullname").text()};
    names_.add(benchmark.name, source_, fmt::format("benchmarks[{}]", file_.benchmarks.size()));
    if (const auto options = test.find("options")) {
      timers_.insert(options->text_or_empty("timer"));
    }
    const JsonField stats = test.at("stats");
    const auto data = stats.find("data");
    if (!file_.benchmarks.empty() && have_data_ != data.has_value()) {
      stats.fail(have_data_ ? "has no data, and other tests of this file have"
                            : "has data, and other tests of this file have none");
    }
    have_data_ = data.has_value();
    if (data) {
      for (const JsonField& time : data->elements()) {
        add_time(time, kSecondNs, benchmark);
      }
      if (benchmark.times_ns.empty() && benchmark.failure.empty()) {
        data->fail("must not be empty");
      }
    } else {
      add_time(stats.at("mean"), kSecondNs, benchmark);
    }
    file_.benchmarks.push_back(std::move(benchmark));
  }

  const std::string& source_;
  ForeignFile file_;
  UniqueNames names_;
  std::set<std::string> timers_;
  bool have_data_ = false;  // the tests so far
};

}  // namespace

ForeignFile read_pytest_benchmark(std::string text, const std::string& source) {
  return PytestBenchmarkReader(source).read(std::move(text));
}

}  // namespace fusegate::baselines
