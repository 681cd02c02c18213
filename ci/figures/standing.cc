#include "ci/figures/standing.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "ci/figures/benchmark_figures.h"
#include "ci/figures/sweep_axis.h"

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
using ByProblem = std::map<ProblemKey, ProblemStanding>;
using ByOperation = std::map<std::pair<std::string, std::string>, ByProblem>;

void add(const std::vector<BenchmarkFigures>& run, const MeasuredRates* rates,
         const SweepAxes& axes, std::vector<MeasuredImplementation> ProblemStanding::*side,
         ByOperation* operations) {
  for (const BenchmarkFigures& figures : run) {
    auto name = baselines::parse_benchmark_name(figures.name);
    if (!name || figures.is_control) continue;
    const SweepPlace place = axes.place(*name);
    ProblemStanding& standing =
        (*operations)[{name->operation, name->dtype}][{place.shape, place.along, place.split}];
    MeasuredImplementation measured{.name = name->implementation,
                                    .time_ns = figures.time_ns,
                                    .failure = figures.failure,
                                    .energy_j = figures.energy_j};
    if (rates != nullptr) {
      measured.yardstick = yardstick_of(figures, *rates);
      measured.bound = class_of(figures, measured.yardstick, *rates);
    }
    (standing.*side).push_back(std::move(measured));
    name->implementation.clear();
    standing.problem = std::move(*name);
  }
}

std::vector<std::string> names_of(const std::vector<ProblemStanding>& problems,
                                  std::vector<MeasuredImplementation> ProblemStanding::*side) {
  std::set<std::string> names;
  for (const ProblemStanding& problem : problems) {
    for (const MeasuredImplementation& measured : problem.*side) names.insert(measured.name);
  }
  return {names.begin(), names.end()};
}

OperationStanding operation_standing(const std::pair<std::string, std::string>& key,
                                     ByProblem&& problems) {
  OperationStanding standing{key.first, key.second, {}, {}, {}};
  for (auto& [order, problem] : problems) standing.problems.push_back(std::move(problem));
  standing.ours = names_of(standing.problems, &ProblemStanding::ours);
  standing.peers = names_of(standing.problems, &ProblemStanding::peers);
  return standing;
}

std::vector<std::string> rate_notes(const Standings& standings,
                                    const std::vector<std::string>& dtypes) {
  std::vector<std::string> notes = rate_sentences(standings.rates, dtypes);
  if (std::ranges::any_of(standings.operations, &OperationStanding::has_yardsticks)) {
    notes.insert(
        notes.begin(),
        "yardstick: the larger of FLOPs over the GEMM rate and least bytes over the copy rate, "
        "of our best implementation. Rates of the run and no limits: below 1 is faster than both, "
        "as "
        "where the L2 serves what the copy had to fetch");
  }
  return notes;
}

bool any_compared(const std::vector<OperationStanding>& operations) {
  return std::ranges::any_of(operations, [](const OperationStanding& operation) {
    return std::ranges::any_of(operation.problems, [](const ProblemStanding& problem) {
      return std::isfinite(problem.ratio());
    });
  });
}

}  // namespace

const MeasuredImplementation* ProblemStanding::our_best() const { return fastest(ours); }

const MeasuredImplementation* ProblemStanding::best_peer() const { return fastest(peers); }

double ProblemStanding::ratio() const {
  const MeasuredImplementation* own = our_best();
  const MeasuredImplementation* peer = best_peer();
  return own != nullptr && peer != nullptr ? own->time_ns / peer->time_ns
                                           : std::numeric_limits<double>::quiet_NaN();
}

bool OperationStanding::has_energies() const {
  const auto is_known = [](const MeasuredImplementation* best) {
    return best != nullptr && std::isfinite(best->energy_j);
  };
  return std::ranges::any_of(problems, [&](const ProblemStanding& problem) {
    return is_known(problem.our_best()) || is_known(problem.best_peer());
  });
}

bool OperationStanding::has_yardsticks() const {
  return std::ranges::any_of(problems, [](const ProblemStanding& problem) {
    const MeasuredImplementation* best = problem.our_best();
    return best != nullptr && std::isfinite(best->yardstick.ns);
  });
}

Standings standings(const baselines::Run& ours, const baselines::Run* peers) {
  Standings result;
  const std::vector<BenchmarkFigures> figures = benchmark_figures(ours);
  result.rates = measured_rates(figures);
  ByOperation operations;
  std::vector<baselines::BenchmarkName> names = benchmark_names(ours);
  if (peers != nullptr) std::ranges::move(benchmark_names(*peers), std::back_inserter(names));
  const SweepAxes axes(names);
  add(figures, &result.rates, axes, &ProblemStanding::ours, &operations);
  if (peers != nullptr) {
    add(benchmark_figures(*peers), nullptr, axes, &ProblemStanding::peers, &operations);
  }
  std::set<std::string> dtypes;
  for (auto& [key, problems] : operations) {
    dtypes.insert(key.second);
    result.operations.push_back(operation_standing(key, std::move(problems)));
  }
  if (!dtypes.empty()) result.notes = rate_notes(result, {dtypes.begin(), dtypes.end()});
  if (std::ranges::any_of(result.operations, &OperationStanding::has_energies)) {
    result.notes.push_back(
        "energy: of a call, by the device's counter, while calls follow each other at once");
  }
  if (peers != nullptr && !any_compared(result.operations)) {
    result.notes.push_back("warning: there is no problem that both we and a peer have a time of");
  }
  return result;
}

}  // namespace fusegate::ci
