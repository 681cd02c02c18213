#include "bench/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <set>

#include "baselines/io/error.h"

namespace fusegate::bench {
namespace {

bool named(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::ranges::find(names, name) != names.end();
}

// A control is taken only where it is named: swept over every shape, it would say nothing more.
bool takes(const Sweep& sweep, const kernels::Operation& operation) {
  if (sweep.operations.empty()) return !operation.is_control;
  return named(sweep.operations, operation.name);
}

// Every combination of the axes; dim stays at its first value where the operation does not use it.
std::vector<kernels::Problem> problems_of(const Sweep& sweep, const kernels::Operation& operation) {
  const std::vector<std::int64_t> dims =
      operation.uses_dim ? sweep.dim : std::vector<std::int64_t>{sweep.dim.front()};
  std::vector<kernels::Problem> problems;
  for (const kernels::Dtype dtype : sweep.dtype) {
    for (const std::int64_t batch : sweep.batch) {
      for (const std::int64_t seq : sweep.seq) {
        for (const std::int64_t dim : dims) {
          for (const std::int64_t hidden : sweep.hidden) {
            problems.push_back({batch, seq, dim, hidden, dtype});
          }
        }
      }
    }
  }
  return problems;
}

}  // namespace

std::vector<SweptOperation> swept_operations(const std::vector<Sweep>& sweeps) {
  std::vector<SweptOperation> swept;
  for (const Sweep& sweep : sweeps) {
    for (const kernels::Operation& operation : kernels::operations()) {
      if (!takes(sweep, operation)) continue;
      swept.push_back({&operation, sweep.implementations, problems_of(sweep, operation)});
    }
  }
  return swept;
}

Plan plan_of(const std::vector<Sweep>& sweeps, const kernels::Device& device) {
  Plan plan;
  std::set<std::string> seen;
  for (const SweptOperation& swept : swept_operations(sweeps)) {
    const auto takes_part = [&](const kernels::Implementation& implementation) {
      return implementation.operation == swept.operation->name &&
             implementation.device == device.kind() &&
             named(swept.implementations, implementation.name);
    };
    for (const kernels::Problem& problem : swept.problems) {
      for (const kernels::Implementation& implementation :
           kernels::implementations() | std::views::filter(takes_part)) {
        const PlannedBenchmark benchmark{&implementation, problem};
        if (!seen.insert(benchmark.name()).second) continue;
        const std::string why = kernels::refusal(implementation, device, problem);
        if (why.empty()) {
          plan.benchmarks.push_back(benchmark);
        } else {
          plan.refusals.push_back(fmt::format("{}: {}", benchmark.name(), why));
        }
      }
    }
  }
  return plan;
}

Plan make_plan(const std::vector<Sweep>& sweeps, const kernels::Device& device,
               const std::string& source) {
  Plan plan = plan_of(sweeps, device);
  if (plan.benchmarks.empty()) {
    throw baselines::InputError(source, "sweeps",
                                plan.refusals.empty()
                                    ? fmt::format("no implementation on {} fits", device.name())
                                    : "nothing is left to run: " + plan.refusals.front());
  }
  return plan;
}

}  // namespace fusegate::bench
