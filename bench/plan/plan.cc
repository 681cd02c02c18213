#include "bench/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <set>
#include <span>
#include <utility>

#include "baselines/io/error.h"
#include "baselines/io/pattern.h"

namespace fusegate::bench {
namespace {

bool takes(const SweptOperation& swept, const kernels::Implementation& implementation) {
  const std::vector<std::string>& names = swept.implementations;
  return swept.operation->name == implementation.operation &&
         (names.empty() || std::ranges::find(names, implementation.name) != names.end());
}

// With every combination of the sweep's values, the last axis changing fastest, in place of theirs.
std::vector<kernels::Problem> with_values(std::vector<kernels::Problem> problems,
                                          const Sweep& sweep) {
  for (std::size_t i = 0; i < problems.front().axes.size(); ++i) {
    const auto values = sweep.axes.find(problems.front().axes[i].name);
    if (values == sweep.axes.end()) continue;
    std::vector<kernels::Problem> more;
    for (const kernels::Problem& problem : problems) {
      for (const AxisValue& value : values->second) {
        more.push_back(problem);
        more.back().axes[i] = {values->first, value.size, value.text};
      }
    }
    problems = std::move(more);
  }
  return problems;
}

// Its own problems, with what the sweep says in place of what they say; each once.
std::vector<kernels::Problem> own_problems(const Sweep& sweep,
                                           const kernels::Operation& operation) {
  std::vector<kernels::Problem> all;
  std::set<std::string> seen;
  const auto add = [&](const kernels::Problem& own) {
    for (kernels::Problem& problem : with_values({own}, sweep)) {
      if (seen.insert(kernels::problem_name(problem)).second) all.push_back(std::move(problem));
    }
  };
  for (kernels::Problem own : operation.problems) {
    if (sweep.dtype.empty()) add(own);
    for (const kernels::Dtype dtype : sweep.dtype) {
      own.dtype = dtype;
      add(own);
    }
  }
  return all;
}

// Every combination of the operation's axes, the last one changing fastest.
std::vector<kernels::Problem> problems_of(const Sweep& sweep, const kernels::Operation& operation) {
  if (!operation.problems.empty()) return own_problems(sweep, operation);
  std::vector<kernels::Problem> problems;
  for (const kernels::Dtype dtype : sweep.dtype) problems.push_back({dtype, {}});
  for (const std::string& axis : operation.axes) {
    std::span<const AxisValue> values = sweep.axes.at(axis);
    const auto& unswept = operation.unswept_axes;
    if (std::ranges::find(unswept, axis) != unswept.end()) values = values.first(1);
    std::vector<kernels::Problem> longer;
    for (const kernels::Problem& problem : problems) {
      for (const AxisValue& value : values) {
        longer.push_back(problem);
        longer.back().axes.push_back({axis, value.size, value.text});
      }
    }
    problems = std::move(longer);
  }
  return problems;
}

// One sentence for each implementation and reason.
class Refusals {
 public:
  void add(const PlannedBenchmark& benchmark, const std::string& why) {
    const kernels::Implementation& one = *benchmark.implementation;
    const Key key(fmt::format("{}/{}", one.operation, one.name), why);
    const auto [entry, is_new] = count_.try_emplace(key, std::pair(benchmark.name(), 0));
    if (is_new) order_.push_back(key);
    ++entry->second.second;
  }
  std::vector<std::string> sentences() const {
    std::vector<std::string> all;
    for (const auto& key : order_) {
      const auto& [first, count] = count_.at(key);
      all.push_back(count == 1
                        ? fmt::format("{}: {}", first, key.second)
                        : fmt::format("{} on {} problems: {}", key.first, count, key.second));
    }
    return all;
  }

 private:
  using Key = std::pair<std::string, std::string>;    // the implementation, and why
  std::map<Key, std::pair<std::string, int>> count_;  // the first benchmark, and how many
  std::vector<Key> order_;
};

}  // namespace

std::vector<SweptOperation> swept_operations(const std::vector<Sweep>& sweeps) {
  std::vector<SweptOperation> swept;
  for (const Sweep& sweep : sweeps) {
    for (const kernels::Operation* const operation : operations_of(sweep.operations, sweep.axes)) {
      swept.push_back({operation, sweep.implementations, problems_of(sweep, *operation)});
    }
  }
  return swept;
}

std::vector<std::string> unswept_implementations(const std::vector<Sweep>& sweeps,
                                                 std::string_view device_kind) {
  const std::vector<SweptOperation> all = swept_operations(sweeps);
  std::vector<std::string> unswept;
  for (const kernels::Implementation& implementation : kernels::implementations()) {
    const auto is_taken = [&](const SweptOperation& swept) { return takes(swept, implementation); };
    if (implementation.device != device_kind ||
        kernels::find_operation(implementation.operation).is_control ||
        std::ranges::any_of(all, is_taken)) {
      continue;
    }
    unswept.push_back(fmt::format("{}/{}", implementation.operation, implementation.name));
  }
  return unswept;
}

Plan plan_of(const std::vector<Sweep>& sweeps, const kernels::Device& device) {
  Plan plan;
  std::set<std::string> seen;
  Refusals refusals;
  for (const SweptOperation& swept : swept_operations(sweeps)) {
    const auto takes_part = [&](const kernels::Implementation& implementation) {
      return implementation.device == device.kind() && takes(swept, implementation);
    };
    for (const kernels::Problem& problem : swept.problems) {
      for (const kernels::Implementation& implementation :
           kernels::implementations() | std::views::filter(takes_part)) {
        const PlannedBenchmark benchmark{.implementation = &implementation,
                                         .problem = problem,
                                         .is_control = swept.operation->is_control};
        if (!seen.insert(benchmark.name()).second) continue;
        const std::string why = kernels::refusal(implementation, device, problem);
        if (why.empty()) {
          plan.benchmarks.push_back(benchmark);
        } else {
          refusals.add(benchmark, why);
        }
      }
    }
  }
  plan.refusals = refusals.sentences();
  return plan;
}

void name_controls(const std::vector<std::string>& patterns, Plan& plan) {
  for (const std::string& text : patterns) {
    const baselines::Pattern pattern(text);
    for (PlannedBenchmark& benchmark : plan.benchmarks) {
      benchmark.is_control = benchmark.is_control || pattern.fits(benchmark.name());
    }
  }
}

std::vector<std::string> controls_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const PlannedBenchmark& benchmark : plan.benchmarks) {
    if (benchmark.is_control) names.push_back(benchmark.name());
  }
  std::ranges::sort(names);
  return names;
}

baselines::ComparedWith compared_with(const Suite& suite, const Plan& plan) {
  std::map<std::string, const kernels::Implementation*> first;  // registered, by operation
  baselines::ComparedWith result;
  for (const PlannedBenchmark& benchmark : plan.benchmarks) {
    const kernels::Implementation& one = *benchmark.implementation;
    const auto [known, is_new] = first.try_emplace(one.operation, &one);
    if (one.registered_as < known->second->registered_as) known->second = &one;
    if (!one.compared_with.empty()) result[one.operation + "/" + one.name] = one.compared_with;
  }
  for (const auto& [operation, implementation] : first) {
    const std::string& registered = kernels::find_operation(operation).compared_with;
    const auto named = suite.compared_with.find(operation);
    result[operation] = {named != suite.compared_with.end() ? named->second
                         : !registered.empty()              ? registered
                                                            : implementation->name};
  }
  return result;
}

baselines::OperationsAcrossRanks across_ranks(const Plan& plan) {
  baselines::OperationsAcrossRanks result;
  for (const PlannedBenchmark& benchmark : plan.benchmarks) {
    const std::string& name = benchmark.implementation->operation;
    const auto& of = kernels::find_operation(name).across_ranks;
    if (of) result[name] = {of->work, of->divided, of->exchanges};
  }
  return result;
}

Plan make_plan(const std::vector<Sweep>& sweeps, const kernels::Device& device,
               const std::string& source) {
  Plan plan = plan_of(sweeps, device);
  if (plan.benchmarks.empty()) {
    throw baselines::InputError(source, "sweeps",
                                plan.refusals.empty()
                                    ? fmt::format("no implementation on {} matches", device.name())
                                    : fmt::format("{} can run none of the problems; the first: {}",
                                                  device.name(), plan.refusals.front()));
  }
  return plan;
}

}  // namespace fusegate::bench
