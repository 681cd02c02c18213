#include "baselines/history/night_json.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "baselines/history/night_fields.h"
#include "baselines/io/instant.h"
#include "baselines/io/json_field.h"

namespace fusegate::baselines {
namespace {

using nlohmann::json;

constexpr std::array kTextsOfBenchmark{std::pair{"operation", &NightBenchmark::operation},
                                       std::pair{"implementation", &NightBenchmark::implementation},
                                       std::pair{"identity", &NightBenchmark::identity}};

void put_known(const char* name, const std::string& text, json& object) {
  if (!text.empty()) object[name] = text;
}
void put_known(const char* name, double number, json& object) {
  if (std::isfinite(number)) object[name] = number;
}

void read_text(const JsonField& object, const char* name, std::string& text) {
  text = object.text_or_empty(name);
}
void read_number(const JsonField& object, const char* name, double& number) {
  if (const auto field = object.find(name)) number = field->number();
}

json benchmark_json(const NightBenchmark& benchmark) {
  json object{{"name", benchmark.name}, {"processes", benchmark.processes}};
  for (const auto& [name, text] : kTextsOfBenchmark) put_known(name, benchmark.*text, object);
  for (const auto& [name, figure] : kFigures) put_known(name, benchmark.*figure, object);
  if (benchmark.is_control) object["control"] = true;
  if (!benchmark.kernels.empty()) object["kernels"] = benchmark.kernels;
  if (!benchmark.choices.empty()) object["choices"] = benchmark.choices;
  if (benchmark.over_replay) {
    object["over_replay"] = json::object();
    put_known("value", benchmark.over_replay->value, object["over_replay"]);
    put_known("variance", benchmark.over_replay->variance, object["over_replay"]);
  }
  if (benchmark.clock_ghz > 0) {
    object["clock"] = {{"ghz", benchmark.clock_ghz}, {"share", benchmark.clock_share}};
  }
  return object;
}

NightBenchmark parse_benchmark(const JsonField& object) {
  NightBenchmark benchmark{.name = object.at("name").text(),
                           .processes = object.at("processes").integer()};
  for (const auto& [name, text] : kTextsOfBenchmark) read_text(object, name, benchmark.*text);
  for (const auto& [name, figure] : kFigures) read_number(object, name, benchmark.*figure);
  if (const auto control = object.find("control")) benchmark.is_control = control->boolean();
  if (const auto kernels = object.find("kernels")) {
    for (const JsonField& kernel : kernels->elements()) benchmark.kernels.push_back(kernel.text());
  }
  if (const auto choices = object.find("choices")) {
    for (const auto& [stage, choice] : choices->members()) benchmark.choices[stage] = choice.text();
  }
  if (const auto over = object.find("over_replay")) {
    benchmark.over_replay.emplace();
    read_number(*over, "value", benchmark.over_replay->value);
    read_number(*over, "variance", benchmark.over_replay->variance);
  }
  if (const auto clock = object.find("clock")) {
    benchmark.clock_ghz = clock->at("ghz").positive_number();
    benchmark.clock_share = clock->at("share").number_from_zero();
  }
  return benchmark;
}

std::int64_t unix_s_of(const JsonField& date) {
  const auto instant = parse_instant(date.text());
  if (!instant) date.fail("must be a date such as 2026-11-21T02:53:32Z");
  return instant->time_since_epoch().count();
}

}  // namespace

std::string night_line(const Night& night) {
  const std::chrono::sys_seconds date{std::chrono::seconds(night.unix_s)};
  json object{{kNightMark, kNightSchemaVersion},
              {"session", night.session},
              {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", date)},
              {"benchmarks", json::array()}};
  for (const auto& [name, text] : kNightTexts) put_known(name, night.*text, object);
  for (const NightBenchmark& benchmark : night.benchmarks) {
    object["benchmarks"].push_back(benchmark_json(benchmark));
  }
  return object.dump(-1, ' ', true, json::error_handler_t::replace);
}

Night parse_night(std::string_view line, const std::string& source) {
  const json tree = parse_json(line, source);
  const JsonField root(tree, source, "");
  if (root.at(kNightMark).integer() > kNightSchemaVersion) {
    root.fail_member(kNightMark, "a newer fusegate wrote it; update fusegate");
  }
  Night night{.session = root.at("session").text(), .unix_s = unix_s_of(root.at("date"))};
  if (night.session.empty()) root.fail_member("session", "must not be empty");
  for (const auto& [name, text] : kNightTexts) read_text(root, name, night.*text);
  for (const JsonField& benchmark : root.at("benchmarks").elements()) {
    night.benchmarks.push_back(parse_benchmark(benchmark));
  }
  std::ranges::sort(night.benchmarks, {}, &NightBenchmark::name);
  const auto twice = std::ranges::adjacent_find(night.benchmarks, {}, &NightBenchmark::name);
  if (twice != night.benchmarks.end()) {
    root.fail_member("benchmarks", fmt::format("\"{}\" is in it twice", twice->name));
  }
  return night;
}

}  // namespace fusegate::baselines
