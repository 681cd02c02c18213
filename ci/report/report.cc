#include "ci/report/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "baselines/record/benchmark_name.h"
#include "ci/console/format.h"
#include "ci/console/json_number.h"
#include "ci/figures/benchmark_figures.h"
#include "ci/report/standing_json.h"
#include "ci/report/why_json.h"

namespace fusegate::ci {
namespace {

using nlohmann::json;

std::string device_of(const baselines::Run& run) {
  const auto device = run.environment.find("device");
  return device != run.environment.end() && device->second.is_string()
             ? device->second.get<std::string>()
             : "an unnamed device";
}

json run_json(const baselines::Run& run) {
  const baselines::Provenance& from = run.provenance;
  json environment = json::object();
  for (const auto& [field, value] : run.environment) environment[field] = value;
  return {{"source", run.source},
          {"description", describe(run)},
          {"environment", environment},
          {"provenance",
           {{"commit", from.commit},
            {"uncommitted changes", from.dirty},
            {"date", from.date},
            {"host", from.host},
            {"device uuid", from.device_uuid},
            {"suite", from.suite}}}};
}

json benchmark_json(const BenchmarkFigures& figures, const FloorRates& rates) {
  const Floor floor = floor_of(figures, rates);
  json result{{"name", figures.name},
              {"time_ns", json_number(figures.time_ns)},
              {"spread", json_number(figures.spread)},
              {"launches", json_number(figures.launches)},
              {"tflops", json_number(figures.tflops)},
              {"gbps", json_number(figures.gbps)},
              {"flops", json_number(figures.flops)},
              {"min_bytes", json_number(figures.min_bytes)},
              {"host_ns", json_number(figures.host_ns)},
              {"host_graph_ns", json_number(figures.host_graph_ns)},
              {"invocations", figures.invocations},
              {"failure", figures.failure}};
  result.update(floor_json(floor, class_of(figures, floor, rates)));
  if (const auto name = baselines::parse_benchmark_name(figures.name)) {
    result["operation"] = name->operation;
    result["implementation"] = name->implementation;
    result["dtype"] = name->dtype;
    result["problem"] = {{"batch", name->batch},
                         {"seq", name->seq},
                         {"dim", name->dim},
                         {"hidden", name->hidden},
                         {"rows", name->rows()}};
  }
  return result;
}

json point_json(const SweepPoint& point) {
  return {{"rows", point.rows},
          {"dim", point.dim},
          {"hidden", point.hidden},
          {"time_ns", json_number(point.time_ns)},
          {"tflops", json_number(point.tflops)},
          {"gbps", json_number(point.gbps)},
          {"speed_up", json_number(point.speed_up)}};
}

json sweep_json(const Sweep& sweep) {
  json series = json::array();
  for (const SweepSeries& one : sweep.series) {
    const SweepSummary summary = summarise(one);
    json points = json::array();
    for (const SweepPoint& point : one.points) points.push_back(point_json(point));
    series.push_back({{"implementation", one.implementation},
                      {"points", points},
                      {"mean_speed_up", json_number(summary.mean_speed_up)},
                      {"faster", summary.faster},
                      {"compared", summary.points}});
  }
  return {{"operation", sweep.operation},
          {"dtype", sweep.dtype},
          {"reference", sweep.reference},
          {"series", series}};
}

// The words that the page colours: they repeat the exit code and decide nothing.
std::string outcome(const Report& report) {
  if (!report.judgement) return "not compared";
  switch (report.judgement->result.exit_code) {
    case baselines::ExitCode::kNoRegression:
      return "pass";
    case baselines::ExitCode::kRegression:
      return "regression";
    case baselines::ExitCode::kCouldNotJudge:
      return "could not judge";
  }
  return "could not judge";
}

}  // namespace

int invocations_of(const baselines::Run& run) {
  std::size_t most = 0;
  for (const baselines::BenchmarkSeries& series : run.benchmarks) {
    most = std::max(most, series.invocations.size());
  }
  return static_cast<int>(most);
}

std::string describe(const baselines::Run& run) {
  std::string text = fmt::format(
      "{} on {}", format_count(static_cast<std::size_t>(invocations_of(run)), "invocation"),
      device_of(run));
  if (!run.provenance.commit.empty()) {
    text += fmt::format(", commit {}{}", run.provenance.commit.substr(0, 12),
                        run.provenance.dirty ? " with uncommitted changes" : "");
  }
  if (!run.provenance.date.empty()) text += ", " + run.provenance.date;
  return text;
}

std::string headline(const Report& report) {
  if (report.judgement) return report.judgement->result.headline;
  return fmt::format("{} in {}, compared with nothing",
                     format_count(report.candidate.benchmarks.size(), "benchmark"),
                     describe(report.candidate));
}

std::vector<std::string> doubt_sentences(const Report& report) {
  std::vector<std::string> sentences;
  if (report.judgement) sentences = report.judgement->result.notes;
  if (!report.judgement) {  // the gate's notes speak of both runs' doubts already
    for (const baselines::Doubt doubt : report.candidate.doubts)
      sentences.emplace_back(baselines::doubt_sentence(doubt));
  }
  return sentences;
}

json report_json(const Report& report) {
  const FloorRates rates = report.standings ? report.standings->rates : FloorRates{};
  json benchmarks = json::array();
  for (const BenchmarkFigures& figures : benchmark_figures(report.candidate)) {
    benchmarks.push_back(benchmark_json(figures, rates));
  }
  json sweeps = json::array();
  for (const Sweep& sweep : report.sweeps) sweeps.push_back(sweep_json(sweep));
  json result{{"title", report.title},
              {"headline", headline(report)},
              {"outcome", outcome(report)},
              {"doubts", doubt_sentences(report)},
              {"candidate", run_json(report.candidate)},
              {"baseline", nullptr},
              {"gate", nullptr},
              {"benchmarks", benchmarks},
              {"ceilings", ceilings_json(rates)},
              {"profiles", profiles_json(report.candidate)},
              {"sweeps", sweeps},
              {"crossovers", crossovers_json(report.crossovers)},
              {"standings", report.standings ? standings_json(*report.standings) : json(nullptr)}};
  if (report.judgement) {
    const Judgement& judgement = *report.judgement;
    result["baseline"] = run_json(judgement.baseline.run);
    result["baseline"]["acceptance"] = nullptr;
    if (judgement.baseline.acceptance) {
      result["baseline"]["acceptance"] = {{"who", judgement.baseline.acceptance->who},
                                          {"when", judgement.baseline.acceptance->when},
                                          {"reason", judgement.baseline.acceptance->reason}};
    }
    result["gate"] = baselines::gate_json(judgement.result, judgement.options);
  }
  return result;
}

}  // namespace fusegate::ci
