#include "ci/report/standing_text.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ci/console/format.h"

namespace fusegate::ci {
namespace {

// A time and whose it is, or why there is none.
void add_best(const MeasuredImplementation* best, std::string_view missing,
              std::vector<Cell>* row) {
  row->push_back(best != nullptr ? format_time_ns(best->time_ns) : std::string(missing));
  row->push_back(best != nullptr ? best->name : std::string());
}

std::vector<Cell> best_row(const ProblemStanding& problem, bool with_peers, bool with_floors) {
  const MeasuredImplementation* own = problem.our_best();
  std::vector<Cell> row{baselines::problem_text(problem.problem)};
  add_best(own, problem.ours.empty() ? "not measured" : "failed", &row);
  if (with_peers) {
    add_best(problem.best_peer(), problem.peers.empty() ? "no peer" : "failed", &row);
    row.push_back(format_rate(problem.ratio()));
  }
  if (with_floors) {
    const Floor floor = own != nullptr ? own->floor : Floor{};
    row.push_back(format_time_ns(floor.ns));
    row.push_back(format_rate(floor.time_over));
    row.push_back(format_class(own != nullptr ? own->bound : BoundClass{}));
  }
  return row;
}

void add_times(const std::vector<std::string>& names,
               const std::vector<MeasuredImplementation>& measured, std::vector<Cell>* row) {
  for (const std::string& name : names) {
    const auto found = std::ranges::find(measured, name, &MeasuredImplementation::name);
    if (found == measured.end()) {
      row->emplace_back("-");
    } else {
      row->push_back(std::isfinite(found->time_ns) ? format_time_ns(found->time_ns)
                                                   : std::string("failed"));
    }
  }
}

}  // namespace

Table best_table(const OperationStanding& operation, bool with_peers) {
  std::vector<Column> columns{
      {"problem"}, {"our best", Align::kRight}, {"implementation", Align::kLeft, true}};
  const auto add_columns = [&columns](const std::vector<Column>& more) {
    columns.insert(columns.end(), more.begin(), more.end());
  };
  if (with_peers)
    add_columns(
        {{"best peer", Align::kRight}, {"peer", Align::kLeft, true}, {"ratio", Align::kRight}});
  const bool with_floors = operation.has_floors();
  if (with_floors) {
    add_columns({{"floor", Align::kRight}, {"time / floor", Align::kRight}, {"class"}});
  }
  Table table(std::move(columns));
  for (const ProblemStanding& problem : operation.problems) {
    table.add_row(best_row(problem, with_peers, with_floors));
  }
  return table;
}

Table times_table(const OperationStanding& operation) {
  std::vector<Column> columns{{"problem"}};
  for (const auto* names : {&operation.ours, &operation.peers}) {
    for (const std::string& name : *names) columns.push_back({name, Align::kRight});
  }
  Table table(std::move(columns));
  for (const ProblemStanding& problem : operation.problems) {
    std::vector<Cell> row{baselines::problem_text(problem.problem)};
    add_times(operation.ours, problem.ours, &row);
    add_times(operation.peers, problem.peers, &row);
    table.add_row(std::move(row));
  }
  return table;
}

}  // namespace fusegate::ci
