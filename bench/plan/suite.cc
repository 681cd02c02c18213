#include "bench/plan/suite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"
#include "baselines/io/pattern.h"
#include "kernels/contract/kernel.h"

namespace fusegate::bench {
namespace {

using baselines::JsonField;
using nlohmann::json;

// Names of "layouts" and "benchmarks" in suites that were written before.
constexpr std::string_view kFormerLayouts = "places", kFormerOwners = "owners";

void expect_keys(const JsonField& object, std::vector<std::string_view> keys) {
  for (const auto& [key, member] : object.members()) {
    if (std::ranges::find(keys, key) != keys.end()) continue;
    std::erase_if(
        keys, [](std::string_view one) { return one == kFormerLayouts || one == kFormerOwners; });
    member.fail(fmt::format("unknown key; known: {}", fmt::join(keys, ", ")));
  }
}

std::vector<JsonField> elements_of(const JsonField& list) {
  if (!list.value().is_array() || list.value().empty()) {
    list.fail("must be a list with at least one element");
  }
  return list.elements();
}

std::int64_t whole_number(const JsonField& field, std::int64_t low, std::int64_t high) {
  const json& value = field.value();
  const bool fits = value.is_number_integer() && value.get<double>() >= static_cast<double>(low) &&
                    value.get<double>() <= static_cast<double>(high);
  if (!fits) field.fail(fmt::format("must be a whole number from {} to {}", low, high));
  return value.get<std::int64_t>();
}

double number(const JsonField& field, bool (*fits)(double), const char* expected) {
  const json& value = field.value();
  if (!value.is_number() || !fits(value.get<double>())) field.fail(expected);
  return value.get<double>();
}

double fraction(const JsonField& field) {
  return number(
      field, [](double value) { return value > 0 && value < 1; },
      "must be a number between 0 and 1");
}

double microseconds(const JsonField& field) {
  return number(
      field, [](double value) { return value >= 0 && value <= 1e6; },
      "must be a number from 0 to 1000000");
}

// As it stands in a benchmark's name, between a colon and a slash.
bool is_value_name(const std::string& text) {
  const auto fits = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_.+-").find(c) != std::string_view::npos;
  };
  return !text.empty() && std::string_view(".+-").find(text.front()) == std::string_view::npos &&
         std::ranges::all_of(text, fits);
}

AxisValue parse_axis_value(const JsonField& field) {
  const json& value = field.value();
  if (value.is_boolean() || value.is_number_float()) return AxisValue(value.dump());
  if (value.is_string() && is_value_name(field.text())) return AxisValue(field.text());
  return whole_number(field, 1, kernels::kLargestAxis);
}

std::vector<AxisValue> parse_axis(const JsonField& axis) {
  std::vector<AxisValue> values;
  for (const JsonField& element : elements_of(axis)) values.push_back(parse_axis_value(element));
  return values;
}

// known: every name there is.
std::string known_name(const JsonField& field, const std::vector<std::string>& known) {
  const std::string name = field.text();
  if (std::ranges::find(known, name) == known.end()) {
    field.fail(fmt::format("unknown name '{}'; known: {}", name, fmt::join(known, ", ")));
  }
  return name;
}

std::vector<std::string> parse_names(const JsonField& sweep, const std::string& key,
                                     const std::vector<std::string>& known) {
  std::vector<std::string> names;
  const auto list = sweep.find(key);
  if (!list) return names;
  for (const JsonField& element : elements_of(*list)) {
    names.push_back(known_name(element, known));
  }
  return names;
}

std::vector<std::string> operation_names() {
  std::vector<std::string> names;
  for (const kernels::Operation& operation : kernels::operations()) names.push_back(operation.name);
  return names;
}

std::map<std::string, std::string> parse_compared_with(const JsonField& object) {
  std::map<std::string, std::string> implementations;
  const std::vector<std::string> operations = operation_names();
  for (const auto& [operation, name] : object.members()) {
    if (std::ranges::find(operations, operation) == operations.end()) {
      name.fail(fmt::format("unknown operation; known: {}", fmt::join(operations, ", ")));
    }
    implementations[operation] = known_name(name, kernels::implementation_names());
  }
  return implementations;
}

std::vector<kernels::Dtype> parse_dtypes(const JsonField& list) {
  std::vector<kernels::Dtype> dtypes;
  for (const JsonField& dtype : elements_of(list)) {
    const auto parsed = kernels::parse_dtype(dtype.text());
    if (!parsed) {
      std::vector<std::string_view> known;
      for (const kernels::Dtype one : kernels::all_dtypes()) known.push_back(dtype_name(one));
      dtype.fail(
          fmt::format("unknown dtype '{}'; known: {}", dtype.text(), fmt::join(known, ", ")));
    }
    dtypes.push_back(*parsed);
  }
  return dtypes;
}

std::string axes_text(const kernels::Operation& operation) {
  return fmt::format("'{}' has {}", operation.name, fmt::join(operation.axes, ", "));
}

// Of an axis that some operation takes sizes of.
void require_sizes(const JsonField& field, const std::string& axis,
                   const std::vector<AxisValue>& values,
                   const std::vector<const kernels::Operation*>& taken) {
  const auto has = [&axis](const std::vector<std::string>& axes) {
    return std::ranges::find(axes, axis) != axes.end();
  };
  const bool may_be_named = std::ranges::all_of(taken, [&](const kernels::Operation* operation) {
    return !has(operation->axes) || has(operation->named_axes);
  });
  if (may_be_named) return;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i].text.empty()) whole_number(field.elements()[i], 1, kernels::kLargestAxis);
  }
}

// Every axis must be one of an operation that the sweep takes, and each of these must find its own.
void check_axes(const JsonField& node, const Sweep& sweep) {
  const std::vector<const kernels::Operation*> taken = operations_of(sweep.operations, sweep.axes);
  for (const kernels::Operation* const operation : taken) {
    if (!operation->problems.empty()) continue;
    if (sweep.dtype.empty()) node.fail_member("dtype", "is missing");
    for (const std::string& axis : operation->axes) {
      if (sweep.axes.contains(axis)) continue;
      node.fail_member(axis, "is missing; operation " + axes_text(*operation));
    }
  }
  for (const auto& [axis, values] : sweep.axes) {
    require_sizes(node.at(axis), axis, values, taken);
    const bool is_used = std::ranges::any_of(taken, [&](const kernels::Operation* operation) {
      return std::ranges::find(operation->axes, axis) != operation->axes.end();
    });
    if (is_used) continue;
    std::vector<std::string> known;
    for (const kernels::Operation* const operation : taken) known.push_back(axes_text(*operation));
    node.at(axis).fail(fmt::format("no operation of the sweep has this axis; {}",
                                   known.empty() ? "no operation finds all of its axes"
                                                 : fmt::format("{}", fmt::join(known, "; "))));
  }
}

Sweep parse_sweep(const JsonField& node) {
  Sweep sweep{
      .operations = parse_names(node, "operations", operation_names()),
      .implementations = parse_names(node, "implementations", kernels::implementation_names()),
      .axes = {},
      .dtype = {}};
  if (const auto dtypes = node.find("dtype")) sweep.dtype = parse_dtypes(*dtypes);
  for (const auto& [key, member] : node.members()) {
    if (is_axis(key)) sweep.axes[key] = parse_axis(member);
  }
  check_axes(node, sweep);
  return sweep;
}

// At most so many of an operation.
double problems_of_sweep(const Sweep& sweep) {
  double own = 1;
  for (const kernels::Operation* const operation : operations_of(sweep.operations, sweep.axes)) {
    own = std::max(own, static_cast<double>(operation->problems.size()));
  }
  double problems = own * std::max(1.0, static_cast<double>(sweep.dtype.size()));
  for (const auto& [axis, values] : sweep.axes) problems *= static_cast<double>(values.size());
  return problems;
}

// A file of 2 kB can ask for 1e8 problems, whose list takes gigabytes.
void require_few_problems(const JsonField& field, const std::vector<Sweep>& sweeps) {
  constexpr int kMostProblems = 100'000;
  double problems = 0;
  for (const Sweep& sweep : sweeps) problems += problems_of_sweep(sweep);
  if (problems <= kMostProblems) return;
  field.fail(fmt::format("have {:.0f} problems; at most {} are possible", problems, kMostProblems));
}

// Sets the value to the known one that the member names, where the object has the member.
template <typename T>
void set_choice(const JsonField& object, std::string_view key, std::string_view (*name)(T),
                std::initializer_list<T> known, auto& value) {
  const auto field = object.find(key);
  if (!field) return;
  const std::string text = field->text();
  const auto found = std::ranges::find(known, text, name);
  if (found != known.end()) {
    value = *found;
    return;
  }
  std::vector<std::string> names;
  for (const T each : known) names.push_back(fmt::format("\"{}\"", name(each)));
  field->fail(fmt::format("must be {}", fmt::join(names, " or ")));
}

void set_lengths(const JsonField& node, Protocol& protocol) {
  using std::chrono::microseconds, std::chrono::milliseconds;
  constexpr std::int64_t kMinute = 60'000'000, kMinuteMs = 60'000;
  constexpr std::int64_t kLongestSpin = 1'000'000;
  const auto set = [&](std::string_view key, std::int64_t low, std::int64_t high, auto&& store) {
    if (const auto field = node.find(key)) store(whole_number(*field, low, high));
  };
  set("samples", 1, 100'000, [&](std::int64_t n) { protocol.samples = static_cast<int>(n); });
  for (const std::string_view key : {kFormerLayouts, std::string_view("layouts")}) {
    set(key, 1, 1000, [&](std::int64_t n) { protocol.layouts = static_cast<int>(n); });
  }
  set("batch_us", 1, kMinute, [&](std::int64_t n) { protocol.batch = microseconds(n); });
  set("idle_us", 0, kMinute, [&](std::int64_t n) { protocol.idle = microseconds(n); });
  set("warm_ms", 0, kMinuteMs, [&](std::int64_t n) { protocol.warm = milliseconds(n); });
  set("spin_us", 0, kLongestSpin, [&](std::int64_t n) { protocol.spin = microseconds(n); });
}

Protocol parse_protocol(const JsonField& node) {
  expect_keys(node, {"regime", "samples", "batch_us", "idle_us", "layouts", "order", "warm_ms",
                     "spin_us", "l2", "layout", kFormerLayouts});
  Regime regime = Regime::kBurst;
  set_choice(node, "regime", &regime_name, {Regime::kBurst, Regime::kSustained}, regime);
  Protocol protocol = protocol_of(regime);
  set_lengths(node, protocol);
  set_choice(node, "order", &order_name, {Order::kInterleaved, Order::kContiguous}, protocol.order);
  set_choice(node, "l2", &l2_state_name, {L2State::kWarm, L2State::kFlushed}, protocol.l2);
  set_choice(node, "layout", &layout_kind_name, {LayoutKind::kNumbered, LayoutKind::kDriver},
             protocol.layout_kind);
  protocol.layouts = std::min(protocol.layouts, protocol.samples);
  return protocol;
}

void expect_some_of(const JsonField& object, std::initializer_list<std::string_view> keys) {
  expect_keys(object, keys);
  if (object.members().empty()) {
    object.fail(fmt::format("must have at least one of {}", fmt::join(keys, ", ")));
  }
}

SuiteGate parse_gate(const JsonField& field) {
  expect_some_of(field, {"min_effect", "allow", "host"});
  SuiteGate gate;
  if (const auto effect = field.find("min_effect")) gate.min_effect = fraction(*effect);
  if (const auto allow = field.find("allow")) {
    gate.allow = fraction(*allow);
    if (*gate.allow < gate.min_effect.value_or(0)) {
      allow->fail(fmt::format("must not be below min_effect, {}", *gate.min_effect));
    }
  }
  const auto host = field.find("host");
  if (!host) return gate;
  expect_some_of(*host, {"min_effect", "min_us"});
  if (const auto effect = host->find("min_effect")) gate.host_min_effect = fraction(*effect);
  if (const auto us = host->find("min_us")) gate.host_min_us = microseconds(*us);
  return gate;
}

std::vector<std::string> parse_patterns(const JsonField& list) {
  std::vector<std::string> patterns;
  for (const JsonField& element : elements_of(list)) {
    patterns.push_back(element.text());
    if (patterns.back().empty())
      element.fail("must not be empty: an empty pattern matches every name");
    try {
      const baselines::Pattern pattern(patterns.back());
    } catch (const std::invalid_argument& error) {
      element.fail(error.what());
    }
  }
  return patterns;
}

}  // namespace

bool is_axis(const std::string& key) {
  return key != "dtype" && key != "operations" && key != "implementations";
}

Protocol Suite::protocol_on(const std::string& kind) const {
  Protocol result = protocol;
  const auto found = gate.find(kind);
  if (found == gate.end()) return result;
  const auto& [min_effect, allow, host_min_effect, host_min_us] = found->second;
  result.min_effect = min_effect.value_or(0);
  result.allow = allow.value_or(0);
  result.host_min_effect = host_min_effect;
  if (host_min_us) result.host_min_ns = 1e3 * *host_min_us;
  return result;
}

void keep_own_operations(json& suite, const std::string& source) {
  if (!suite.is_object() || !suite.contains("sweeps")) return;  // parse_suite() says what is wrong
  const std::vector<std::string> own = operation_names();
  json kept = json::array();
  for (json& sweep : suite["sweeps"]) {
    const bool names_some = sweep.is_object() && sweep.contains("operations");
    if (names_some && sweep["operations"].is_array()) {
      std::erase_if(sweep["operations"].get_ref<json::array_t&>(), [&own](const json& name) {
        return name.is_string() && std::ranges::find(own, name.get<std::string>()) == own.end();
      });
      if (sweep["operations"].empty()) continue;
    }
    if (sweep.is_object()) sweep.erase("implementations");
    kept.push_back(std::move(sweep));
  }
  if (kept.empty()) {
    throw baselines::InputError(
        source, "sweeps",
        fmt::format("have no operation of this program; it has {}", fmt::join(own, ", ")));
  }
  suite["sweeps"] = std::move(kept);
  suite.erase("compared_with");
}

Suite parse_suite(const json& parsed, const std::string& source) {
  const JsonField root(parsed, source, "");
  expect_keys(root, {"name", "protocol", "gate", "controls", "compared_with", "benchmarks",
                     kFormerOwners, "sweeps"});
  Suite suite;
  const JsonField name = root.at("name");
  suite.name = name.text();
  if (suite.name.empty() || suite.name.find('/') != std::string::npos) {
    name.fail("must be a file name: the baseline is stored under it");
  }
  if (const auto protocol = root.find("protocol")) suite.protocol = parse_protocol(*protocol);
  if (const auto gates = root.find("gate")) {
    for (const auto& [kind, gate] : gates->members()) {
      suite.gate[kind] = parse_gate(gate);
    }
  }
  if (const auto controls = root.find("controls")) suite.controls = parse_patterns(*controls);
  if (const auto others = root.find("compared_with")) {
    suite.compared_with = parse_compared_with(*others);
  }
  suite.settings = baselines::read_settings(root, "benchmarks");
  for (const JsonField& sweep : elements_of(root.at("sweeps"))) {
    suite.sweeps.push_back(parse_sweep(sweep));
  }
  require_few_problems(root.at("sweeps"), suite.sweeps);
  return suite;
}

std::vector<std::string> suites_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

std::filesystem::path suite_path(const std::string& name, const std::filesystem::path& folder) {
  const std::filesystem::path path = std::filesystem::path(name).extension() == ".json"
                                         ? std::filesystem::path(name)
                                         : folder / (name + ".json");
  if (!std::filesystem::exists(path)) {
    const std::vector<std::string> suites = suites_in(folder);
    throw baselines::InputError(
        name, "",
        suites.empty()
            ? fmt::format("no such suite: {} has none; name a .json file", folder.string())
            : fmt::format("no such suite; expected {}, or a .json file", fmt::join(suites, ", ")));
  }
  return path;
}

}  // namespace fusegate::bench
