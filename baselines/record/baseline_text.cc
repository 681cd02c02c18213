// A baseline's text. A changed benchmark is one changed line in a pull request, and equal figures
// give equal bytes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>

#include "baselines/record/baseline.h"
#include "baselines/record/run_context.h"
#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {
namespace {

using nlohmann::json;

// On one line. Replaces bytes that are not UTF-8, which must not make a run unacceptable.
std::string dumped(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Five significant digits in the shortest form that reads back the same: 58123.4 -> "58123",
// 1.15964116992e11 -> "115960000000".
std::string number_text(double value) {
  if (!std::isfinite(value)) return "null";
  const double rounded = std::strtod(fmt::format("{:.4e}", value).c_str(), nullptr);
  // -0 would be read back as the integer 0, which has another text.
  return fmt::format("{}", std::isfinite(rounded) ? rounded + 0.0 : value);
}

std::string list_text(const std::vector<double>& values) {
  std::string text = "[";
  for (const double value : values) {
    if (text.size() > 1) text += ',';
    text += number_text(value);
  }
  return text + "]";
}

std::vector<double> values_of(const BenchmarkSeries& series, double ProcessSummary::*field) {
  std::vector<double> values;
  for (const ProcessSummary& summary : series.processes) values.push_back(summary.*field);
  return values;
}

// Numbers of cards, where there are several, or of processes.
std::string numbers_text(const BenchmarkSeries& series, int ProcessSummary::*field) {
  std::vector<int> numbers;
  for (const ProcessSummary& summary : series.processes) numbers.push_back(summary.*field);
  return fmt::format("[{}]", fmt::join(numbers, ","));
}

// Otherwise number_processes() restores the numbers.
bool benchmarks_differ_in_processes(const Run& run) {
  return std::ranges::any_of(run.benchmarks, [](const BenchmarkSeries& series) {
    return std::ranges::any_of(series.processes, [next = 0](const ProcessSummary& summary) mutable {
      return summary.process != next++;
    });
  });
}

struct Numbered {
  bool cards = false;
  bool processes = false;
};

// One list per process, as read_clock_fit() reads it.
std::string clock_fits_text(const BenchmarkSeries& series) {
  std::string text = "[";
  for (const ProcessSummary& summary : series.processes) {
    const ClockFit& fit = summary.clock_fit;
    if (text.size() > 1) text += ',';
    text += list_text({fit.time_squares, fit.clock_squares, fit.products, fit.degrees_of_freedom});
  }
  return text + "]";
}

std::string counters_text(const std::map<std::string, double>& counters) {
  std::string text;
  for (const auto& [name, value] : counters) {
    if (!std::isfinite(value)) continue;
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", dumped(name), number_text(value));
  }
  return "{" + text + "}";
}

json warning_json(const std::vector<Warning>& warnings) {
  json names = json::array();
  for (const Warning warning : warnings) names.push_back(warning_name(warning));
  return names;
}

int median_samples(const BenchmarkSeries& series) {
  std::vector<double> samples;
  for (const ProcessSummary& summary : series.processes) samples.push_back(summary.samples);
  return samples.empty() ? 0 : static_cast<int>(median(std::move(samples)));
}

// A list beside the times; empty where a process has no value.
std::string host_text(const BenchmarkSeries& series, const char* name,
                      double ProcessSummary::*field) {
  const auto values = values_of(series, field);
  const auto known = [](double value) { return std::isfinite(value); };
  if (values.empty() || !std::ranges::all_of(values, known)) return "";
  return fmt::format(",\"{}\":{}", name, list_text(values));
}

// Keys in reading order: what it is, how long it takes, how sure, and what was measured along.
std::string series_text(const BenchmarkSeries& series, const Numbered& numbered) {
  std::string text = fmt::format("{{\"name\":{},\"time_ns\":{}", dumped(series.name),
                                 list_text(values_of(series, &ProcessSummary::time_ns)));
  if (numbered.cards) text += ",\"cards\":" + numbers_text(series, &ProcessSummary::card);
  if (numbered.processes) {
    text += ",\"processes\":" + numbers_text(series, &ProcessSummary::process);
  }
  const auto cycles = values_of(series, &ProcessSummary::cycles);
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!cycles.empty() && std::ranges::all_of(cycles, finite)) {
    text +=
        fmt::format(",\"cycles\":{},\"clock_fit\":{}", list_text(cycles), clock_fits_text(series));
  }
  text += host_text(series, kHostNs, &ProcessSummary::host_ns);
  text += host_text(series, kHostGraphNs, &ProcessSummary::host_graph_ns);
  if (!series.processes.empty()) {
    text += fmt::format(",\"spread\":{},\"samples\":{}",
                        number_text(median(values_of(series, &ProcessSummary::spread))),
                        median_samples(series));
  }
  if (!series.failure.empty()) text += ",\"failure\":" + dumped(series.failure);
  if (!series.counters.empty()) text += ",\"counters\":" + counters_text(series.counters);
  if (!series.choices.empty()) text += ",\"choices\":" + dumped(series.choices);
  if (!series.warnings.empty()) text += ",\"warnings\":" + dumped(warning_json(series.warnings));
  if (series.profile) text += ",\"profile\":" + dumped(stored_profile_json(*series.profile));
  if (series.identity) text += ",\"identity\":" + dumped(identity_json(*series.identity));
  return text + "}";
}

json acceptance_json(const Acceptance& acceptance) {
  return {{"who", acceptance.who}, {"when", acceptance.when}, {"reason", acceptance.reason}};
}

json provenance_json(const Run& run, const Numbered& numbered) {
  const Provenance& provenance = run.provenance;
  json members{{"commit", provenance.commit},
               {"dirty", provenance.dirty},
               {"date", provenance.date},
               {"host", provenance.host},
               {"device_uuid", provenance.device_uuid},
               {"suite", provenance.suite},
               {"protocol", provenance.protocol}};
  if (!provenance.cpu.empty()) members["cpu"] = provenance.cpu;
  if (!provenance.toolchain.empty()) members["toolchain"] = provenance.toolchain;
  if (!provenance.fusegate.empty()) members["fusegate"] = provenance.fusegate;
  if (!provenance.context.empty()) members["context"] = provenance.context;
  if (!provenance.settings.empty()) members[kSettings] = settings_json(provenance.settings);
  if (numbered.cards) members["cards"] = run.cards;
  if (numbered.processes) members["processes"] = run.process_names;
  return members;
}

// One member per line, so that a changed driver is one changed line.
std::string indented(const json& object) {
  return object.empty() ? "{}" : object.dump(1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

std::string baseline_text(const Baseline& baseline) {
  const Run& run = baseline.run;
  std::vector<const BenchmarkSeries*> sorted;
  for (const BenchmarkSeries& series : run.benchmarks) {
    if (!series.is_unmeasured()) sorted.push_back(&series);  // no figures to store
  }
  std::ranges::sort(sorted, {}, [](const BenchmarkSeries* series) { return series->name; });
  const Numbered numbered{run.cards.size() > 1,
                          !run.process_names.empty() && benchmarks_differ_in_processes(run)};
  std::string benchmarks;
  for (const BenchmarkSeries* series : sorted) {
    if (!benchmarks.empty()) benchmarks += ",\n";
    benchmarks += series_text(*series, numbered);
  }
  return fmt::format(
      "{{\n\"fusegate_baseline\": {},\n\"published\": {},\n\"acceptance\": {},\n"
      "\"provenance\": {},\n\"environment\": {},\n\"warnings\": {},\n\"controls\": {},\n{}{}{}"
      "\"benchmarks\": [\n{}\n]\n}}\n",
      kBaselineSchemaVersion, baseline.published, indented(acceptance_json(baseline.acceptance)),
      indented(provenance_json(run, numbered)), indented(json(run.environment)),
      dumped(warning_json(run.warnings)), dumped(controls_of(run)),
      run.left_out.empty() ? "" : fmt::format("\"left_out\": {},\n", indented(run.left_out)),
      run.compared_with.empty()
          ? ""
          : fmt::format("\"compared_with\": {},\n", dumped(run.compared_with)),
      run.across_ranks.empty()
          ? ""
          : fmt::format("\"across_ranks\": {},\n", dumped(across_ranks_json(run.across_ranks))),
      benchmarks);
}

}  // namespace fusegate::baselines
