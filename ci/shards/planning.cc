#include "ci/shards/planning.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <sstream>
#include <utility>

#include "baselines/io/content_hash.h"
#include "baselines/io/error.h"
#include "baselines/io/json_field.h"
#include "baselines/io/pattern.h"
#include "ci/console/format.h"
#include "ci/processes/child_process.h"
#include "ci/processes/google_benchmark.h"
#include "ci/selection/budget.h"
#include "ci/selection/selection.h"

namespace fusegate::ci {
namespace {

using baselines::InputError;

constexpr double kFullAt = 1.02;  // of the mean load
constexpr double kListingTimeoutS = 300;
// Of the cards of a host.
constexpr double kStartingShare = 0.05;
constexpr int kMostShardsOfCard = 8;
// Where nothing is known of times, and some shards may take twice as long as others.
constexpr int kUsualShardsOfCard = 4;
// What fusegate's programs append to names when they list them.
constexpr std::string_view kSuffix = "/manual_time";

// How much a shard is to a name's liking.
std::uint64_t preference(const std::string& name, std::size_t shard) {
  baselines::ContentHash hash;
  hash.add(std::uint64_t{shard});
  hash.add(name);
  // FNV's last bytes stir its upper bits little: the finalizer of SplitMix64 (G. L. Steele et al.,
  // "Fast splittable pseudorandom number generators", 2014).
  std::uint64_t bits = hash.value();
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

std::size_t shard_for(const std::string& name, double cost, const std::vector<double>& loads,
                      double full) {
  std::optional<std::pair<std::uint64_t, std::size_t>> best;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (loads[i] + cost > full) continue;
    best = std::max(best, std::optional(std::pair(preference(name, i), i)));
  }
  return best ? best->second
              : static_cast<std::size_t>(std::ranges::min_element(loads) - loads.begin());
}

using CostAndName = std::pair<double, std::string>;

std::vector<CostAndName> costliest_first(const std::map<std::string, double>& costs,
                                         const std::set<std::string>& controls) {
  std::vector<CostAndName> order;
  for (const auto& [name, cost] : costs) {
    if (!controls.contains(name)) order.emplace_back(cost, name);
  }
  std::ranges::sort(order, [](const CostAndName& a, const CostAndName& b) {
    return std::pair(-a.first, a.second) < std::pair(-b.first, b.second);
  });
  return order;
}

// Without controls.
ShardPlan dealt(const PlanRequest& request, const std::vector<CostAndName>& order) {
  ShardPlan plan{.suite = request.suite};
  plan.shards.resize(static_cast<std::size_t>(request.shards));
  double total = 0;
  for (const auto& [cost, name] : order) total += cost;
  const double full = kFullAt * total / request.shards;
  std::vector<double> loads(plan.shards.size());
  for (const auto& [cost, name] : order) {
    const std::size_t shard = shard_for(name, cost, loads, full);
    loads[shard] += cost;
    plan.shards[shard].benchmarks.push_back(name);
  }
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (request.costs_are_seconds) plan.shards[i].expected_s = loads[i];
    std::ranges::sort(plan.shards[i].benchmarks);
  }
  return plan;
}

// The first shard that does not fit in one argument, from 1; 0 where all do.
std::size_t shard_with_long_names(const ShardPlan& plan) {
  for (std::size_t i = 0; i < plan.shards.size(); ++i) {
    std::vector<std::string> names = plan.shards[i].benchmarks;
    names.insert(names.end(), plan.controls.begin(), plan.controls.end());
    if (!benchmark_filter_flag(names)) return i + 1;
  }
  return 0;
}

// child: the program with its flags.
std::string ask(ChildProcess child, const std::string& question) {
  const std::string program = child.arguments.front();
  child.arguments.push_back(question);
  const ChildOutput output = collect_output(std::move(child));
  if (output.failure.empty()) return output.out;
  throw InputError(program, question,
                   output.failure + "; plan where it can run, or name a run with --from");
}

std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with(kSuffix)) line.resize(line.size() - kSuffix.size());
    if (!line.empty()) names.push_back(line);
  }
  return names;
}

double call_ns(const KnownBenchmark& benchmark) {
  return benchmark.time_ns > 0 ? benchmark.time_ns : 0;
}

// What processes of the run took over what their samples take by its protocol, of all benchmarks
// that this is known of; 1 where it is known of none.
double factor_of(std::span<const KnownBenchmark> benchmarks, const nlohmann::json& protocol) {
  double elapsed_s = 0, of_samples_s = 0;
  for (const KnownBenchmark& benchmark : benchmarks) {
    if (!(benchmark.elapsed_s > 0)) continue;
    elapsed_s += benchmark.elapsed_s;
    of_samples_s += samples_s(protocol, call_ns(benchmark));
  }
  return of_samples_s > 0 ? elapsed_s / of_samples_s : 1;
}

}  // namespace

ShardPlan make_plan(const PlanRequest& request) {
  const std::set<std::string> controls(request.controls.begin(), request.controls.end());
  const auto order = costliest_first(request.costs, controls);
  const auto shards = static_cast<std::size_t>(request.shards);
  if (shards > order.size()) {
    throw InputError("--shards", "",
                     fmt::format("{} for {} besides controls; a shard has one at least", shards,
                                 format_count(order.size(), "benchmark")));
  }
  ShardPlan plan = dealt(request, order);
  plan.controls.assign(controls.begin(), controls.end());
  const std::size_t too_long = shard_with_long_names(plan);
  if (too_long == 0) return plan;
  if (request.may_make_more && 2 * shards <= order.size()) {
    PlanRequest more = request;
    more.shards *= 2;
    return make_plan(more);
  }
  throw InputError(
      "--shards", "",
      fmt::format("shard {} has {}, whose names are too long for one argument of a program; make "
                  "more shards",
                  too_long,
                  format_count(plan.shards[too_long - 1].benchmarks.size() + plan.controls.size(),
                               "benchmark")));
}

void set_shards(std::size_t cards, double start_s, PlanRequest& request) {
  double work_s = 0, controls_s = 0;
  for (const auto& [name, cost] : request.costs) {
    const bool is_control = std::ranges::find(request.controls, name) != request.controls.end();
    (is_control ? controls_s : work_s) += cost;
  }
  int each = kUsualShardsOfCard;
  if (request.costs_are_seconds) {
    const double of_card_s = kStartingShare * work_s / static_cast<double>(cards);
    each = std::clamp(static_cast<int>(of_card_s / (start_s + controls_s)), 1, kMostShardsOfCard);
  }
  const std::size_t most = request.costs.size() - request.controls.size();
  request.shards = static_cast<int>(std::clamp<std::size_t>(cards * static_cast<std::size_t>(each),
                                                            1, std::max<std::size_t>(most, 1)));
}

ProgramSuite suite_of_program(const std::string& program, const std::string& suite,
                              const std::vector<std::string>& flags,
                              const std::map<std::string, std::string>& environment) {
  if (auto google = ask_for_google_benchmark(program, flags)) {
    if (!google->benchmarks.empty()) return {.benchmarks = std::move(google->benchmarks)};
    throw InputError(program, "--benchmark_list_tests", "lists nothing");
  }
  ChildProcess child{.arguments = {program, "--suite=" + suite},
                     .environment = environment,
                     .timeout_s = kListingTimeoutS};
  child.arguments.insert(child.arguments.end(), flags.begin(), flags.end());
  ProgramSuite result;
  const nlohmann::json json = baselines::parse_json(ask(child, "--plan"), program);
  const baselines::JsonField plan(json, program, "");
  if (const auto benchmarks = plan.find("benchmarks")) {
    for (const baselines::JsonField& name : benchmarks->elements()) {
      result.benchmarks.push_back(name.text());
    }
  } else {  // a program of before
    result.benchmarks = listed(ask(child, "--benchmark_list_tests=true"));
  }
  if (result.benchmarks.empty()) throw InputError(program, "--plan", "lists nothing");
  const baselines::JsonField context = plan.at("fusegate");
  if (const auto controls = context.find("controls")) {
    for (const baselines::JsonField& name : controls->elements()) {
      result.controls.push_back(name.text());
    }
  }
  if (const auto protocol = context.find("protocol")) result.protocol = protocol->value();
  return result;
}

ProgramSuite suite_of_run(const baselines::Run& run) {
  ProgramSuite result{.protocol = run.provenance.protocol};
  for (const baselines::BenchmarkSeries& series : run.benchmarks) {
    result.benchmarks.push_back(series.name);
    if (series.is_control) result.controls.push_back(series.name);
  }
  return result;
}

void name_controls(const std::vector<std::string>& patterns, ProgramSuite& suite) {
  for (const std::string& text : patterns) {
    const baselines::Pattern pattern(text);
    const std::size_t before = suite.controls.size();
    std::ranges::copy_if(suite.benchmarks, std::back_inserter(suite.controls),
                         [&](const std::string& name) { return pattern.fits(name); });
    if (suite.controls.size() > before) continue;
    throw InputError("--control", "", fmt::format("\"{}\" matches no benchmark", text));
  }
}

void set_costs(const ProgramSuite& suite, const std::optional<baselines::Run>& known,
               PlanRequest& request) {
  const nlohmann::json& protocol =
      known && suite.protocol.is_null() ? known->provenance.protocol : suite.protocol;
  const std::set<std::string> names(suite.benchmarks.begin(), suite.benchmarks.end());
  std::vector<ComparedRuns> runs;
  if (known) runs.push_back({*known, *known});
  request.costs_are_seconds = samples_s(protocol, 0) > 0;
  const std::vector<KnownBenchmark> benchmarks = known_benchmarks(names, runs);
  const nlohmann::json& known_protocol = known ? known->provenance.protocol : protocol;
  const double usual = factor_of(benchmarks, known_protocol);
  for (const KnownBenchmark& benchmark : benchmarks) {
    const double factor =
        benchmark.elapsed_s > 0 ? factor_of({&benchmark, 1}, known_protocol) : usual;
    request.costs[benchmark.name] =
        request.costs_are_seconds ? factor * samples_s(protocol, call_ns(benchmark)) : 1;
  }
  const std::set<std::string> controls(suite.controls.begin(), suite.controls.end());
  request.controls.assign(controls.begin(), controls.end());
}

}  // namespace fusegate::ci
