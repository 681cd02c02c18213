#include "bench/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
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

class Planner {
 public:
  explicit Planner(const kernels::Device& device) : device_(device) {}

  void add(const Sweep& sweep) {
    for (const kernels::Operation& operation : kernels::operations()) {
      if (!takes(sweep, operation)) continue;
      for (const kernels::Problem& problem : problems_of(sweep, operation))
        add(sweep, operation, problem);
    }
  }

  Plan take() { return std::move(plan_); }

 private:
  void add(const Sweep& sweep, const kernels::Operation& operation,
           const kernels::Problem& problem) {
    for (const kernels::Implementation& implementation : kernels::implementations()) {
      if (implementation.operation != operation.name || implementation.device != device_.kind() ||
          !named(sweep.implementations, implementation.name)) {
        continue;
      }
      const PlannedBenchmark benchmark{&implementation, problem};
      if (!seen_.insert(benchmark.name()).second) continue;
      const std::string why = kernels::refusal(implementation, device_, problem);
      if (why.empty()) {
        plan_.benchmarks.push_back(benchmark);
      } else {
        plan_.refusals.push_back(fmt::format("{}: {}", benchmark.name(), why));
      }
    }
  }

  const kernels::Device& device_;
  Plan plan_;
  std::set<std::string> seen_;
};

}  // namespace

Plan make_plan(const std::vector<Sweep>& sweeps, const kernels::Device& device,
               const std::string& source) {
  Planner planner(device);
  for (const Sweep& sweep : sweeps) planner.add(sweep);
  Plan plan = planner.take();
  if (plan.benchmarks.empty()) {
    throw baselines::InputError(source, "sweeps",
                                plan.refusals.empty()
                                    ? fmt::format("no implementation on {} fits", device.name())
                                    : "nothing is left to run: " + plan.refusals.front());
  }
  return plan;
}

}  // namespace fusegate::bench
