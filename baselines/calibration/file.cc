#include "baselines/calibration/file.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"
#include "baselines/record/baseline.h"

namespace fusegate::baselines {
namespace {

using nlohmann::ordered_json;

// Four significant digits, finer than any figure here is sure; null where it is not finite.
ordered_json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::strtod(fmt::format("{:.3e}", value).c_str(), nullptr);
}

// A commit's subject or a host's name need not be UTF-8.
std::string dumped(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

template <typename T, typename ToJson>
ordered_json by_class(const PerClass<T>& values, ToJson to_json) {
  ordered_json result;
  for (const DurationClass duration : kDurationClasses) {
    result[std::string(duration_class_key(duration))] =
        to_json(duration, values[class_index(duration)]);
  }
  return result;
}

ordered_json rate_json(const Rate& rate) {
  const Interval bounds = rate.bounds();
  return {{"count", rate.count},
          {"of", rate.of},
          {"share", number(rate.share())},
          {"low", number(bounds.low)},
          {"high", number(bounds.high)}};
}

ordered_json quantiles_json(const Quantiles& quantiles) {
  return {{"benchmarks", quantiles.benchmarks},
          {"median", number(quantiles.median)},
          {"p90", number(quantiles.p90)},
          {"max", number(quantiles.max)}};
}

ordered_json summary_json(const SpreadSummary& summary) {
  ordered_json json = quantiles_json(summary.quantiles);
  json["rms"] = number(summary.rms);
  json["within_target"] = summary.within_target;
  return json;
}

ordered_json spread_json(const PerClass<ClassSpread>& spread) {
  return by_class(spread, [](DurationClass duration, const ClassSpread& own) {
    return ordered_json{{"target", number(spread_target(duration))},
                        {"time", summary_json(own.time)},
                        {"cycles", summary_json(own.cycles)},
                        {"equal_clock", summary_json(own.equal_clock)}};
  });
}

ordered_json alarms_json(const FalseAlarms& alarms) {
  return {{"regressions", rate_json(alarms.regressions)},
          {"improvements", rate_json(alarms.improvements)}};
}

ordered_json drawn_json(const FalseAlarms& alarms, const PerClass<Quantiles>& detectable) {
  ordered_json json = alarms_json(alarms);
  json["detection"] = ordered_json::array();
  json["smallest_detectable"] =
      by_class(detectable, [](DurationClass, const Quantiles& own) { return quantiles_json(own); });
  return json;
}

// The format has more than is tried: what is not is 0 of 0.
ordered_json rule_json(const Calibration& calibration) {
  const Rule& rule = calibration.options.rule;
  return {{"min_effect", number(rule.min_effect)},
          {"false_discovery_rate", number(rule.false_discovery_rate)},
          {"confidence", number(rule.confidence)},
          {"same_card", drawn_json(calibration.alarms, calibration.smallest_detectable)},
          {"side_by_side", drawn_json({}, {})},
          {"other_card", alarms_json({})},
          {"same_card_runs", alarms_json({})},
          {"other_card_runs", alarms_json({})}};
}

ordered_json card_spread_json(const CardSpread& spread) {
  return {{"benchmarks", spread.benchmarks},
          {"time", number(spread.time)},
          {"cycles", number(spread.cycles)},
          {"equal_clock", number(spread.equal_clock)}};
}

ordered_json between_card_json(const std::optional<BetweenCard>& between) {
  if (!between) return nullptr;
  ordered_json json{{"cards", between->cards}};
  json.update(card_spread_json(between->all));
  json["classes"] = by_class(between->classes, [](DurationClass duration, const CardSpread& own) {
    ordered_json spread = card_spread_json(own);
    spread["from_ns"] = shortest_ns(duration);
    return spread;
  });
  json["compute_bound"] = card_spread_json(between->compute_bound);
  json["memory_bound"] = card_spread_json(between->memory_bound);
  return json;
}

ordered_json run_json(const CalibratedRun& run) {
  return {{"source", run.source},      {"device_uuid", run.device_uuid},
          {"commit", run.commit},      {"dirty", run.dirty},
          {"date", run.date},          {"host", run.host},
          {"processes", run.processes}};
}

ordered_json benchmark_json(const BenchmarkCalibration& benchmark) {
  return {{"name", benchmark.name},
          {"time_ns", number(benchmark.time_ns)},
          {"spread_time", number(benchmark.spread_time)},
          {"spread_cycles", number(benchmark.spread_cycles)},
          {"spread_equal_clock", number(benchmark.spread_equal_clock)},
          {"degrees_of_freedom", benchmark.degrees_of_freedom},
          {"smallest_detectable", number(benchmark.smallest_detectable)}};
}

// One element or member a line: what changed is what a review shows.
template <typename T, typename ToJson>
std::string element_lines(const std::vector<T>& values, ToJson to_json) {
  std::string text;
  for (const T& value : values) {
    text += (text.empty() ? "" : ",\n") + dumped(to_json(value));
  }
  return "[\n" + text + "\n]";
}

std::string member_lines(const ordered_json& object) {
  if (!object.is_object()) return dumped(object);
  std::string text;
  for (const auto& [key, value] : object.items()) {
    text += fmt::format("{} {}: {}", text.empty() ? "" : ",\n", dumped(key), dumped(value));
  }
  return "{\n" + text + "\n}";
}

ordered_json warning_json(const std::vector<Warning>& warnings) {
  ordered_json names = ordered_json::array();
  for (const Warning warning : warnings) names.push_back(warning_name(warning));
  return names;
}

}  // namespace

std::string calibration_text(const Calibration& calibration) {
  const ordered_json draws{{"comparisons", calibration.options.comparisons},
                           {"side", calibration.options.processes},
                           {"seed", calibration.options.seed},
                           {"possible", nullptr},
                           {"possible_side_by_side", nullptr}};
  std::string text = fmt::format("{{\n\"fusegate_calibration\": {}", kCalibrationSchemaVersion);
  const auto add = [&text](std::string_view key, const std::string& value) {
    text += fmt::format(",\n\"{}\": {}", key, value);
  };
  add("date", dumped(calibration.date));
  add("suite", dumped(calibration.suite));
  add("environment", member_lines(ordered_json(calibration.environment)));
  add("protocol", member_lines(ordered_json(calibration.protocol)));
  add("warnings", dumped(warning_json(calibration.warnings)));
  add("runs", element_lines(calibration.runs, run_json));
  add("left_out", dumped(ordered_json(calibration.left_out)));
  add("draws", dumped(draws));
  add("spread", member_lines(spread_json(calibration.spread)));
  add("rules", "[\n" + member_lines(rule_json(calibration)) + "\n]");
  add("between_card", member_lines(between_card_json(calibration.between_card)));
  add("benchmarks", element_lines(calibration.benchmarks, benchmark_json));
  return text + "\n}\n";
}

std::map<std::string, double> read_spreads(const std::filesystem::path& calibration) {
  const nlohmann::json json = parse_json(read_file(calibration), calibration.string());
  std::map<std::string, double> spreads;
  for (const JsonField& row :
       JsonField(json, calibration.string(), "").at("benchmarks").elements()) {
    const auto spread = row.find("spread_time");  // null of a single process
    if (spread) spreads[row.at("name").text()] = spread->number_from_zero();
  }
  return spreads;
}

std::filesystem::path calibration_path(const std::filesystem::path& store,
                                       const Environment& environment, const std::string& suite) {
  return baseline_path(store, environment, suite).replace_extension(".calibration.json");
}

}  // namespace fusegate::baselines
