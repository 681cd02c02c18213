#include "ci/sweep/figures_table.h"

#include <algorithm>
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

struct FiguresColumn {
  Column column;
  std::function<std::string(const Line&)> text;  // "-" where it is not known
  bool is_always_shown = false;
};

std::vector<FiguresColumn> all_columns() {
  const auto figure = [](const char* header, auto format, double BenchmarkFigures::*member,
                         bool is_always_shown = true) {
    const auto text = [=](const Line& line) { return format(line.figures.*member); };
    return FiguresColumn{{header, Align::kRight}, text, is_always_shown};
  };
  const auto roofline = [](const char* header, auto format, double RooflineTime::*member) {
    const auto text = [=](const Line& line) { return format(line.roofline_time.*member); };
    return FiguresColumn{{header, Align::kRight}, text};
  };
  return {
      {{"benchmark", Align::kLeft, true}, [](const Line& line) { return line.figures.name; }, true},
      figure("time", format_time_ns, &BenchmarkFigures::time_ns),
      figure("spread", format_fraction, &BenchmarkFigures::spread),
      figure("launches", format_launches, &BenchmarkFigures::launches),
      figure("TFLOP/s", format_rate, &BenchmarkFigures::tflops),
      figure("GB/s", format_rate, &BenchmarkFigures::gbps),
      figure("host", format_time_ns, &BenchmarkFigures::host_ns, false),
      figure("host, as a graph", format_time_ns, &BenchmarkFigures::host_graph_ns, false),
      figure("memory", format_bytes, &BenchmarkFigures::memory_bytes, false),
      figure("kept", format_bytes, &BenchmarkFigures::kept_bytes, false),
      roofline("roofline time", format_time_ns, &RooflineTime::ns),
      roofline("gap", format_rate, &RooflineTime::gap),
      roofline("of copy rate", format_share, &RooflineTime::copy_share),
      roofline("of GEMM rate", format_share, &RooflineTime::gemm_share),
      {{"class"}, [](const Line& line) { return bottlenecks_text(line.bottlenecks); }},
      {{"failure"}, [](const Line& line) { return line.figures.failure; }, true}};
}

}  // namespace

Table figures_table(const std::vector<BenchmarkFigures>& all, const MeasuredRates& rates) {
  std::vector<Line> lines;
  for (const BenchmarkFigures& figures : all) {
    const RooflineTime roofline_time = roofline_time_of(figures, rates);
    lines.push_back({figures, roofline_time, bottlenecks_of(figures, roofline_time, rates)});
  }
  std::vector<FiguresColumn> shown = all_columns();
  std::erase_if(shown, [&](const FiguresColumn& column) {
    const auto is_unknown = [&](const Line& line) { return column.text(line) == "-"; };
    return !column.is_always_shown && std::ranges::all_of(lines, is_unknown);
  });
  std::vector<Column> columns;
  for (const FiguresColumn& column : shown) columns.push_back(column.column);
  Table table(std::move(columns));
  for (const Line& line : lines) {
    std::vector<Cell> row;
    for (const FiguresColumn& column : shown) row.emplace_back(column.text(line));
    table.add_row(std::move(row));
  }
  return table;
}

}  // namespace fusegate::ci
