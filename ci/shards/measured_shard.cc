#include "ci/shards/measured_shard.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "baselines/io/error.h"
#include "ci/selection/selection.h"
#include "ci/shards/plan.h"

namespace fusegate::ci {

using baselines::InputError;

std::optional<ShardRecord> read_shard(const AskedShard& asked, std::string& suite) {
  if (!asked.plan) return std::nullopt;
  const ShardPlan plan = read_plan(*asked.plan);
  if (!suite.empty() && suite != plan.suite) {
    throw InputError(asked.plan->string(), "suite",
                     fmt::format("is \"{}\", and --suite is \"{}\"; plan that suite, or leave "
                                 "--suite out",
                                 plan.suite, suite));
  }
  const auto shards = static_cast<int>(plan.shards.size());
  if (asked.number < 1 || asked.number > shards) {
    throw InputError(
        "--shard", "",
        fmt::format("{}: {} has the shards 1 to {}", asked.number, asked.plan->string(), shards));
  }
  suite = plan.suite;
  return shard_of(plan, asked.number);
}

std::vector<std::string> programs_in(const std::filesystem::path& folder) {
  if (std::filesystem::exists(folder / "run.json")) return {""};
  std::vector<std::string> programs;
  for (const char* program : {"base", "base_again", "head"}) {
    if (std::filesystem::exists(folder / program / "run.json")) programs.emplace_back(program);
  }
  return programs;
}

std::string filter_of(const ShardRecord& shard) {
  std::vector<std::string> names = shard.benchmarks;
  std::ranges::copy(shard.controls, std::back_inserter(names));
  const auto filter = benchmark_filter_flag(names);
  if (filter) return *filter;
  throw InputError("--shard", "",
                   fmt::format("{}: the names of its {} benchmarks are too long for one argument "
                               "of a program; plan more shards",
                               shard.number, names.size()));
}

}  // namespace fusegate::ci
