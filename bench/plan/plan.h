// Makes the list of a suite's benchmarks that a device can run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/plan/suite.h"
#include "kernels/contract/kernel.h"

namespace fusegate::bench {

struct PlannedBenchmark {
  const kernels::Implementation*
      implementation;  // in the registry, which lives as long as the program
  kernels::Problem problem;
  kernels::KeptChoices kept_choices{};  // see kept_choices.h
  bool is_control = false;              // by its operation's registration, or by the suite

  std::string name() const { return kernels::benchmark_name(*implementation, problem); }
};

struct Plan {
  // Each once. Implementations of one operation on one problem stand side by side: they share the
  // reference that they are checked against, and whoever compares them wants them close in time.
  std::vector<PlannedBenchmark> benchmarks;
  // What was left out and why, one sentence each.
  std::vector<std::string> refusals;
};

// An operation that a sweep takes, whatever a device can compute of it.
struct SweptOperation {
  const kernels::Operation* operation;       // in the registry
  std::vector<std::string> implementations;  // empty: all
  std::vector<kernels::Problem> problems;    // every combination of the axes
};

// In the plan's order.
std::vector<SweptOperation> swept_operations(const std::vector<Sweep>& sweeps);

// "softmax/online" of what runs on such a device, is no control, and is taken by none of the sweeps.
std::vector<std::string> unswept_implementations(const std::vector<Sweep>& sweeps,
                                                 std::string_view device_kind);

// Those that fit one of the patterns (Suite::controls) are controls too.
void name_controls(const std::vector<std::string>& patterns, Plan& plan);

// The names of the plan's controls, sorted.
std::vector<std::string> controls_of(const Plan& plan);

// May be empty.
Plan plan_of(const std::vector<Sweep>& sweeps, const kernels::Device& device);

// Throws InputError (source: where the sweeps come from) where nothing at all is left to run.
Plan make_plan(const std::vector<Sweep>& sweeps, const kernels::Device& device,
               const std::string& source);

}  // namespace fusegate::bench
