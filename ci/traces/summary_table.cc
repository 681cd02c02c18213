#include "ci/traces/summary_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "ci/console/format.h"
#include "ci/console/json_number.h"

namespace fusegate::ci {
namespace {

double average(std::int64_t total, const baselines::TraceRow& row) {
  return static_cast<double>(total) / static_cast<double>(row.calls);
}

double share(std::int64_t part, const baselines::TraceSummary& summary) {
  if (summary.cuda_ns == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(part) / static_cast<double>(summary.cuda_ns);
}

double sort_key(const baselines::TraceRow& row, TraceOrder order) {
  switch (order) {
    case TraceOrder::kCuda:
      return static_cast<double>(row.cuda_ns);
    case TraceOrder::kSelfCuda:
      return static_cast<double>(row.self_cuda_ns);
    case TraceOrder::kCudaAverage:
      return average(row.cuda_ns, row);
    case TraceOrder::kCpu:
      return static_cast<double>(row.cpu_ns);
    case TraceOrder::kSelfCpu:
      return static_cast<double>(row.self_cpu_ns);
    case TraceOrder::kCpuAverage:
      return average(row.cpu_ns, row);
    case TraceOrder::kCalls:
      return static_cast<double>(row.calls);
    case TraceOrder::kName:
      break;
  }
  return 0;
}

std::string format_ns(std::int64_t ns) { return format_time_ns(static_cast<double>(ns)); }

}  // namespace

void sort_rows(std::vector<baselines::TraceRow>& rows, TraceOrder order) {
  if (order == TraceOrder::kName) {
    std::ranges::stable_sort(rows, {}, &baselines::TraceRow::name);
    return;
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), [&](const baselines::TraceRow& row) {
    return std::pair(sort_key(row, order), row.cpu_ns);
  });
}

std::string_view category_title(baselines::TraceCategory category) {
  switch (category) {
    case baselines::TraceCategory::kOperator:
      return "operator";
    case baselines::TraceCategory::kRange:
      return "range";
    case baselines::TraceCategory::kRuntimeCall:
      return "runtime call";
    case baselines::TraceCategory::kDriverCall:
      return "driver call";
    case baselines::TraceCategory::kKernel:
      return "kernel";
    case baselines::TraceCategory::kMemcpy:
    case baselines::TraceCategory::kMemset:
      return "memory operation";
    case baselines::TraceCategory::kGpuRange:
      return "range on the GPU";
    case baselines::TraceCategory::kPython:
      return "Python";
    case baselines::TraceCategory::kOverhead:
      break;
  }
  return "profiler overhead";
}

std::string short_name(const std::string& name, std::size_t name_width) {
  constexpr std::string_view kGap = "...";
  if (name_width <= kGap.size() || name.size() <= name_width) return name;
  const std::size_t kept = name_width - kGap.size();
  const auto is_inside_character = [&](std::size_t at) { return (name[at] & 0xC0) == 0x80; };
  std::size_t head = (kept + 1) / 2;
  while (head > 0 && is_inside_character(head)) --head;
  std::size_t tail = name.size() - kept / 2;
  while (tail < name.size() && is_inside_character(tail)) ++tail;
  return fmt::format("{}{}{}", name.substr(0, head), kGap, name.substr(tail));
}

Table trace_table(const baselines::TraceSummary& summary, std::size_t limit,
                  std::size_t name_width) {
  Table table({{"name", Align::kLeft, true},
               {"kind"},
               {"calls", Align::kRight},
               {"self CPU", Align::kRight},
               {"CPU total", Align::kRight},
               {"CPU average", Align::kRight},
               {"self CUDA", Align::kRight},
               {"share", Align::kRight},
               {"CUDA total", Align::kRight},
               {"share", Align::kRight},
               {"CUDA average", Align::kRight}});
  const std::size_t shown = limit == 0 ? summary.rows.size() : std::min(limit, summary.rows.size());
  for (const baselines::TraceRow& row : std::span(summary.rows).first(shown)) {
    table.add_row({short_name(row.name, name_width), std::string(category_title(row.category)),
                   std::to_string(row.calls), format_ns(row.self_cpu_ns), format_ns(row.cpu_ns),
                   format_time_ns(average(row.cpu_ns, row)), format_ns(row.self_cuda_ns),
                   format_share(share(row.self_cuda_ns, summary)), format_ns(row.cuda_ns),
                   format_share(share(row.cuda_ns, summary)),
                   format_time_ns(average(row.cuda_ns, row))});
  }
  return table;
}

nlohmann::json trace_json(const baselines::TraceSummary& summary) {
  nlohmann::json rows = nlohmann::json::array();
  for (const baselines::TraceRow& row : summary.rows) {
    rows.push_back({{"name", row.name},
                    {"category", baselines::category_name(row.category)},
                    {"calls", row.calls},
                    {"self_cpu_ns", row.self_cpu_ns},
                    {"cpu_ns", row.cpu_ns},
                    {"cpu_average_ns", average(row.cpu_ns, row)},
                    {"self_cuda_ns", row.self_cuda_ns},
                    {"self_cuda_share", json_number(share(row.self_cuda_ns, summary))},
                    {"cuda_ns", row.cuda_ns},
                    {"cuda_share", json_number(share(row.cuda_ns, summary))},
                    {"cuda_average_ns", average(row.cuda_ns, row)}});
  }
  return {{"steps", summary.steps},
          {"kernels", summary.kernels},
          {"memory_operations", summary.memory_operations},
          {"unowned", summary.unowned},
          {"cuda_ns", summary.cuda_ns},
          {"cpu_ns", summary.cpu_ns},
          {"rows", rows}};
}

}  // namespace fusegate::ci
