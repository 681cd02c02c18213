#include "baselines/calibration/file.h"

#include <fmt/format.h>

#include <limits>

#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"
#include "baselines/record/baseline.h"
#include "baselines/record/run_context.h"

namespace fusegate::baselines {
namespace {

namespace fs = std::filesystem;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double number_or_nan(const JsonField& field, std::string_view key) {
  const auto found = field.find(key);
  return found ? found->number() : kNan;
}

int count_at(const JsonField& field, std::string_view key) {
  const JsonField found = field.at(key);
  const int count = found.integer();
  if (count < 0) found.fail("must not be negative");
  return count;
}

// A standard deviation; the gate computes with it.
double spread_or_nan(const JsonField& field, std::string_view key) {
  const auto found = field.find(key);
  if (!found) return kNan;
  if (found->number() < 0) found->fail("must not be negative");
  return found->number();
}

template <typename T, typename Read>
PerClass<T> read_by_class(const JsonField& field, Read read) {
  PerClass<T> result;
  for (const DurationClass duration : kDurationClasses) {
    result[class_index(duration)] = read(field.at(duration_class_key(duration)));
  }
  return result;
}

Rate read_rate(const JsonField& field) {
  const Rate rate{count_at(field, "count"), count_at(field, "of")};
  if (rate.count > rate.of) field.at("count").fail("must not be above \"of\"");
  return rate;
}

Quantiles read_quantiles(const JsonField& field) {
  return {count_at(field, "benchmarks"), number_or_nan(field, "median"),
          number_or_nan(field, "p90"), number_or_nan(field, "max")};
}

SpreadSummary read_summary(const JsonField& field) {
  return {read_quantiles(field), spread_or_nan(field, "rms"), count_at(field, "within_target")};
}

ClassSpread read_class_spread(const JsonField& field) {
  return {read_summary(field.at("time")), read_summary(field.at("cycles")),
          read_summary(field.at("equal_clock"))};
}

FalseAlarms read_alarms(const JsonField& field) {
  return {read_rate(field.at("regressions")), read_rate(field.at("improvements"))};
}

Detection read_detection(const JsonField& field) {
  return {field.at("slowdown").positive_number(), read_by_class<Rate>(field.at("found"), read_rate),
          read_rate(field.at("outside"))};
}

DrawnCalibration read_drawn(const JsonField& field) {
  DrawnCalibration own;
  own.alarms = read_alarms(field);
  for (const JsonField& slowed : field.at("detection").elements()) {
    own.detection.push_back(read_detection(slowed));
  }
  own.smallest_detectable =
      read_by_class<Quantiles>(field.at("smallest_detectable"), read_quantiles);
  return own;
}

RuleCalibration read_rule(const JsonField& field) {
  RuleCalibration own;
  own.rule.min_effect = field.at("min_effect").number();
  own.rule.false_discovery_rate = field.at("false_discovery_rate").positive_number();
  own.rule.confidence = field.at("confidence").positive_number();
  own.same_card = read_drawn(field.at("same_card"));
  own.side_by_side = read_drawn(field.at("side_by_side"));
  own.other_card = read_alarms(field.at("other_card"));
  own.same_card_runs = read_alarms(field.at("same_card_runs"));
  own.other_card_runs = read_alarms(field.at("other_card_runs"));
  return own;
}

CardSpread read_card_spread(const JsonField& field) {
  return {count_at(field, "benchmarks"), spread_or_nan(field, "time"),
          spread_or_nan(field, "cycles"), spread_or_nan(field, "equal_clock")};
}

BetweenCard read_between_card(const JsonField& field) {
  BetweenCard between;
  between.cards = count_at(field, "cards");
  between.all = read_card_spread(field);
  between.classes = read_by_class<CardSpread>(field.at("classes"), read_card_spread);
  between.compute_bound = read_card_spread(field.at("compute_bound"));
  between.memory_bound = read_card_spread(field.at("memory_bound"));
  return between;
}

CalibratedRun read_run(const JsonField& field) {
  CalibratedRun run;
  run.source = field.text_or_empty("source");
  run.device_uuid = field.text_or_empty("device_uuid");
  run.commit = field.text_or_empty("commit");
  if (const auto dirty = field.find("dirty")) run.dirty = dirty->boolean();
  run.date = field.text_or_empty("date");
  run.host = field.text_or_empty("host");
  run.invocations = count_at(field, "invocations");
  return run;
}

BenchmarkCalibration read_benchmark(const JsonField& field) {
  BenchmarkCalibration benchmark;
  benchmark.name = field.at("name").text();
  benchmark.time_ns = field.at("time_ns").positive_number();
  benchmark.spread_time = spread_or_nan(field, "spread_time");
  benchmark.spread_cycles = spread_or_nan(field, "spread_cycles");
  benchmark.spread_equal_clock = spread_or_nan(field, "spread_equal_clock");
  benchmark.degrees_of_freedom = field.at("degrees_of_freedom").number();
  benchmark.smallest_detectable = number_or_nan(field, "smallest_detectable");
  return benchmark;
}

void read_draws(const JsonField& field, Calibration& calibration) {
  calibration.comparisons = count_at(field, "comparisons");
  calibration.side = count_at(field, "side");
  if (!field.at("seed").value().is_number_unsigned()) {
    field.at("seed").fail("must be a whole number, not negative");
  }
  calibration.seed = field.at("seed").value().get<std::uint64_t>();
  calibration.possible_draws = number_or_nan(field, "possible");
  calibration.possible_side_by_side = number_or_nan(field, "possible_side_by_side");
}

void check_version(const JsonField& version) {
  if (version.integer() > kCalibrationSchemaVersion) {
    version.fail(fmt::format("{} is newer than this fusegate, which reads up to {}",
                             version.integer(), kCalibrationSchemaVersion));
  }
}

}  // namespace

Calibration parse_calibration(std::string_view text, const std::string& source) {
  const nlohmann::json root = parse_json(text, source);
  const JsonField field(root, source, "");
  check_version(field.at("fusegate_calibration"));
  Calibration calibration;
  calibration.date = field.text_or_empty("date");
  calibration.suite = field.text_or_empty("suite");
  calibration.environment = read_environment(field.at("environment"));
  if (const auto protocol = field.find("protocol")) calibration.protocol = protocol->value();
  calibration.doubts = read_doubts(field.at("doubts"));
  for (const JsonField& run : field.at("runs").elements()) {
    calibration.runs.push_back(read_run(run));
  }
  for (const JsonField& name : field.at("left_out").elements()) {
    calibration.left_out.push_back(name.text());
  }
  read_draws(field.at("draws"), calibration);
  calibration.spread = read_by_class<ClassSpread>(field.at("spread"), read_class_spread);
  for (const JsonField& rule : field.at("rules").elements()) {
    calibration.rules.push_back(read_rule(rule));
  }
  if (const auto between = field.find("between_card")) {
    calibration.between_card = read_between_card(*between);
  }
  for (const JsonField& benchmark : field.at("benchmarks").elements()) {
    calibration.benchmarks.push_back(read_benchmark(benchmark));
  }
  return calibration;
}

Calibration read_calibration(const fs::path& path) {
  return parse_calibration(read_file(path), path.string());
}

fs::path calibration_path(const fs::path& store, const Environment& environment,
                          const std::string& suite) {
  return baseline_path(store, environment, suite).replace_extension(".calibration.json");
}

std::optional<fs::path> find_calibration(const std::vector<fs::path>& stores,
                                         const Environment& environment, const std::string& suite) {
  for (const fs::path& store : stores) {
    const fs::path path = calibration_path(store, environment, suite);
    std::error_code error;
    if (fs::exists(path, error)) return path;
  }
  return std::nullopt;
}

}  // namespace fusegate::baselines
