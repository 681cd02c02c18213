#include "ci/peers/peer_comparison.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <ranges>
#include <set>
#include <tuple>

#include "ci/sweep/benchmark_figures.h"
#include "ci/sweep/sweep_axis.h"

namespace fusegate::ci {
namespace {

const MeasuredImplementation* fastest(const std::vector<MeasuredImplementation>& all) {
  const MeasuredImplementation* best = nullptr;
  for (const MeasuredImplementation& one : all) {
    if (std::isfinite(one.time_ns) && (best == nullptr || one.time_ns < best->time_ns)) best = &one;
  }
  return best;
}

// Shape, along the axis, and how M is split.
using ProblemKey = std::tuple<Shape, std::int64_t, Shape>;
using ByProblem = std::map<ProblemKey, ProblemComparison>;
using ByOperation = std::map<std::pair<std::string, std::string>, ByProblem>;

void add(const std::vector<BenchmarkFigures>& run, const MeasuredRates* rates,
         const SweepAxes& axes, std::vector<MeasuredImplementation> ProblemComparison::*side,
         ByOperation* operations) {
  for (const BenchmarkFigures& figures : run) {
    auto name = baselines::parse_benchmark_name(figures.name);
    if (!name || figures.is_control) continue;
    const SweepPosition position = axes.position(*name);
    ProblemComparison& comparison = (*operations)[{name->operation, baselines::dtype_text(*name)}]
                                                 [{position.shape, position.along, position.split}];
    MeasuredImplementation measured{
        .name = name->implementation, .time_ns = figures.time_ns, .energy_j = figures.energy_j};
    if (rates != nullptr) {
      measured.roofline_time = roofline_time_of(figures, *rates);
      measured.bottlenecks = bottlenecks_of(figures, measured.roofline_time, *rates);
    }
    (comparison.*side).push_back(std::move(measured));
    name->implementation.clear();
    comparison.problem = std::move(*name);
  }
}

std::vector<std::string> names_of(const std::vector<ProblemComparison>& problems,
                                  std::vector<MeasuredImplementation> ProblemComparison::*side) {
  std::set<std::string> names;
  for (const ProblemComparison& problem : problems) {
    for (const MeasuredImplementation& measured : problem.*side) names.insert(measured.name);
  }
  return {names.begin(), names.end()};
}

OperationComparison operation_comparison(const std::pair<std::string, std::string>& key,
                                         const ByProblem& by_problem) {
  OperationComparison comparison{key.first, key.second, {}, {}, {}};
  std::ranges::copy(by_problem | std::views::values, std::back_inserter(comparison.problems));
  comparison.ours = names_of(comparison.problems, &ProblemComparison::ours);
  comparison.peers = names_of(comparison.problems, &ProblemComparison::peers);
  return comparison;
}

constexpr const char* kRooflineNote =
    "roofline time: max(FLOPs / measured GEMM rate, bytes / measured copy bandwidth) of our best "
    "implementation; gap: its time over that. Both rates are measured in this run and are not "
    "limits: a gap below 1 is faster, as where the L2 serves what the copy had to fetch";

bool has_ratios(const OperationComparison& operation) {
  return std::ranges::any_of(operation.problems, [](const ProblemComparison& problem) {
    return std::isfinite(problem.ratio());
  });
}

}  // namespace

const MeasuredImplementation* ProblemComparison::our_best() const { return fastest(ours); }

const MeasuredImplementation* ProblemComparison::best_peer() const { return fastest(peers); }

double ProblemComparison::ratio() const {
  const MeasuredImplementation* own = our_best();
  const MeasuredImplementation* peer = best_peer();
  return own != nullptr && peer != nullptr ? own->time_ns / peer->time_ns
                                           : std::numeric_limits<double>::quiet_NaN();
}

bool OperationComparison::has_energies() const {
  const auto is_known = [](const MeasuredImplementation* best) {
    return best != nullptr && std::isfinite(best->energy_j);
  };
  return std::ranges::any_of(problems, [&](const ProblemComparison& problem) {
    return is_known(problem.our_best()) || is_known(problem.best_peer());
  });
}

bool OperationComparison::has_roofline_times() const {
  return std::ranges::any_of(problems, [](const ProblemComparison& problem) {
    const MeasuredImplementation* best = problem.our_best();
    return best != nullptr && std::isfinite(best->roofline_time.ns);
  });
}

PeerComparison peer_comparison(const baselines::Run& ours, std::span<const baselines::Run> peers) {
  PeerComparison result;
  const std::vector<BenchmarkFigures> figures = benchmark_figures(ours);
  result.rates = measured_rates(figures);
  ByOperation operations;
  std::vector<baselines::BenchmarkName> names = benchmark_names(ours);
  for (const baselines::Run& run : peers) {
    std::ranges::move(benchmark_names(run), std::back_inserter(names));
  }
  const SweepAxes axes(names);
  add(figures, &result.rates, axes, &ProblemComparison::ours, &operations);
  for (const baselines::Run& run : peers) {
    add(benchmark_figures(run), nullptr, axes, &ProblemComparison::peers, &operations);
  }
  std::set<std::string> dtypes;
  for (const auto& [key, problems] : operations) {
    dtypes.insert(problems.begin()->second.problem.dtype);
    result.operations.push_back(operation_comparison(key, problems));
  }
  if (std::ranges::any_of(result.operations, &OperationComparison::has_roofline_times)) {
    result.notes.emplace_back(kRooflineNote);
  }
  if (!dtypes.empty()) {
    std::ranges::move(rate_sentences(result.rates, {dtypes.begin(), dtypes.end()}),
                      std::back_inserter(result.notes));
  }
  if (std::ranges::any_of(result.operations, &OperationComparison::has_energies)) {
    result.notes.push_back(
        "energy: of a call, by the device's counter, while calls follow each other at once");
  }
  if (!peers.empty() && std::ranges::none_of(result.operations, has_ratios)) {
    result.notes.push_back("warning: no problem has a time of ours and of a peer");
  }
  return result;
}

}  // namespace fusegate::ci
