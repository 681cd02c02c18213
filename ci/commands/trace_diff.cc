#include <fmt/ostream.h>

#include <algorithm>
#include <cmath>

#include "baselines/traces/diff.h"
#include "ci/commands/command_line.h"
#include "ci/console/format.h"
#include "ci/console/json_number.h"
#include "ci/console/output_files.h"
#include "ci/traces/summary_table.h"
#include "ci/traces/trace_file.h"

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

void print_side(std::string_view name, const Side& side, std::ostream& out) {
  const baselines::TraceSummary& summary = side.summary;
  const double steps = static_cast<double>(std::max<std::size_t>(summary.steps, 1));
  fmt::print(out, "{}  {}: {}; a step has {} kernels, {} memory operations, {} of CUDA\n", name,
             side.source,
             summary.steps > 0 ? format_count(summary.steps, "step") : "no steps, taken as one",
             format_launches(static_cast<double>(summary.kernels) / steps),
             format_launches(static_cast<double>(summary.memory_operations) / steps),
             format_time_ns(static_cast<double>(summary.cuda_ns) / steps));
}

// What differs, of the GPU or of the host; per step.
Table diff_table(const std::vector<baselines::TraceDiffRow>& rows, bool on_gpu,
                 const TraceDiffRequest& how) {
  std::vector<Column> columns{{"differs"}, {"name", Align::kLeft, true}, {"kind"}};
  for (const char* what : {"calls", "CPU", "CUDA"}) {
    if (on_gpu && std::string_view(what) == "CPU") continue;
    columns.push_back({fmt::format("{} A", what), Align::kRight});
    columns.push_back({fmt::format("{} B", what), Align::kRight});
  }
  columns.push_back({"B over A", Align::kRight});
  Table table(std::move(columns));
  for (const baselines::TraceDiffRow& row : rows) {
    if (row.difference == baselines::TraceDifference::kNone ||
        baselines::is_gpu_work(row.category) != on_gpu)
      continue;
    if (how.limit != 0 && table.rows().size() == how.limit) break;
    std::vector<Cell> cells{std::string(baselines::difference_name(row.difference)),
                            short_name(row.name, how.name_width),
                            std::string(category_title(row.category)), format_launches(row.a.calls),
                            format_launches(row.b.calls)};
    if (!on_gpu) {
      cells.push_back(time_cell(row.a, &baselines::TraceFigures::cpu_ns));
      cells.push_back(time_cell(row.b, &baselines::TraceFigures::cpu_ns));
    }
    cells.push_back(time_cell(row.a, &baselines::TraceFigures::cuda_ns));
    cells.push_back(time_cell(row.b, &baselines::TraceFigures::cuda_ns));
    cells.push_back(format_ratio(row));
    table.add_row(std::move(cells));
  }
  return table;
}

void print_group(const std::vector<baselines::TraceDiffRow>& rows, bool on_gpu,
                 const TraceDiffRequest& how, std::ostream& out) {
  const auto in_group = [&](const baselines::TraceDiffRow& row) {
    return baselines::is_gpu_work(row.category) == on_gpu;
  };
  const auto is_alike = [&](const baselines::TraceDiffRow& row) {
    return in_group(row) && row.difference == baselines::TraceDifference::kNone;
  };
  const auto alike = static_cast<std::size_t>(std::ranges::count_if(rows, is_alike));
  const auto all = static_cast<std::size_t>(std::ranges::count_if(rows, in_group));
  fmt::print(out, "\n{}: {} of {} alike\n",
             on_gpu ? "kernels and memory operations" : "operators, ranges and calls", alike, all);
  const Table table = diff_table(rows, on_gpu, how);
  if (!table.empty()) fmt::print(out, "{}", table.text());
  const std::size_t left_out = all - alike - table.rows().size();
  if (left_out > 0) fmt::print(out, "and {}\n", format_count(left_out, "more row"));
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
  auto [app, request] =
      line.add("trace-diff", "Print where two traces differ, by name", trace_diff_command);
  app.add_option("a", request.a, kTraceHelp)->required();
  app.add_option("b", request.b, "The other")->required();
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
  print_side("A", a, console.out);
  print_side("B", b, console.out);
  print_group(rows, true, request, console.out);
  print_group(rows, false, request, console.out);
  write_output_files({{request.json, [&] { return json_text(a, b, rows); }}});
  return baselines::ExitCode::kNoRegression;
}

}  // namespace fusegate::ci
