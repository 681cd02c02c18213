#include "ci/report/trace_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <ranges>
#include <utility>

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

template <auto member>
double total(const baselines::TraceRow& row) {
  return static_cast<double>(row.*member);
}

template <auto member>
double average_of(const baselines::TraceRow& row) {
  return average(row.*member, row);
}

using Row = baselines::TraceRow;
using SortKey = double (*)(const Row&);
const std::vector<std::pair<std::string, SortKey>> kSortKeys{
    {"cuda", total<&Row::cuda_ns>},
    {"self-cuda", total<&Row::self_cuda_ns>},
    {"cuda-average", average_of<&Row::cuda_ns>},
    {"cpu", total<&Row::cpu_ns>},
    {"self-cpu", total<&Row::self_cpu_ns>},
    {"cpu-average", average_of<&Row::cpu_ns>},
    {"calls", total<&Row::calls>},
    {"name", nullptr}};

std::string_view category_title(baselines::TraceCategory category) {
  // In the enum's order.
  constexpr std::array<std::string_view, 10> kTitles{"operator",         "range",
                                                     "runtime call",     "driver call",
                                                     "kernel",           "memory operation",
                                                     "memory operation", "range on the GPU",
                                                     "Python",           "profiler overhead"};
  return kTitles.at(static_cast<std::size_t>(category));
}

std::string format_ns(std::int64_t ns) { return format_time_ns(static_cast<double>(ns)); }

}  // namespace

std::vector<std::string> trace_orders() {
  const auto names = std::views::keys(kSortKeys);
  return {names.begin(), names.end()};
}

void sort_rows(std::vector<Row>& rows, std::string_view order) {
  const SortKey key =
      std::ranges::find(kSortKeys, order, [](const auto& known) { return known.first; })->second;
  if (key == nullptr) {
    std::ranges::stable_sort(rows, {}, &Row::name);
    return;
  }
  std::ranges::stable_sort(rows, std::ranges::greater(),
                           [&](const Row& row) { return std::pair(key(row), row.cpu_ns); });
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

Table trace_table(const baselines::TraceSummary& summary, std::size_t name_width) {
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
  for (const Row& row : summary.rows) {
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
          {"left_out", summary.lost.events},
          {"cuda_ns", summary.cuda_ns},
          {"cpu_ns", summary.cpu_ns},
          {"rows", rows}};
}

std::vector<std::string> loss_notes(const baselines::TraceLosses& lost) {
  std::vector<std::string> notes;
  if (lost.events > 0) {
    notes.push_back(fmt::format("{} left out, {}{}", format_count(lost.events, "event"),
                                lost.events > 1 ? "the first: " : "", lost.first));
  }
  if (lost.bytes > 0) {
    notes.push_back(
        fmt::format("{} no UTF-8 and shown as \\x..",
                    lost.bytes == 1 ? "1 byte is" : fmt::format("{} bytes are", lost.bytes)));
  }
  return notes;
}

std::vector<std::string> trace_notes(const baselines::TraceSummary& summary) {
  std::vector<std::string> notes = loss_notes(summary.lost);
  if (summary.enclosing) {
    constexpr std::size_t kLongestName = 100;
    notes.push_back(
        fmt::format("{} takes {}, in which {} of its stream began and ended: its duration is "
                    "wrong, unless they "
                    "are branches of a CUDA graph",
                    short_name(summary.enclosing->name, kLongestName),
                    format_time_ns(static_cast<double>(summary.enclosing->duration_ns)),
                    summary.enclosing->enclosed == 1
                        ? std::string("one other operation")
                        : fmt::format("{} other operations", summary.enclosing->enclosed)));
  }
  return notes;
}

}  // namespace fusegate::ci
