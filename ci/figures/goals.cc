#include "ci/figures/goals.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"

namespace fusegate::ci {
namespace {

using baselines::BenchmarkName;
using baselines::JsonField;

Goal goal_of(const std::string& name, const JsonField& ratio) {
  const std::size_t operation = std::min(name.find('/'), name.size());
  auto problem =
      baselines::parse_benchmark_name(name.substr(0, operation) + "/any" + name.substr(operation));
  if (!problem) ratio.fail("is of no problem, which is named operation/dtype/axis:size/...");
  problem->implementation.clear();
  return {std::move(*problem), ratio.positive_number()};
}

ProblemStanding* find(const BenchmarkName& wanted, Standings& standings) {
  for (OperationStanding& operation : standings.operations) {
    for (ProblemStanding& standing : operation.problems) {
      if (standing.problem == wanted) return &standing;
    }
  }
  return nullptr;
}

}  // namespace

std::vector<Goal> read_goals(const std::filesystem::path& path) {
  const nlohmann::json json = baselines::parse_json(baselines::read_file(path), path.string());
  const JsonField file(json, path.string(), "");
  for (const auto& [key, value] : file.members()) {
    if (key != "goals") value.fail("is unknown; there is goals");
  }
  const JsonField given = file.at("goals");
  std::vector<Goal> goals;
  for (const auto& [name, ratio] : given.members()) goals.push_back(goal_of(name, ratio));
  if (goals.empty()) given.fail("must name a problem at least");
  return goals;
}

void set_goals(const std::vector<Goal>& goals, Standings& standings) {
  std::string missing;
  for (const Goal& goal : goals) {
    if (ProblemStanding* standing = find(goal.problem, standings)) {
      standing->goal = goal.ratio;
    } else {
      missing += (missing.empty() ? "" : "; ") + goal.problem.operation + ", " +
                 goal.problem.dtype + ", " + baselines::problem_text(goal.problem);
    }
  }
  if (!missing.empty()) {
    standings.notes.push_back("warning: there are goals of problems that were not measured: " +
                              missing);
  }
}

}  // namespace fusegate::ci
