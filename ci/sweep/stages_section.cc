#include "ci/sweep/stages_section.h"

#include <algorithm>
#include <string>
#include <utility>

#include "baselines/record/benchmark_name.h"
#include "ci/console/format.h"

namespace fusegate::ci {
namespace {

using Group = std::vector<const baselines::BenchmarkSeries*>;

constexpr const char* kNote =
    "GPU time by stage, of one call with a profiler attached: sum counts every duration, own not "
    "what ran while something earlier still did; share is own time of the whole.";

std::string stage_name(const std::string& stage) {
  return stage.empty() ? "outside of stages" : stage;
}

void add_rows(const std::string& benchmark, const baselines::StageTimes& times, Table* table) {
  for (const baselines::StageTime& stage : times.stages) {
    table->add_row({benchmark, stage_name(stage.stage), std::to_string(stage.kernels),
                    std::to_string(stage.memory_operations), format_time_ns(stage.sum_ns),
                    format_time_ns(stage.own_ns), format_share(times.share(stage.own_ns))});
  }
  table->add_row({benchmark, "gaps", "", "", "", format_time_ns(times.gap_ns),
                  format_share(times.share(times.gap_ns))});
}

Table stages_table(const Group& group) {
  Table table({{"benchmark", Align::kLeft, true},
               {"stage", Align::kLeft, true},
               {"kernels", Align::kRight},
               {"memory operations", Align::kRight},
               {"sum", Align::kRight},
               {"own", Align::kRight},
               {"share", Align::kRight}});
  for (const baselines::BenchmarkSeries* series : group) {
    if (series->stage_times) add_rows(series->name, *series->stage_times, &table);
  }
  return table;
}

Bar bar_of(const std::string& benchmark, const baselines::StageTimes& times) {
  Bar bar{benchmark};
  const auto add = [&](const std::string& stage, double ns, bool is_gap) {
    const double share = times.share(ns);
    if (share > 0) bar.parts.push_back({stage, share, format_share(share), is_gap});
  };
  for (const baselines::StageTime& stage : times.stages) {
    add(stage_name(stage.stage), stage.own_ns, false);
  }
  add("gaps", times.gap_ns, true);
  return bar;
}

Table declared_table(const Group& group) {
  Table table(
      {{"benchmark", Align::kLeft, true}, {"part"}, {"expected"}, {"seen"}, {"as declared"}});
  for (const baselines::BenchmarkSeries* series : group) {
    if (!series->expectation) continue;
    for (const baselines::ExpectationPart& part : series->expectation->parts) {
      table.add_row({series->name, part.part, part.expected, part.seen,
                     part.met ? Cell("yes") : Cell("no", Tone::kBad)});
    }
  }
  return table;
}

Section group_section(const std::string& title, const Group& group) {
  BarsPicture bars;
  for (const baselines::BenchmarkSeries* series : group) {
    if (series->stage_times) bars.bars.push_back(bar_of(series->name, *series->stage_times));
  }
  Section section{.title = title + ": " + format_count(group.size(), "benchmark"),
                  .table = stages_table(group),
                  .parts = {{.title = title + ": declared and seen",
                             .table = declared_table(group),
                             .is_page_only = true}},
                  .fold = Fold::kAlways};
  if (!bars.bars.empty()) section.pictures = {bars};
  return section;
}

}  // namespace

Section stages_section(const baselines::Run& run) {
  Group all;
  for (const baselines::BenchmarkSeries& series : run.benchmarks) all.push_back(&series);
  Section section{.sentences = {kNote}, .table = stages_table(all)};
  return section.table.empty() ? Section{} : section;
}

Section launches_section(const baselines::Run& run) {
  std::vector<std::pair<std::string, Group>> groups;  // in the run's order
  for (const baselines::BenchmarkSeries& series : run.benchmarks) {
    if (!series.stage_times && !series.expectation) continue;
    const auto name = baselines::parse_benchmark_name(series.name);
    const std::string title =
        name ? name->operation + ", " + name->dtype : std::string("other benchmarks");
    auto group = std::ranges::find(groups, title, &std::pair<std::string, Group>::first);
    if (group == groups.end()) group = groups.insert(groups.end(), {title, {}});
    group->second.push_back(&series);
  }
  if (groups.empty()) return {};
  Section section{.title = "What each call launched", .sentences = {kNote}};
  for (const auto& [title, group] : groups) section.parts.push_back(group_section(title, group));
  return section;
}

}  // namespace fusegate::ci
