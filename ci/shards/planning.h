// Deals the benchmarks of a suite to shards.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "baselines/record/run.h"
#include "ci/shards/plan.h"

namespace fusegate::ci {

struct PlanRequest {
  std::string suite{};
  int shards = 1;
  // Of a process, in seconds, by benchmark; or 1 each where nothing is known of any.
  std::map<std::string, double> costs{};
  bool costs_are_seconds = true;
  std::vector<std::string> controls{};
  bool may_make_more = false;  // shards, where one has too many names for an argument
};

// Stable: a benchmark goes to the shard that its name prefers, unless that one is full, so that
// those which come, go or change their times move few others. Balanced: a shard is full above 1.02
// times the mean, the costliest benchmarks choose first, and where all are full, the emptiest takes
// it. (Rendezvous hashing: D. G. Thaler, C. V. Ravishankar, "Using name-based mappings to increase
// hit rates", 1998; with bounded loads: V. Mirrokni, M. Thorup, M. Zadimoghaddam, "Consistent
// hashing with bounded loads", 2018.)
//
// Throws InputError where there are more shards than benchmarks besides controls, and where the
// names of a shard are too long for one argument of a program.
ShardPlan make_plan(const PlanRequest& request);

// Sets how many shards the cards of a host take from one queue: several each, so that a faster card
// takes more, as long as starting programs for them takes a twentieth of the time at most. start_s:
// what a program takes to start.
void set_shards(std::size_t cards, double start_s, PlanRequest& request);

// What is asked of a program: the benchmarks that it measures, and which of these are controls.
struct ProgramSuite {
  std::vector<std::string> benchmarks{};
  std::vector<std::string> controls{};
  nlohmann::json protocol{};  // null where the program does not say
};
// environment: as ChildProcess's. Throws InputError naming the program, with what it says, where it
// lists nothing.
ProgramSuite suite_of_program(const std::string& program, const std::string& suite,
                              const std::vector<std::string>& flags,
                              const std::map<std::string, std::string>& environment = {});
// Likewise of a run.
ProgramSuite suite_of_run(const baselines::Run& run);
// Adds those whose names match (baselines/io/pattern.h). Throws InputError for a pattern that
// matches none.
void name_controls(const std::vector<std::string>& patterns, ProgramSuite& suite);

// By what a process of the known run took for each, with its check, where the run says so; by its
// samples else. By the protocol of the suite, or else of that run. A benchmark without a time is
// expected to take the least, as most do whose calls are shorter than a batch.
// Sets costs, costs_are_seconds and controls.
void set_costs(const ProgramSuite& suite, const std::optional<baselines::Run>& known,
               PlanRequest& request);

}  // namespace fusegate::ci
