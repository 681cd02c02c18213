#include "ci/sweep/figures_table.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "ci/console/format.h"
#include "ci/sweep/bottleneck.h"

namespace fusegate::ci {
namespace {

struct Line {
  BenchmarkFigures figures;
  RooflineTime roofline_time;
  Bottlenecks bottlenecks;
};

struct OptionalColumn {
  Column column;
  std::function<std::string(const Line&)> text;  // "-" where it is not known
};

std::vector<OptionalColumn> optional_columns() {
  return {{{"host", Align::kRight},
           [](const Line& line) { return format_time_ns(line.figures.host_ns); }},
          {{"host, as a graph", Align::kRight},
           [](const Line& line) { return format_time_ns(line.figures.host_graph_ns); }},
          {{"roofline time", Align::kRight},
           [](const Line& line) { return format_time_ns(line.roofline_time.ns); }},
          {{"gap", Align::kRight},
           [](const Line& line) { return format_rate(line.roofline_time.gap); }},
          {{"of copy rate", Align::kRight},
           [](const Line& line) { return format_share(line.roofline_time.copy_share); }},
          {{"of GEMM rate", Align::kRight},
           [](const Line& line) { return format_share(line.roofline_time.gemm_share); }},
          {{"class"}, [](const Line& line) { return bottlenecks_text(line.bottlenecks); }}};
}

std::vector<OptionalColumn> known_columns(const std::vector<Line>& lines) {
  std::vector<OptionalColumn> columns = optional_columns();
  std::erase_if(columns, [&](const OptionalColumn& column) {
    return std::ranges::all_of(lines, [&](const Line& line) { return column.text(line) == "-"; });
  });
  return columns;
}

}  // namespace

Table figures_table(const std::vector<BenchmarkFigures>& all, const MeasuredRates& rates) {
  std::vector<Line> lines;
  for (const BenchmarkFigures& figures : all) {
    const RooflineTime roofline_time = roofline_time_of(figures, rates);
    lines.push_back({figures, roofline_time, bottlenecks_of(figures, roofline_time, rates)});
  }
  const std::vector<OptionalColumn> more = known_columns(lines);
  std::vector<Column> columns{{"benchmark", Align::kLeft, true}, {"time", Align::kRight},
                              {"spread", Align::kRight},         {"launches", Align::kRight},
                              {"TFLOP/s", Align::kRight},        {"GB/s", Align::kRight}};
  for (const OptionalColumn& column : more) columns.push_back(column.column);
  columns.push_back({"failure"});
  Table table(std::move(columns));
  for (const Line& line : lines) {
    const BenchmarkFigures& figures = line.figures;
    std::vector<Cell> row{figures.name,
                          format_time_ns(figures.time_ns),
                          format_fraction(figures.spread),
                          format_launches(figures.launches),
                          format_rate(figures.tflops),
                          format_rate(figures.gbps)};
    for (const OptionalColumn& column : more) row.push_back(column.text(line));
    row.push_back(figures.failure);
    table.add_row(std::move(row));
  }
  return table;
}

}  // namespace fusegate::ci
