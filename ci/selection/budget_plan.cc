#include "ci/selection/budget_plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "baselines/statistics/student_t.h"

namespace fusegate::ci {
namespace {

constexpr double kLevel = 0.01;  // the gate's default false discovery rate
// On an H200 10 of 48 samples spread twice as far; nobody measured what fewer do, but for one.
constexpr double kSampleShares[] = {1, 0.75, 0.5, 0.375, 0.25};
constexpr double kControlsMayCost = 0.1;  // of what is ruled out

int samples_of(const BudgetRequest& request, double share) {
  return std::max(1, static_cast<int>(std::lround(share * request.whole)));
}

// One choice of processes, samples and controls, and the benchmarks that fit into it.
class Filling {
 public:
  Filling(const BudgetRequest& request, BudgetPlan plan) : request_(request), plan_(plan) {
    const int rounds = plan.processes - request.done;
    const double of_a_round = rounds > 0 ? request.seconds / rounds : 0;
    room_s_ = of_a_round / request.programs - request.process_s;
    for (std::size_t i = 0; i < plan.controls; ++i) room_s_ -= cost_s(request.controls[i]);
    for (const BudgetedBenchmark& benchmark : request.benchmarks) {
      gains_.push_back(benchmark.weight * (1 - expected_to_rule_out(benchmark, plan.processes,
                                                                    plan.samples, request.whole)));
    }
  }

  // Nothing where not even the controls fit, or none of the benchmarks does.
  std::optional<BudgetPlan> best() {
    if (room_s_ < 0) return std::nullopt;
    // A knapsack: what gains most for its time first, or what gains most, whichever is better.
    const std::vector<std::size_t> dense = filled([this](std::size_t i) {
      return gains_[i] / std::max(1e-9, cost_s(request_.benchmarks[i]));
    });
    const std::vector<std::size_t> large = filled([this](std::size_t i) { return gains_[i]; });
    plan_.measured = gain(dense) < gain(large) ? large : dense;
    if (plan_.measured.empty()) return std::nullopt;
    const double weight =
        std::accumulate(request_.benchmarks.begin(), request_.benchmarks.end(), 0.0,
                        [](double sum, const BudgetedBenchmark& one) { return sum + one.weight; });
    plan_.ruled_out = 1 - gain(plan_.measured) / weight;
    plan_.expected_s = (plan_.processes - request_.done) * round_s(request_, plan_);
    return plan_;
  }

 private:
  double cost_s(const BudgetedBenchmark& benchmark) const {
    return benchmark.sample_s * plan_.samples;
  }
  double gain(const std::vector<std::size_t>& indices) const {
    return std::accumulate(indices.begin(), indices.end(), 0.0,
                           [this](double sum, std::size_t i) { return sum + gains_[i]; });
  }

  // In the order of that value, each that has room and gains anything.
  template <typename Value>
  std::vector<std::size_t> filled(Value value) const {
    std::vector<std::size_t> order(request_.benchmarks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{}, value);
    std::vector<std::size_t> taken;
    double room_s = room_s_;
    for (const std::size_t i : order) {
      const double cost = cost_s(request_.benchmarks[i]);
      if (gains_[i] <= 0 || cost > room_s) continue;
      room_s -= cost;
      taken.push_back(i);
    }
    std::ranges::sort(taken);
    return taken;
  }

  const BudgetRequest& request_;
  BudgetPlan plan_;
  double room_s_ = 0;  // of a process, for what is no control
  std::vector<double> gains_;
};

bool is_better(const BudgetPlan& plan, const std::optional<BudgetPlan>& than) {
  return !than || plan.ruled_out < than->ruled_out;
}

std::optional<BudgetPlan> best_of(const BudgetRequest& request, std::size_t controls, int fewest,
                                  int most) {
  std::optional<BudgetPlan> best;
  for (int processes = fewest; processes <= most; ++processes) {
    for (const double share : kSampleShares) {
      if (share < 1 && !request.may_thin) break;
      const int samples = samples_of(request, share);
      const auto plan =
          Filling(request, {.controls = controls, .processes = processes, .samples = samples})
              .best();
      if (plan && is_better(*plan, best)) best = plan;
    }
  }
  return best;
}

// The most controls that cost no more than a tenth.
std::optional<BudgetPlan> best_with_controls(const BudgetRequest& request, int fewest, int most) {
  const std::size_t all = request.controls.size();
  const std::size_t few = std::min(all, request.fewest_controls);
  const auto with_few = best_of(request, few, fewest, most);
  if (!with_few) return std::nullopt;
  for (std::size_t controls = all; controls > few; --controls) {
    const auto plan = best_of(request, controls, fewest, most);
    if (plan && plan->ruled_out <= (1 + kControlsMayCost) * with_few->ruled_out) return plan;
  }
  return with_few;
}

// Where nothing fits: the one that weighs most, by two processes.
BudgetPlan least(const BudgetRequest& request) {
  BudgetPlan plan{.controls = std::min(request.controls.size(), request.fewest_controls),
                  .processes = std::max(2, request.done),
                  .samples = samples_of(request, request.may_thin ? kSampleShares[4] : 1),
                  .fits = false};
  const auto heaviest =
      std::ranges::max_element(request.benchmarks, {}, &BudgetedBenchmark::weight);
  plan.measured.push_back(static_cast<std::size_t>(heaviest - request.benchmarks.begin()));
  plan.expected_s = (plan.processes - request.done) * round_s(request, plan);
  return plan;
}

}  // namespace

double expected_to_rule_out(const BudgetedBenchmark& benchmark, int processes, int samples,
                            int whole) {
  if (processes < 2) return 1;
  const double error = benchmark.spread * std::sqrt(2.0 / processes * whole / samples);
  return std::min(1.0, baselines::t_upper_quantile(kLevel, 2.0 * processes - 2) * error);
}

double round_s(const BudgetRequest& request, const BudgetPlan& plan) {
  double process_s = request.process_s;
  for (const std::size_t i : plan.measured) {
    process_s += request.benchmarks[i].sample_s * plan.samples;
  }
  for (std::size_t i = 0; i < plan.controls; ++i) {
    process_s += request.controls[i].sample_s * plan.samples;
  }
  return request.programs * process_s;
}

BudgetPlan plan_budget(const BudgetRequest& request) {
  const auto weighs = [](const BudgetedBenchmark& benchmark) { return benchmark.weight > 0; };
  if (std::ranges::none_of(request.benchmarks, weighs)) return {.ruled_out = 0};
  const int fewest = std::max(request.fewest, request.done + 1);
  if (auto plan = best_with_controls(request, fewest, std::max(fewest, request.most))) return *plan;
  for (int processes = request.fewest - 1; processes > std::max(1, request.done); --processes) {
    if (auto plan = best_with_controls(request, processes, processes)) return *plan;
  }
  return least(request);
}

}  // namespace fusegate::ci
