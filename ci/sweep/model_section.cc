#include "ci/sweep/model_section.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "ci/console/format.h"
#include "ci/console/json_number.h"

namespace fusegate::ci {
namespace {

using baselines::ModelMover;
using baselines::ModelRow;
using baselines::ModelTime;
using baselines::ModelTimes;
using nlohmann::json;

constexpr std::size_t kMostTerminalRows = 12;

// Of the roofline; NaN where that of a call is unknown.
double share_of(const ModelTimes& times, const ModelTime& time, const RooflineTimes& rooflines) {
  double sum_ns = 0;
  for (std::size_t i = 0; i < time.benchmarks.size(); ++i) {
    const auto found = rooflines.find(time.benchmarks[i]);
    if (found == rooflines.end()) return std::nan("");
    sum_ns += times.model.calls[i].per_layer * found->second.ns;
  }
  return sum_ns / time.candidate_ns;
}

std::string model_text(const ModelTimes& times, const std::string& dtype) {
  return times.model.name + ", " + dtype;
}

std::string longest_text(const ModelTime& time) {
  if (time.longest_stage.empty()) return "-";
  return fmt::format("{} ({})", time.longest_stage, format_share(time.longest_share));
}

// "12.10 us (unfused)" where the baseline's fastest is another.
std::string baseline_text(const ModelTimes& times, const ModelRow& row) {
  const ModelTime& before = row.baseline_fastest;
  if (before.implementation.empty()) return "-";
  const std::string time = format_time_ns(times.token_ns(row.rows, before.baseline_ns));
  return before.implementation == row.fastest.implementation
             ? time
             : fmt::format("{} ({})", time, before.implementation);
}

std::string changed_text(const ModelTimes& times, const ModelRow& row, const ModelTime& time) {
  return time.changed_ns == 0 ? "-"
                              : format_time_change_ns(times.token_ns(row.rows, time.changed_ns));
}

Table times_table(const char* implementation) {
  return Table({{"model"},
                {"rows", Align::kRight},
                {implementation, Align::kLeft, true},
                {"a layer", Align::kRight},
                {"a token", Align::kRight},
                {"baseline, a token", Align::kRight},
                {"changed", Align::kRight},
                {"of roofline", Align::kRight},
                {"longest stage"}});
}

// Without columns of which nothing is known.
Table known_columns(const Table& table) {
  std::vector<std::size_t> known;
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    const auto is_known = [i](const std::vector<Cell>& row) { return row[i].text != "-"; };
    if (std::ranges::any_of(table.rows(), is_known)) known.push_back(i);
  }
  std::vector<Column> columns;
  for (const std::size_t i : known) columns.push_back(table.columns()[i]);
  Table result(std::move(columns));
  for (const std::vector<Cell>& row : table.rows()) {
    std::vector<Cell> cells;
    for (const std::size_t i : known) cells.push_back(row[i]);
    result.add_row(std::move(cells));
  }
  return result;
}

std::vector<Cell> cells_of(const ModelTimes& times, const ModelRow& row, const ModelTime& time,
                           std::string baseline, const RooflineTimes& rooflines) {
  const std::string layer = format_time_ns(time.candidate_ns);
  return {model_text(times, row.dtype),
          std::to_string(row.rows),
          time.implementation,
          time.is_measured ? layer : layer + " (baseline)",
          format_time_ns(times.token_ns(row.rows, time.candidate_ns)),
          std::move(baseline),
          changed_text(times, row, time),
          format_share(share_of(times, time, rooflines)),
          longest_text(time)};
}

Section fastest_part(const std::vector<ModelTimes>& models, const RooflineTimes& rooflines) {
  Section part{.title = "A layer and a token of each model, by its fastest implementation",
               .sentences = {"A layer: the calls that the model's file names. A token: those of "
                             "all layers, over the rows of the batch."},
               .table = times_table("fastest"),
               .fold = Fold::kInMarkdown,
               .terminal_rows = kMostTerminalRows};
  for (const ModelTimes& times : models) {
    for (const ModelRow& row : times.rows) {
      part.table.add_row(cells_of(times, row, row.fastest, baseline_text(times, row), rooflines));
    }
  }
  part.table = known_columns(part.table);
  return part;
}

Section implementations_part(const std::vector<ModelTimes>& models,
                             const RooflineTimes& rooflines) {
  Section part{.title = "A layer and a token, by every implementation",
               .table = times_table("implementation"),
               .fold = Fold::kAlways,
               .is_page_only = true};
  for (const ModelTimes& times : models) {
    for (const ModelRow& row : times.rows) {
      for (const ModelTime& time : row.implementations) {
        part.table.add_row(cells_of(times, row, time,
                                    format_time_ns(times.token_ns(row.rows, time.baseline_ns)),
                                    rooflines));
      }
    }
  }
  part.table = known_columns(part.table);
  return part;
}

Table movers_table(const std::vector<ModelTimes>& models) {
  Table table({{"model"},
               {"rows", Align::kRight},
               {"cost a token", Align::kRight},
               {"effect", Align::kRight},
               {"benchmark", Align::kLeft, true},
               {"the model's fastest"}});
  std::vector<std::pair<const ModelTimes*, const ModelMover*>> movers;
  for (const ModelTimes& times : models) {
    for (const ModelMover& mover : times.movers) movers.emplace_back(&times, &mover);
  }
  std::ranges::stable_sort(movers, [](const auto& a, const auto& b) {
    return baselines::comes_first(*a.second, *b.second);
  });
  for (const auto& [times, mover] : movers) {
    const Tone tone = mover->token_ns > 0 ? Tone::kBad : Tone::kGood;
    table.add_row({model_text(*times, mover->dtype),
                   std::to_string(mover->rows),
                   {format_time_change_ns(mover->token_ns), tone},
                   format_effect(mover->effect),
                   mover->benchmark,
                   mover->is_fastest ? "yes" : "no"});
  }
  return table;
}

json time_json(const ModelTimes& times, const ModelRow& row, const ModelTime& time,
               const RooflineTimes& rooflines) {
  const auto token = [&](double layer_ns) {
    return json_number(times.token_ns(row.rows, layer_ns));
  };
  return {{"implementation", time.implementation},
          {"layer_ns", json_number(time.candidate_ns)},
          {"token_ns", token(time.candidate_ns)},
          {"baseline_layer_ns", json_number(time.baseline_ns)},
          {"baseline_token_ns", token(time.baseline_ns)},
          {"changed_token_ns", token(time.changed_ns)},
          {"measured", time.is_measured},
          {"roofline_share", json_number(share_of(times, time, rooflines))}};
}

json row_json(const ModelTimes& times, const ModelRow& row, const RooflineTimes& rooflines) {
  json implementations = json::array();
  for (const ModelTime& time : row.implementations) {
    implementations.push_back(time_json(times, row, time, rooflines));
  }
  const bool has_baseline = !row.baseline_fastest.implementation.empty();
  return {{"dtype", row.dtype},
          {"rows", row.rows},
          {"fastest", time_json(times, row, row.fastest, rooflines)},
          {"baseline_fastest",
           has_baseline ? time_json(times, row, row.baseline_fastest, rooflines) : json(nullptr)},
          {"implementations", std::move(implementations)}};
}

json mover_json(const ModelMover& mover) {
  return {{"benchmark", mover.benchmark},
          {"dtype", mover.dtype},
          {"rows", mover.rows},
          {"verdict", baselines::verdict_name(mover.kind)},
          {"effect", json_number(mover.effect)},
          {"token_ns", json_number(mover.token_ns)},
          {"fastest", mover.is_fastest}};
}

}  // namespace

Section model_section(const std::vector<ModelTimes>& models, const RooflineTimes& rooflines) {
  if (models.empty()) return {};
  Section section{
      .title = "Models",
      .table = movers_table(models),
      .parts = {fastest_part(models, rooflines), implementations_part(models, rooflines)},
      .terminal_rows = kMostTerminalRows};
  if (!section.table.empty()) {
    section.sentences = {
        "What changed, by what it costs a token. The model pays where it is a call's fastest "
        "implementation."};
  }
  std::vector<std::string> without;
  for (const ModelTimes& times : models) {
    if (times.rows.empty()) without.push_back(times.model.name);
  }
  if (!without.empty()) {
    section.notes.emplace_back(
        fmt::format("The run has no whole layer of {}.", fmt::join(without, ", ")));
  }
  return section;
}

json models_json(const std::vector<ModelTimes>& models, const RooflineTimes& rooflines) {
  json list = json::array();
  for (const ModelTimes& times : models) {
    json rows = json::array(), movers = json::array();
    for (const ModelRow& row : times.rows) rows.push_back(row_json(times, row, rooflines));
    for (const ModelMover& mover : times.movers) movers.push_back(mover_json(mover));
    list.push_back({{"name", times.model.name},
                    {"layers", times.model.layers},
                    {"times", std::move(rows)},
                    {"movers", std::move(movers)}});
  }
  return list;
}

}  // namespace fusegate::ci
