#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "baselines/traces/diff.h"
#include "ci/commands/command_line.h"
#include "ci/console/format.h"
#include "ci/console/json_number.h"
#include "ci/console/output_files.h"
#include "ci/report/document.h"
#include "ci/traces/summary_table.h"
#include "ci/traces/trace_file.h"
#include "ci/traces/trace_notes.h"

namespace fusegate::ci {
namespace {

struct Side {
  std::string source;
  baselines::TraceSummary summary;
};

Side load(const std::filesystem::path& path) {
  return {path.string(), baselines::summarize(read_trace_file(path))};
}

double ratio(const baselines::TraceDiffRow& row) { return row.b.cuda_ns / row.a.cuda_ns; }

// B's GPU time over A's, minus one; "-" where a side has none.
std::string format_ratio(const baselines::TraceDiffRow& row) {
  return row.a.cuda_ns > 0 && row.b.cuda_ns > 0 ? format_effect(ratio(row) - 1) : "-";
}

std::string time_cell(const baselines::TraceFigures& figures,
                      double baselines::TraceFigures::*time) {
  return figures.calls > 0 ? format_time_ns(figures.*time) : "-";
}

std::string side_text(std::string_view name, const Side& side) {
  const baselines::TraceSummary& summary = side.summary;
  const double steps = static_cast<double>(std::max<std::size_t>(summary.steps, 1));
  return fmt::format(
      "{}  {}: {}; a step has {} kernels, {} memory operations, {} of CUDA", name, side.source,
      summary.steps > 0 ? format_count(summary.steps, "step") : "no steps, taken as one",
      format_launches(static_cast<double>(summary.kernels) / steps),
      format_launches(static_cast<double>(summary.memory_operations) / steps),
      format_time_ns(static_cast<double>(summary.cuda_ns) / steps));
}

// Per step.
Table diff_table(bool on_gpu) {
  std::vector<Column> columns{{"differs"}, {"name", Align::kLeft, true}, {"kind"}};
  for (const char* what : {"calls", "CPU", "CUDA"}) {
    if (on_gpu && std::string_view(what) == "CPU") continue;
    columns.push_back({fmt::format("{} A", what), Align::kRight});
    columns.push_back({fmt::format("{} B", what), Align::kRight});
  }
  columns.push_back({"B over A", Align::kRight});
  return Table(std::move(columns));
}

std::vector<Cell> diff_cells(const baselines::TraceDiffRow& row, bool on_gpu,
                             std::size_t name_width) {
  std::vector<Cell> cells{std::string(baselines::difference_name(row.difference)),
                          short_name(row.name, name_width),
                          std::string(category_title(row.category)), format_launches(row.a.calls),
                          format_launches(row.b.calls)};
  if (!on_gpu) {
    cells.push_back(time_cell(row.a, &baselines::TraceFigures::cpu_ns));
    cells.push_back(time_cell(row.b, &baselines::TraceFigures::cpu_ns));
  }
  cells.push_back(time_cell(row.a, &baselines::TraceFigures::cuda_ns));
  cells.push_back(time_cell(row.b, &baselines::TraceFigures::cuda_ns));
  cells.push_back(format_ratio(row));
  return cells;
}

// What differs, of the GPU or of the host.
Section diff_section(const std::vector<baselines::TraceDiffRow>& rows, bool on_gpu,
                     const TraceDiffRequest& how) {
  Section section{.table = diff_table(on_gpu)};
  if (how.limit != 0) section.terminal_rows = how.limit;
  std::size_t all = 0;
  for (const baselines::TraceDiffRow& row : rows) {
    if (baselines::is_gpu_work(row.category) != on_gpu) continue;
    ++all;
    if (row.difference == baselines::TraceDifference::kNone) continue;
    section.table.add_row(diff_cells(row, on_gpu, how.name_width));
  }
  section.sentences = {
      fmt::format("{}: {} of {} alike",
                  on_gpu ? "kernels and memory operations" : "operators, ranges and calls",
                  all - section.table.rows().size(), all)};
  return section;
}

nlohmann::json figures_json(const baselines::TraceFigures& figures) {
  return {{"calls", figures.calls}, {"cpu_ns", figures.cpu_ns}, {"cuda_ns", figures.cuda_ns}};
}

std::string json_text(const Side& a, const Side& b,
                      const std::vector<baselines::TraceDiffRow>& rows) {
  nlohmann::json list = nlohmann::json::array();
  for (const baselines::TraceDiffRow& row : rows) {
    list.push_back({{"name", row.name},
                    {"category", baselines::category_name(row.category)},
                    {"difference", baselines::difference_name(row.difference)},
                    {"a", figures_json(row.a)},
                    {"b", figures_json(row.b)},
                    {"cuda_ratio", json_number(ratio(row))}});
  }
  const nlohmann::json json{{"a", {{"trace", a.source}, {"steps", a.summary.steps}}},
                            {"b", {{"trace", b.source}, {"steps", b.summary.steps}}},
                            {"rows", list}};
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

void add_trace_diff(CommandLine& line) {
  auto [app, request] = line.add(
      "trace-diff", "Print where two traces differ, by name",
      "fusegate trace-diff old-trace.json new-trace.json --min-difference 2%", trace_diff_command);
  app.add_option("a", request.a, kTraceHelp)->type_name("FILE")->required();
  app.add_option("b", request.b, "The other")->type_name("FILE")->required();
  add_fraction(
      app, "--min-difference", request.min_difference,
      "Show rows whose calls agree where GPU time differs by more than this; by default 5%");
  add_trace_layout(app, request);
}

baselines::ExitCode trace_diff_command(const TraceDiffRequest& request, Console& console) {
  const Side a = load(request.a);
  const Side b = load(request.b);
  const std::vector<baselines::TraceDiffRow> rows =
      baselines::diff_traces(a.summary, b.summary, request.min_difference);
  std::vector<std::string> sides{side_text("A", a), side_text("B", b)};
  for (const auto& [name, side] : {std::pair("A", &a), std::pair("B", &b)}) {
    for (const std::string& note : trace_notes(side->summary)) {
      sides.push_back(fmt::format("note on {}: {}", name, note));
    }
  }
  const std::vector<Section> sections{{.sentences = std::move(sides)},
                                      diff_section(rows, true, request),
                                      diff_section(rows, false, request)};
  console.out.lines(terminal_text(sections, console.out.style()));
  write_output_files({{request.json, [&] { return json_text(a, b, rows); }}});
  return baselines::ExitCode::kNoRegression;
}

}  // namespace fusegate::ci
