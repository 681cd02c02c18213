#include "baselines/record/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace fusegate::baselines {
namespace {

using nlohmann::json;

constexpr int kMostLayers = 100'000;

// A size, a name, a switch or a fraction, as it stands in a benchmark's name.
std::string value_text(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

bool is_of_rows(const ModelCall& call, const std::string& axis) {
  return call.rows_axis.empty() ? axis == "batch" || axis == "seq" : axis == call.rows_axis;
}

void check_axis(const ModelCall& call, const std::string& axis, const JsonField& value) {
  if (is_of_rows(call, axis)) value.fail("is not fixed: the rows of the call set it");
  if (!value.value().is_primitive() || value.value().is_null()) {
    value.fail("must be a size, a fraction, true or false, or a name");
  }
}

ModelCall read_call(const JsonField& field) {
  ModelCall call{.operation = field.at("operation").text(),
                 .rows_axis = field.text_or_empty("rows")};
  if (const auto count = field.find("per_layer")) call.per_layer = count->positive_number();
  for (const auto& [key, value] : field.members()) {
    if (key == "operation" || key == "rows" || key == "per_layer") continue;
    check_axis(call, key, value);
    call.axes.emplace(key, value.value());
  }
  return call;
}

}  // namespace

std::int64_t ModelCall::rows_of(const BenchmarkName& benchmark) const {
  if (benchmark.operation != operation) return 0;
  std::size_t found = 0;
  const auto fits = [&](const std::string& axis, const std::string& value) {
    if (is_of_rows(*this, axis)) return true;
    const auto wanted = axes.find(axis);
    ++found;
    return wanted != axes.end() && value_text(wanted->second) == value;
  };
  for (const auto& [axis, size] : benchmark.axes) {
    if (!fits(axis, std::to_string(size))) return 0;
  }
  for (const auto& [axis, value] : benchmark.labels) {
    if (!fits(axis, value)) return 0;
  }
  if (found != axes.size()) return 0;
  return rows_axis.empty() ? benchmark.rows() : benchmark.axis(rows_axis);
}

Model read_model(const JsonField& field) {
  constexpr std::array kKeys{"name", "sources", "layers", "calls"};
  for (const auto& [key, member] : field.members()) {
    if (std::ranges::find(kKeys, key) != kKeys.end()) continue;
    member.fail("unknown key; known: name, sources, layers, calls");
  }
  Model model{.name = field.at("name").text(), .layers = field.at("layers").integer(), .calls = {}};
  if (model.name.empty()) field.at("name").fail("must not be empty");
  if (model.layers < 1 || model.layers > kMostLayers) {
    field.at("layers").fail(fmt::format("must be a whole number from 1 to {}", kMostLayers));
  }
  if (const auto sources = field.find("sources")) {
    for (const auto& [source, what] : sources->members()) what.text();
  }
  for (const JsonField& call : field.at("calls").elements()) {
    model.calls.push_back(read_call(call));
  }
  if (model.calls.empty()) field.at("calls").fail("must be a list with at least one element");
  return model;
}

json model_json(const Model& model) {
  json calls = json::array();
  for (const ModelCall& call : model.calls) {
    json one = call.axes;
    one["operation"] = call.operation;
    if (!call.rows_axis.empty()) one["rows"] = call.rows_axis;
    if (call.per_layer != 1) one["per_layer"] = call.per_layer;
    calls.push_back(std::move(one));
  }
  return {{"name", model.name}, {"layers", model.layers}, {"calls", std::move(calls)}};
}

}  // namespace fusegate::baselines
