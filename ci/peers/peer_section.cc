#include "ci/peers/peer_section.h"

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
  const bool differs = std::isfinite(ratio) && text != format_rate(1);
  const Tone tone = !differs ? Tone::kPlain : ratio > 1 ? Tone::kBad : Tone::kGood;
  return {std::move(text), tone};
}

// Which columns a table has.
struct Known {
  bool peers = false, energies = false, roofline_times = false;
};

Cell energy_cell(const MeasuredImplementation* best) {
  return best != nullptr ? format_energy_j(best->energy_j) : "-";
}

std::vector<Cell> best_row(const ProblemComparison& problem, const Known& known) {
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
  if (known.roofline_times) {
    const RooflineTime roofline_time = own != nullptr ? own->roofline_time : RooflineTime{};
    row.push_back(format_time_ns(roofline_time.ns));
    row.push_back(format_rate(roofline_time.gap));
    row.push_back(bottlenecks_text(own != nullptr ? own->bottlenecks : Bottlenecks{}));
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

// Of all problems that both sides measured; "" where there is none.
std::string ratios_text(const std::vector<OperationComparison>& operations) {
  double logs = 0, largest = 0;
  std::size_t count = 0, above_one = 0;
  std::string where;
  for (const OperationComparison& operation : operations) {
    for (const ProblemComparison& problem : operation.problems) {
      const double ratio = problem.ratio();
      if (!std::isfinite(ratio)) continue;
      ++count;
      logs += std::log(ratio);
      above_one += ratio > 1;
      if (ratio <= largest) continue;
      largest = ratio;
      where = fmt::format("{}, {}: {}", operation.operation, operation.dtype,
                          baselines::problem_text(problem.problem));
    }
  }
  if (count == 0) return "";
  return fmt::format(
      "Over {} the geometric mean is {}, {} above 1, and the largest {} ({}).",
      format_count(count, "problem"), format_rate(std::exp(logs / static_cast<double>(count))),
      above_one == 1 ? "one is" : fmt::format("{} are", above_one), format_rate(largest), where);
}

}  // namespace

Table best_table(const OperationComparison& operation, bool with_peers) {
  std::vector<Column> columns{
      {"problem"}, {"our best", Align::kRight}, {"implementation", Align::kLeft, true}};
  const auto add_columns = [&columns](const std::vector<Column>& more) {
    columns.insert(columns.end(), more.begin(), more.end());
  };
  const Known known{.peers = with_peers,
                    .energies = operation.has_energies(),
                    .roofline_times = operation.has_roofline_times()};
  if (known.peers)
    add_columns(
        {{"best peer", Align::kRight}, {"peer", Align::kLeft, true}, {"ratio", Align::kRight}});
  if (known.energies) {
    add_columns({{"our energy", Align::kRight}});
    if (known.peers) add_columns({{"peer's energy", Align::kRight}});
  }
  if (known.roofline_times) {
    add_columns({{"roofline time", Align::kRight}, {"gap", Align::kRight}, {"class"}});
  }
  Table table(std::move(columns));
  for (const ProblemComparison& problem : operation.problems) {
    table.add_row(best_row(problem, known));
  }
  return table;
}

Table times_table(const OperationComparison& operation) {
  std::vector<Column> columns{{"problem"}};
  for (const auto* names : {&operation.ours, &operation.peers}) {
    for (const std::string& name : *names) columns.push_back({name, Align::kRight});
  }
  Table table(std::move(columns));
  for (const ProblemComparison& problem : operation.problems) {
    std::vector<Cell> row{baselines::problem_text(problem.problem)};
    add_times(operation.ours, problem.ours, problem.our_best(), &row);
    add_times(operation.peers, problem.peers, problem.best_peer(), &row);
    table.add_row(std::move(row));
  }
  return table;
}

Section peer_section(const PeerComparison& peer_comparison) {
  Section section{.title = peer_comparison.peers ? "Compared with other libraries and the roofline"
                                                 : "Compared with the roofline"};
  if (peer_comparison.peers) {
    section.sentences = {
        "Ratio: our best's time over the best peer's, below 1 where ours is faster."};
    const std::string ratios = ratios_text(peer_comparison.operations);
    if (!ratios.empty()) section.sentences.push_back(ratios);
    section.notes.emplace_back("Peers: " + *peer_comparison.peers);
  }
  for (const std::string& note : peer_comparison.notes) {
    section.notes.emplace_back(note, note.starts_with("warning:") ? Tone::kUnsure : Tone::kPlain);
  }
  for (const OperationComparison& operation : peer_comparison.operations) {
    const std::string title = operation.operation + ", " + operation.dtype;
    section.parts.push_back({.title = title,
                             .table = best_table(operation, peer_comparison.peers.has_value()),
                             .parts = {{.title = title + ": every implementation's time",
                                        .table = times_table(operation),
                                        .fold = Fold::kAlways}}});
  }
  return section;
}

}  // namespace fusegate::ci
