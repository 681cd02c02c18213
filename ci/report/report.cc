#include "ci/report/report.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "ci/console/format.h"
#include "ci/peers/peer_section.h"
#include "ci/sweep/benchmark_figures.h"
#include "ci/sweep/figures_table.h"
#include "ci/sweep/ranks_section.h"
#include "ci/sweep/stages_section.h"
#include "ci/sweep/sweep_sections.h"

namespace fusegate::ci {
namespace {

using nlohmann::json;

// A table of as many stays open on the page.
constexpr std::size_t kMostOpenRows = 100;

Section figures_section(const std::vector<BenchmarkFigures>& figures, const MeasuredRates& rates) {
  Section section{.sentences = {"Spread: of the processes' times, one standard deviation."},
                  .table = figures_table(figures, rates)};
  const std::size_t rows = section.table.rows().size();
  section.title = format_count(rows, "benchmark") + ", all figures";
  section.fold = rows <= kMostOpenRows ? Fold::kInMarkdown : Fold::kAlways;
  return section;
}

std::string value_text(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string field_text(const baselines::Environment& environment, const std::string& field) {
  const auto found = environment.find(field);
  return found == environment.end() ? "" : value_text(found->second);
}

std::vector<std::pair<std::string, std::string>> origin_of(const baselines::Run& run) {
  const baselines::Provenance& from = run.provenance;
  return {{"commit", from.commit},       {"uncommitted changes", from.dirty ? "yes" : "no"},
          {"toolchain", from.toolchain}, {"date", from.date},
          {"host", from.host},           {"device uuid", from.device_uuid},
          {"suite", from.suite}};
}

Section origin_section(const GateFacts& gate) {
  const baselines::Run none;
  const baselines::Run& before = gate.baseline ? gate.baseline->run : none;
  const baselines::Run& after = gate.candidate;
  std::vector<Column> columns{{"field"}};
  if (gate.baseline) columns.push_back({"baseline"});
  columns.push_back({"candidate"});
  Table table(std::move(columns));
  const auto add = [&](const std::string& field, const std::string& was, const std::string& is,
                       bool must_match) {
    if (was.empty() && is.empty()) return;
    const Tone tone = must_match && gate.baseline && was != is ? Tone::kBad : Tone::kPlain;
    std::vector<Cell> row{field};
    if (gate.baseline) row.emplace_back(was, tone);
    row.emplace_back(is, tone);
    table.add_row(std::move(row));
  };
  baselines::Environment fields = before.environment;
  fields.insert(after.environment.begin(), after.environment.end());
  for (const auto& [field, value] : fields) {
    add(field, field_text(before.environment, field), field_text(after.environment, field), true);
  }
  const auto origin_before = origin_of(before), origin_after = origin_of(after);
  for (std::size_t i = 0; i < origin_after.size(); ++i) {
    add(origin_after[i].first, origin_before[i].second, origin_after[i].second, false);
  }
  return {.title = "Environment and origin", .table = std::move(table), .is_page_only = true};
}

}  // namespace

std::string environment_text(const baselines::Environment& environment) {
  std::string text;
  for (const auto& [field, value] : environment) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", field, value_text(value));
  }
  return text;
}

Document report_document(const Report& report) {
  Document document = gate_document(report.title, report.gate);
  if (!report.peer_comparison) return document;
  const baselines::Run& candidate = report.gate.candidate;
  const std::vector<BenchmarkFigures> figures = benchmark_figures(candidate);
  const MeasuredRates& rates = report.peer_comparison->rates;
  for (Section& section : std::array{
           peer_section(*report.peer_comparison), sweep_section(report.sweeps),
           crossover_section(crossovers(report.sweeps)), ranks_section(times_over_ranks(candidate)),
           roofline_section(figures, rates), figures_section(figures, rates),
           launches_section(candidate), origin_section(report.gate)}) {
    document.sections.push_back(std::move(section));
  }
  return document;
}

}  // namespace fusegate::ci
