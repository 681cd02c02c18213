#include "ci/report/standing_json.h"

#include "ci/console/json_number.h"

namespace fusegate::ci {
namespace {

using nlohmann::json;

json bound_json(std::optional<Bound> bound) {
  return bound ? json(bound_name(*bound)) : json(nullptr);
}

json measured_json(const MeasuredImplementation& measured) {
  json result = floor_json(measured.floor, measured.bound);
  result["name"] = measured.name;
  result["time_ns"] = json_number(measured.time_ns);
  result["failure"] = measured.failure;
  return result;
}

json best_json(const MeasuredImplementation* best) {
  return best != nullptr ? measured_json(*best) : json(nullptr);
}

json all_json(const std::vector<MeasuredImplementation>& all) {
  json result = json::object();
  for (const MeasuredImplementation& one : all) result[one.name] = measured_json(one);
  return result;
}

json problem_json(const ProblemStanding& problem) {
  return {{"problem", baselines::problem_text(problem.problem)},
          {"best", best_json(problem.our_best())},
          {"best_peer", best_json(problem.best_peer())},
          {"ratio", json_number(problem.ratio())},
          {"ours", all_json(problem.ours)},
          {"peers", all_json(problem.peers)}};
}

json operation_json(const OperationStanding& operation) {
  json problems = json::array();
  for (const ProblemStanding& problem : operation.problems) {
    problems.push_back(problem_json(problem));
  }
  return {{"operation", operation.operation},
          {"dtype", operation.dtype},
          {"has_floors", operation.has_floors()},
          {"ours", operation.ours},
          {"peers", operation.peers},
          {"problems", problems}};
}

}  // namespace

json floor_json(const Floor& floor, const BoundClass& bound) {
  return {{"floor_ns", json_number(floor.ns)},
          {"time_over_floor", json_number(floor.time_over)},
          {"copy_share", json_number(floor.copy_share)},
          {"gemm_share", json_number(floor.gemm_share)},
          {"class", bound_json(bound.as_graph)},
          {"class_on_stream", bound_json(bound.on_stream)},
          {"class_text", format_class(bound)}};
}

json standings_json(const Standings& standings) {
  json operations = json::array();
  for (const OperationStanding& operation : standings.operations) {
    operations.push_back(operation_json(operation));
  }
  return {{"peers", standings.peers ? json(*standings.peers) : json(nullptr)},
          {"notes", standings.notes},
          {"operations", operations}};
}

}  // namespace fusegate::ci
