#include "baselines/formats/criterion.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "baselines/formats/benchmark_list.h"
#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"

namespace fusegate::baselines {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBenchmarkFile = "benchmark.json";
constexpr const char* kSampleFile = "sample.json";
constexpr const char* kEstimatesFile = "estimates.json";
// A group, a function and a value below a tree, and what the caller puts above it.
constexpr int kDeepest = 12;

nlohmann::json tree_of_file(const fs::path& path) {
  return parse_json(read_regular_file(path), path.string());
}

// Every "new" with a benchmark in it, at or below the folder.
std::vector<fs::path> results_below(const fs::path& folder) {
  std::vector<fs::path> results;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry.depth() >= kDeepest) entry.disable_recursion_pending();
    const fs::path& path = entry->path();
    if (path.filename() != "new" || !fs::exists(path / kBenchmarkFile)) continue;
    results.push_back(path);
    entry.disable_recursion_pending();
  }
  if (error) throw InputError(folder.string(), "", "cannot read the folder: " + error.message());
  std::ranges::sort(results);
  return results;
}

// The folder above "directory_name", which is "group/function/value" and lies in it.
fs::path tree_above(const fs::path& result) {
  const fs::path file = result / kBenchmarkFile;
  const nlohmann::json benchmark = tree_of_file(file);
  const JsonField name = JsonField(benchmark, file.string(), "").at("directory_name");
  fs::path above = fs::absolute(result).lexically_normal().parent_path();
  const fs::path told = name.text();
  for (auto part = told.end(); part != told.begin();) {
    --part;
    if (above.filename() != *part) {
      name.fail(fmt::format("is \"{}\", and the benchmark does not lie there", told.string()));
    }
    above = above.parent_path();
  }
  return above;
}

// "run/9" before "run/10".
bool in_number_order(const fs::path& a, const fs::path& b) {
  const auto key = [](const fs::path& part) {
    const std::string text = part.string();
    return std::pair(text.size(), text);
  };
  return std::ranges::lexicographical_compare(a, b, {}, key, key);
}

void add_samples(const JsonField& sample, ForeignBenchmark& benchmark) {
  const auto iterations = sample.at("iters").elements();
  const auto times = sample.at("times").elements();
  if (times.size() != iterations.size() || times.empty()) {
    sample.at("times").fail(
        fmt::format("has {} values, and \"iters\" {}", times.size(), iterations.size()));
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double count = iterations[i].number();
    if (count > 0) {
      add_time(times[i], 1 / count, benchmark);
    } else if (benchmark.failure.empty()) {
      benchmark.failure =
          fmt::format("{}: must be positive, but is {}", iterations[i].path(), count);
    }
  }
}

void add_mean(const fs::path& path, ForeignBenchmark& benchmark) {
  const nlohmann::json estimates = tree_of_file(path);
  const JsonField mean = JsonField(estimates, path.string(), "").at("mean");
  add_time(mean.at("point_estimate"), 1, benchmark);
}

}  // namespace

std::vector<fs::path> criterion_trees(const fs::path& folder) {
  std::set<fs::path> trees;
  const fs::path absolute = fs::absolute(folder).lexically_normal();
  for (const fs::path& result : results_below(folder)) {
    // As the caller named it, so that messages and reports do. Somebody may name a part of a tree.
    const fs::path inside = tree_above(result).lexically_relative(absolute);
    const bool is_all = inside.empty() || inside == "." || *inside.begin() == "..";
    trees.insert(is_all ? folder : folder / inside);
  }
  std::vector<fs::path> sorted(trees.begin(), trees.end());
  std::ranges::sort(sorted, in_number_order);
  return sorted;
}

ForeignFile read_criterion(const fs::path& tree) {
  ForeignFile file;
  UniqueNames names;
  std::set<std::string> figures;
  for (const fs::path& result : results_below(tree)) {
    const fs::path about = result / kBenchmarkFile;
    const nlohmann::json benchmark = tree_of_file(about);
    ForeignBenchmark& added = file.benchmarks.emplace_back();
    added.name = JsonField(benchmark, about.string(), "").at("full_id").text();
    names.add(added.name, about.string(), "full_id");
    const fs::path samples = result / kSampleFile;
    const bool has_samples = fs::exists(samples);
    if (has_samples) {
      const nlohmann::json sample = tree_of_file(samples);
      add_samples(JsonField(sample, samples.string(), ""), added);
    } else {
      add_mean(result / kEstimatesFile, added);
    }
    figures.insert(has_samples ? kSamples : kMean);
    if (figures.size() > 1) {
      throw InputError(samples.string(), "",
                       has_samples ? "is there, and other benchmarks of this process have none"
                                   : "is missing, and other benchmarks of this process have one");
    }
  }
  if (figures.empty()) throw InputError(tree.string(), "", "holds no result of criterion");
  file.toolchain = "criterion";
  file.protocol = {{kTool, "criterion"}, {kFigures, *figures.begin()}};
  return file;
}

}  // namespace fusegate::baselines
