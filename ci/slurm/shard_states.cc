#include "ci/slurm/shard_states.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "ci/console/format.h"

namespace fusegate::ci {
namespace {

ShardStage stage_of(const ShardProgress& progress, const std::optional<SlurmTask>& task) {
  if (task && !task->has_ended()) {
    return task->has_started() ? ShardStage::kRunning : ShardStage::kPending;
  }
  if (progress.finished) return progress.failed == 0 ? ShardStage::kFinished : ShardStage::kFailed;
  return task ? ShardStage::kFailed : ShardStage::kStopped;
}

std::string failure_text(const ShardState& state) {
  if (state.progress.finished) {
    return fmt::format("{} failed",
                       format_count(static_cast<std::size_t>(state.progress.failed), "process"));
  }
  const SlurmTask& task = *state.task;
  if (task.state == "COMPLETED") return "ended before it finished";
  if (task.state != "FAILED") return "failed: " + task.state;
  if (task.signal != 0) return fmt::format("failed by signal {}", task.signal);
  return fmt::format("failed with exit code {}", task.exit_code);
}

std::string processes_text(const ShardProgress& progress) {
  return progress.planned == 0 ? "-" : fmt::format("{} of {}", progress.measured, progress.planned);
}

Tone tone_of(ShardStage stage) {
  if (stage == ShardStage::kFinished) return Tone::kGood;
  return stage == ShardStage::kFailed ? Tone::kBad : Tone::kPlain;
}

}  // namespace

std::string ShardState::text() const {
  switch (stage) {
    case ShardStage::kFinished:
      return "finished";
    case ShardStage::kRunning:
      return task->node.empty() ? "running" : "running on " + task->node;
    case ShardStage::kPending:
      return task->reason.empty() || task->reason == "None" ? "pending"
                                                            : "pending: " + task->reason;
    case ShardStage::kFailed:
      return failure_text(*this);
    case ShardStage::kStopped:
      return progress.planned > 0 ? "stopped" : "not started";
  }
  return "";
}

std::vector<ShardState> states_of(const SlurmSweep& sweep, const SlurmTasks& tasks) {
  std::vector<ShardState> states;
  for (int shard = 1; shard <= static_cast<int>(sweep.plan.shards.size()); ++shard) {
    ShardState state{.shard = shard, .progress = progress_of(sweep, shard)};
    const auto task = tasks.of_shards.find(shard);
    if (task != tasks.of_shards.end()) state.task = task->second;
    state.stage = stage_of(state.progress, state.task);
    states.push_back(std::move(state));
  }
  return states;
}

Table states_table(const std::vector<ShardState>& states) {
  Table table({{"shard", Align::kRight}, {"state"}, {"processes", Align::kRight}, {"task"}});
  for (const ShardState& state : states) {
    table.add_row({std::to_string(state.shard), Cell(state.text(), tone_of(state.stage)),
                   processes_text(state.progress), state.task ? state.task->name : "-"});
  }
  return table;
}

std::string states_summary(const std::vector<ShardState>& states) {
  constexpr std::array<std::pair<ShardStage, const char*>, 4> kOthers{
      {{ShardStage::kRunning, "running"},
       {ShardStage::kPending, "pending"},
       {ShardStage::kFailed, "failed"},
       {ShardStage::kStopped, "stopped or not started"}}};
  std::string text = fmt::format(
      "{} of {} finished", std::ranges::count(states, ShardStage::kFinished, &ShardState::stage),
      format_count(states.size(), "shard"));
  for (const auto& [stage, name] : kOthers) {
    const auto count = std::ranges::count(states, stage, &ShardState::stage);
    if (count > 0) text += fmt::format(", {} {}", count, name);
  }
  std::size_t measured = 0;
  for (const ShardState& state : states) {
    measured += static_cast<std::size_t>(state.progress.measured);
  }
  return fmt::format("{}; {} measured", text, format_count(measured, "process"));
}

}  // namespace fusegate::ci
