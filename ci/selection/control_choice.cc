#include "ci/selection/control_choice.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <ranges>
#include <tuple>
#include <utility>

namespace fusegate::ci {
namespace {

// What is between the slashes of a name: operation, implementation, sizes.
std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts;
  for (const auto part : std::views::split(name, '/')) parts.emplace_back(part.begin(), part.end());
  return parts;
}

// The product of the sizes in a name, "batch:64/seq:128": what a call does goes with it.
double sizes_of(const std::string& name) {
  double product = 1;
  for (const std::string& part : parts_of(name)) {
    const std::size_t colon = part.find(':');
    if (colon == part.npos) continue;
    double size = 0;
    const char* const end = part.data() + part.size();
    const auto [rest, error] = std::from_chars(part.data() + colon + 1, end, size);
    if (error == std::errc() && rest == end && size > 0) product *= size;
  }
  return product;
}

bool has_counters(const KnownBenchmark& benchmark) {
  return benchmark.flops >= 0 && benchmark.min_bytes > 0;
}

// How long calls take, by what is known of all of them. Only the order counts.
class Durations {
 public:
  explicit Durations(const std::vector<KnownBenchmark>& all) {
    has_times_ = std::ranges::all_of(
        all, [](const KnownBenchmark& benchmark) { return benchmark.time_ns > 0; });
    has_counters_ = std::ranges::all_of(all, has_counters);
    double sum = 0;
    int count = 0;
    for (const KnownBenchmark& benchmark : all) {
      if (!has_counters(benchmark) || benchmark.flops == 0) continue;
      sum += std::log(benchmark.flops / benchmark.min_bytes);
      ++count;
    }
    if (count > 0) intensity_ = std::exp(sum / count);
  }

  double of(const KnownBenchmark& benchmark) const {
    return has_times_ ? benchmark.time_ns : work_of(benchmark);
  }
  // In bytes, where counters are known: those that are moved, and as many as a benchmark of the
  // mean intensity moves for the same FLOPs.
  double work_of(const KnownBenchmark& benchmark) const {
    if (!has_counters_) return sizes_of(benchmark.name);
    const double flops = intensity_ > 0 ? benchmark.flops / intensity_ : 0;
    return benchmark.min_bytes + flops;
  }
  // 0: memory, 1: arithmetic, 2: not known.
  int bound_of(const KnownBenchmark& benchmark) const {
    if (!has_counters(benchmark)) return 2;
    return benchmark.flops / benchmark.min_bytes < intensity_ ? 0 : 1;
  }

 private:
  bool has_times_ = false;
  bool has_counters_ = false;
  double intensity_ = 0;  // FLOPs a byte, the geometric mean
};

// A benchmark of identical code, its kind, and what it costs.
struct Option {
  const KnownBenchmark* benchmark = nullptr;
  std::pair<int, int> kind;  // third of duration, bound
  std::tuple<bool, double, std::string> cost;
};

// The durations that part what differs in thirds.
std::vector<double> thirds_of(const std::vector<KnownBenchmark>& benchmarks,
                              const Durations& durations) {
  constexpr std::size_t kThirds = 3;
  std::vector<double> values;
  for (const KnownBenchmark& benchmark : benchmarks) values.push_back(durations.of(benchmark));
  std::ranges::sort(values);
  std::vector<double> edges;
  for (std::size_t third = 1; third < kThirds && !values.empty(); ++third) {
    edges.push_back(values[third * values.size() / kThirds]);
  }
  return edges;
}

std::vector<Option> options_of(const std::vector<KnownBenchmark>& identical,
                               const std::vector<KnownBenchmark>& differing) {
  std::vector<KnownBenchmark> all = identical;
  all.insert(all.end(), differing.begin(), differing.end());
  const Durations durations(all);
  const std::vector<double> edges = thirds_of(differing.empty() ? identical : differing, durations);
  std::vector<Option> options;
  for (const KnownBenchmark& benchmark : identical) {
    const auto third = std::ranges::upper_bound(edges, durations.of(benchmark)) - edges.begin();
    options.push_back({&benchmark,
                       {static_cast<int>(third), durations.bound_of(benchmark)},
                       {benchmark.chooses, durations.work_of(benchmark), benchmark.name}});
  }
  std::ranges::sort(options, {}, &Option::cost);
  return options;
}

}  // namespace

std::vector<std::string> controls_for_stored(const std::vector<KnownBenchmark>& identical) {
  std::vector<std::string> controls;
  std::map<std::string, int> counts;  // of the parts of those that were taken
  const auto take = [&](const std::string& name) {
    for (const std::string& part : parts_of(name)) ++counts[part];
    controls.push_back(name);
  };
  std::vector<std::string> left;
  for (const KnownBenchmark& benchmark : identical) {
    benchmark.is_control ? take(benchmark.name) : left.push_back(benchmark.name);
  }
  while (controls.size() < kControls && !left.empty()) {
    const auto next = std::ranges::min_element(left, {}, [&](const std::string& name) {
      int sum = 0;
      for (const std::string& part : parts_of(name)) sum += counts[part];
      return sum;
    });
    take(*next);
    left.erase(next);
  }
  return controls;
}

std::vector<std::string> controls_side_by_side(const std::vector<KnownBenchmark>& identical,
                                               const std::vector<KnownBenchmark>& differing,
                                               std::size_t most) {
  std::vector<Option> left = options_of(identical, differing);
  std::vector<std::string> controls;
  std::map<int, int> of_third;
  std::map<std::pair<int, int>, int> taken;  // of each kind
  const auto take = [&](std::vector<Option>::iterator option) {
    controls.push_back(option->benchmark->name);
    ++of_third[option->kind.first];
    ++taken[option->kind];
    left.erase(option);
  };
  while (controls.size() < most && !left.empty()) {
    const auto declared = std::ranges::find_if(
        left, [](const Option& option) { return option.benchmark->is_control; });
    // The cheapest of the kinds that have fewest, of the thirds that have fewest: they are sorted,
    // and the first is taken.
    take(declared != left.end() ? declared
                                : std::ranges::min_element(left, {}, [&](const Option& one) {
                                    return std::pair(of_third[one.kind.first], taken[one.kind]);
                                  }));
  }
  return controls;
}

}  // namespace fusegate::ci
