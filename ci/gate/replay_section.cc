#include "ci/gate/replay_section.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "baselines/io/message_names.h"
#include "ci/console/format.h"
#include "ci/console/json_number.h"
#include "ci/gate/gate_headline.h"
#include "ci/gate/kernel_diff_text.h"

namespace fusegate::ci {
namespace {

using nlohmann::json;

constexpr std::size_t kMostTerminalRows = 12;

std::string what_differs(const Replay& replay) {
  std::vector<std::string> parts;
  for (const auto& [field, before, after] : replay.differences) {
    parts.push_back(fmt::format("{} {} to {}", field, before, after));
  }
  if (replay.other_card) parts.emplace_back("another card");
  return parts.empty() ? "The same environment and card"
                       : fmt::format("{}", fmt::join(parts, ", "));
}

std::string why_text(const ReplayedRow& row) {
  const std::string diff = row.diff ? kernel_diff_text(*row.diff) : "";
  const bool is_shown = row.diff && (row.diff->launches_changed() || row.diff->work_changed());
  if (!row.other_work || is_shown) return diff;
  return "kernels of the same names with other machine code, launches or arguments" +
         (diff.empty() ? "" : "; " + diff);
}

std::string moved_text(const Replay& replay, std::size_t moved) {
  const std::string all = format_count(replay.rows.size(), "benchmark");
  if (moved == 0) return fmt::format("{}: none of {} changed.", what_differs(replay), all);
  const auto [least, most] = std::ranges::minmax_element(
      replay.rows.begin(), replay.rows.begin() + static_cast<long>(moved), {},
      [](const ReplayedRow& row) { return row.machine.estimates.in_time; });
  return fmt::format("{}: {} of {} changed, from {} to {}.", what_differs(replay), moved, all,
                     format_effect(least->machine.estimates.in_time),
                     format_effect(most->machine.estimates.in_time));
}

Table empty_table() {
  return Table({{"benchmark", Align::kLeft, true},
                {"stored to replayed", Align::kRight},
                {"at equal clock", Align::kRight},
                {"replayed to candidate", Align::kRight},
                {"stored to candidate", Align::kRight},
                {"stored", Align::kRight},
                {"replayed", Align::kRight},
                {"why", Align::kLeft, false, true}});
}

void add_row(const ReplayedRow& row, Table& table) {
  const baselines::Verdict& machine = row.machine;
  table.add_row({machine.benchmark, format_effect(machine.estimates.in_time),
                 format_effect(machine.estimates.effect), format_effect(row.code),
                 format_effect(row.product), format_time_ns(machine.baseline.time_ns),
                 format_time_ns(machine.candidate.time_ns), why_text(row)});
}

std::string toolchain_text(const baselines::Run& stored, const baselines::Run& replayed) {
  const std::string& before = stored.provenance.toolchain;
  const std::string& after = replayed.provenance.toolchain;
  if (before == after || before.empty() || after.empty()) return "";
  return fmt::format("The stored baseline's program was built by {}, the replayed one by {}.",
                     before, after);
}

json row_json(const ReplayedRow& row) {
  const baselines::Verdict& machine = row.machine;
  return {{"benchmark", machine.benchmark},
          {"stored_ns", json_number(machine.baseline.time_ns)},
          {"replayed_ns", json_number(machine.candidate.time_ns)},
          {"stored_to_replayed", json_number(machine.estimates.in_time)},
          {"at_equal_clock", json_number(machine.estimates.effect)},
          {"interval", json_interval(machine.estimates.interval)},
          {"replayed_to_candidate", json_number(row.code)},
          {"stored_to_candidate", json_number(row.product)},
          {"moved", row.has_moved()},
          {"other_work", row.other_work},
          {"why", why_text(row)}};
}

}  // namespace

Section replay_section(const Replay& replay, const baselines::Run& replayed) {
  Section section{.title = "Stored to replayed: the effect of card, driver and libraries",
                  .table = empty_table()};
  section.terminal_rows = kMostTerminalRows;
  Section still{.table = empty_table(), .fold = Fold::kAlways, .terminal_rows = 0};
  for (const ReplayedRow& row : replay.rows) {
    add_row(row, row.has_moved() ? section.table : still.table);
  }
  still.title = format_count(still.table.rows().size(), "benchmark") + " that did not change";
  section.sentences = {
      fmt::format("The program of {} was measured again beside the candidate, and the verdicts "
                  "compare these two. This table compares its stored figures with the replayed "
                  "ones; it fails nothing.",
                  replay.stored.source),
      moved_text(replay, section.table.rows().size())};
  const std::string toolchain = toolchain_text(replay.stored, replayed);
  if (!toolchain.empty()) section.sentences.push_back(toolchain);
  if (!replay.not_replayed.empty()) {
    section.sentences.push_back(
        fmt::format("Not measured again: {}.", baselines::first_of(replay.not_replayed)));
  }
  section.parts.push_back(std::move(still));
  return section;
}

json replay_json(const Replay& replay, const baselines::Run& replayed) {
  json differences = json::array();
  for (const auto& [field, before, after] : replay.differences) {
    differences.push_back({{"field", field}, {"stored", before}, {"replayed", after}});
  }
  json rows = json::array();
  for (const ReplayedRow& row : replay.rows) rows.push_back(row_json(row));
  return {{"stored", replay.stored.source},
          {"environment_differences", std::move(differences)},
          {"other_card", replay.other_card},
          {"toolchain",
           {{"stored", replay.stored.provenance.toolchain},
            {"replayed", replayed.provenance.toolchain}}},
          {"not_replayed", replay.not_replayed},
          {"rows", std::move(rows)}};
}

}  // namespace fusegate::ci
