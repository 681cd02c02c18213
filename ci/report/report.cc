#include "ci/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "ci/console/format.h"
#include "ci/sweep/benchmark_figures.h"
#include "ci/sweep/figures_table.h"
#include "ci/sweep/peer_section.h"
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

// Line by line, with a column for the baseline where there is one.
class OriginTable {
 public:
  explicit OriginTable(bool with_baseline) : with_baseline_(with_baseline) {
    std::vector<Column> columns{{"field"}};
    if (with_baseline) columns.push_back({"baseline"});
    columns.push_back({"candidate"});
    table_ = Table(std::move(columns));
  }

  void add(const std::string& field, const std::string& before, const std::string& after,
           bool must_match) {
    if (before.empty() && after.empty()) return;
    const Tone tone = must_match && with_baseline_ && before != after ? Tone::kBad : Tone::kPlain;
    std::vector<Cell> row{field};
    if (with_baseline_) row.emplace_back(before, tone);
    row.emplace_back(after, tone);
    table_.add_row(std::move(row));
  }
  Table table() && { return std::move(table_); }

 private:
  bool with_baseline_;
  Table table_;
};

Section origin_section(const Report& report) {
  const GateFacts& gate = report.gate;
  const baselines::Run none;
  const baselines::Run& before = gate.baseline ? gate.baseline->run : none;
  const baselines::Run& after = gate.candidate;
  OriginTable table(gate.baseline.has_value());
  std::set<std::string> fields;
  for (const auto& [field, value] : before.environment) fields.insert(field);
  for (const auto& [field, value] : after.environment) fields.insert(field);
  for (const std::string& field : fields) {
    table.add(field, field_text(before.environment, field), field_text(after.environment, field),
              true);
  }
  const auto origin_before = origin_of(before);
  const auto origin_after = origin_of(after);
  for (std::size_t i = 0; i < origin_after.size(); ++i) {
    table.add(origin_after[i].first, gate.baseline ? origin_before[i].second : "",
              origin_after[i].second, false);
  }
  return {
      .title = "Environment and origin", .table = std::move(table).table(), .is_page_only = true};
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
  std::vector<Section>& sections = document.sections;
  const std::vector<BenchmarkFigures> figures = benchmark_figures(candidate);
  sections.push_back(peer_section(*report.peer_comparison));
  sections.push_back(sweep_section(report.sweeps));
  sections.push_back(crossover_section(report.crossovers));
  sections.push_back(roofline_section(figures, report.peer_comparison->rates));
  sections.push_back(figures_section(figures, report.peer_comparison->rates));
  sections.push_back(launches_section(candidate));
  sections.push_back(origin_section(report));
  return document;
}

}  // namespace fusegate::ci
