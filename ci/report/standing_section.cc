#include "ci/report/standing_section.h"

#include <fmt/format.h>

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

// What prints as 1.00 is as fast, whatever its further digits are.
Cell ratio_cell(double ratio) {
  std::string text = format_rate(ratio);
  const bool is_told = std::isfinite(ratio) && text != format_rate(1);
  const Tone tone = !is_told ? Tone::kPlain : ratio > 1 ? Tone::kBad : Tone::kGood;
  return {std::move(text), tone};
}

// Which columns a table has.
struct Known {
  bool peers = false, energies = false, yardsticks = false;
};

Cell energy_cell(const MeasuredImplementation* best) {
  return best != nullptr ? format_energy_j(best->energy_j) : "-";
}

std::vector<Cell> best_row(const ProblemStanding& problem, const Known& known) {
  const MeasuredImplementation* own = problem.our_best();
  std::vector<Cell> row{baselines::problem_text(problem.problem)};
  add_best(own, problem.ours.empty() ? "not measured" : "failed", &row);
  if (known.peers) {
    add_best(problem.best_peer(), problem.peers.empty() ? "no peer" : "failed", &row);
    row.push_back(ratio_cell(problem.ratio()));
  }
  if (known.energies) {
    row.push_back(energy_cell(own));
    if (known.peers) row.push_back(energy_cell(problem.best_peer()));
  }
  if (known.yardsticks) {
    const Yardstick yardstick = own != nullptr ? own->yardstick : Yardstick{};
    row.push_back(format_time_ns(yardstick.ns));
    row.push_back(format_rate(yardstick.time_over));
    row.push_back(format_class(own != nullptr ? own->bound : BoundClass{}));
  }
  return row;
}

void add_times(const std::vector<std::string>& names,
               const std::vector<MeasuredImplementation>& measured,
               const MeasuredImplementation* best, std::vector<Cell>* row) {
  for (const std::string& name : names) {
    const auto found = std::ranges::find(measured, name, &MeasuredImplementation::name);
    if (found == measured.end()) {
      row->emplace_back("-");
    } else if (!std::isfinite(found->time_ns)) {
      row->emplace_back("failed");
    } else {
      row->emplace_back(format_time_ns(found->time_ns),
                        &*found == best ? Tone::kStrong : Tone::kPlain);
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
  const Known known{.peers = with_peers,
                    .energies = operation.has_energies(),
                    .yardsticks = operation.has_yardsticks()};
  if (known.peers)
    add_columns(
        {{"best peer", Align::kRight}, {"peer", Align::kLeft, true}, {"ratio", Align::kRight}});
  if (known.energies) {
    add_columns({{"our energy", Align::kRight}});
    if (known.peers) add_columns({{"peer's energy", Align::kRight}});
  }
  if (known.yardsticks) {
    add_columns({{"yardstick", Align::kRight}, {"time / yardstick", Align::kRight}, {"class"}});
  }
  Table table(std::move(columns));
  for (const ProblemStanding& problem : operation.problems) {
    table.add_row(best_row(problem, known));
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
    add_times(operation.ours, problem.ours, problem.our_best(), &row);
    add_times(operation.peers, problem.peers, problem.best_peer(), &row);
    table.add_row(std::move(row));
  }
  return table;
}

Section standing_section(const Standings& standings) {
  Section section{.title = standings.peers ? "Against peers and yardsticks" : "Against yardsticks"};
  if (standings.peers) {
    section.sentences = {
        "Ratio: our best's time over the best peer's, below 1 where ours is faster."};
    section.notes.emplace_back("Peers: " + *standings.peers);
  }
  for (const std::string& note : standings.notes) {
    section.notes.emplace_back(note, note.starts_with("warning:") ? Tone::kUnsure : Tone::kPlain);
  }
  for (const OperationStanding& operation : standings.operations) {
    const std::string title = operation.operation + ", " + operation.dtype;
    section.parts.push_back({.title = title,
                             .table = best_table(operation, standings.peers.has_value()),
                             .parts = {{.title = title + ": every implementation's time",
                                        .table = times_table(operation),
                                        .fold = Fold::kAlways}}});
  }
  return section;
}

}  // namespace fusegate::ci
