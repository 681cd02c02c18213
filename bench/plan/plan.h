// Makes the list of a suite's benchmarks that a device can run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "baselines/record/process.h"
#include "bench/plan/suite.h"
#include "kernels/contract/kernel.h"

namespace fusegate::bench {

struct PlannedBenchmark {
  const kernels::Implementation* implementation;  // in the registry
  kernels::Problem problem;
  kernels::PinnedChoices pinned_choices{};  // see pinned_choices.h
  bool is_control = false;                  // by its operation's registration, or by the suite

  std::string name() const { return kernels::benchmark_name(*implementation, problem); }
};

struct Plan {
  // Each once. Implementations of one operation on one problem follow each other: they are checked
  // against the same reference, and are best compared when measured close in time.
  std::vector<PlannedBenchmark> benchmarks;
  // What was left out and why, one sentence each.
  std::vector<std::string> refusals;
};

// An operation of a sweep, with the problems that a device cannot compute too.
struct SweptOperation {
  const kernels::Operation* operation;       // in the registry
  std::vector<std::string> implementations;  // empty: all
  std::vector<kernels::Problem> problems;    // every combination of the axes
};

// In the plan's order.
std::vector<SweptOperation> swept_operations(const std::vector<Sweep>& sweeps);

// Implementations on such a device that no sweep takes, such as "softmax/online"; no controls.
std::vector<std::string> unswept_implementations(const std::vector<Sweep>& sweeps,
                                                 std::string_view device_kind);

// Makes controls of the benchmarks that match one of the patterns (Suite::controls).
void name_controls(const std::vector<std::string>& patterns, Plan& plan);

// The names of the plan's controls, sorted.
std::vector<std::string> controls_of(const Plan& plan);

// What reports compare the plan's implementations with (baselines/record/process.h): for each
// operation what the suite names, else its registration, else the first registered.
baselines::ComparedWith compared_with(const Suite& suite, const Plan& plan);

// Of its operations over several ranks, what reports read their times beside.
baselines::OperationsAcrossRanks across_ranks(const Plan& plan);

// May be empty.
Plan plan_of(const std::vector<Sweep>& sweeps, const kernels::Device& device);

// Throws InputError where nothing is left to run. source: of the sweeps.
Plan make_plan(const std::vector<Sweep>& sweeps, const kernels::Device& device,
               const std::string& source);

}  // namespace fusegate::bench
