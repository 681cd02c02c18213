// The plan of a sweep: which benchmarks of a suite each shard measures. A file, so that any engine
// that starts jobs can hand out its shards:
//
//   {"fusegate_plan": 1, "suite": "pr", "controls": ["control_copy/..."],
//    "shards": [{"expected_s": 12.5, "benchmarks": ["geglu/fused/...", ...]}, ...]}
//
// A shard is measured on one card, base and head of it in one job. Controls are in every shard and
// show what its card does. Everything else is in one.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "ci/processes/run_record.h"

namespace fusegate::ci {

struct PlannedShard {
  double expected_s = 0;                  // of a process, without controls; 0: unknown
  std::vector<std::string> benchmarks{};  // sorted
};

struct ShardPlan {
  std::string suite{};
  std::vector<std::string> controls{};  // sorted
  std::vector<PlannedShard> shards{};
};

// All throw InputError naming file and field: what is no plan, an empty shard, and a benchmark that
// is planned twice.
ShardPlan parse_plan(std::string_view text, const std::string& source);
ShardPlan read_plan(const std::filesystem::path& path);
std::string plan_text(const ShardPlan& plan);

// What a run folder keeps of the shard that was measured into it; number: from 1.
ShardRecord shard_of(const ShardPlan& plan, int number);

}  // namespace fusegate::ci
