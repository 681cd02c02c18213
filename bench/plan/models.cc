#include "bench/plan/models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "baselines/io/file_io.h"
#include "bench/plan/suite.h"
#include "kernels/contract/kernel.h"

namespace fusegate::bench {
namespace {

using baselines::JsonField;
using baselines::Model;
using baselines::ModelCall;
using nlohmann::json;
using Folders = std::vector<std::filesystem::path>;

constexpr const char* kFolder = "models";

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// In the suites or beside them.
Folders model_folders(const std::filesystem::path& suites) {
  return {suites / kFolder, suites.parent_path() / kFolder};
}

std::filesystem::path file_of(const JsonField& field, const Folders& folders) {
  const std::filesystem::path name = field.text();
  if (name.extension() == ".json" && std::filesystem::exists(name)) return name;
  std::vector<std::string> known;
  for (const std::filesystem::path& suites : folders) {
    for (const std::filesystem::path& folder : model_folders(suites)) {
      const std::filesystem::path file = folder / (name.string() + ".json");
      if (std::filesystem::exists(file)) return file;
    }
    std::ranges::copy(models_in(suites), std::back_inserter(known));
  }
  std::ranges::sort(known);
  known.erase(std::ranges::unique(known).begin(), known.end());
  field.fail(fmt::format("no model '{}'; expected {}{}a .json file", name.string(),
                         fmt::join(known, ", "), known.empty() ? "" : ", or "));
}

std::vector<std::string> rows_axes(const ModelCall& call) {
  if (call.rows_axis.empty()) return {"batch", "seq"};
  return {call.rows_axis};
}

// Operations of other programs are refused, or left out, where their sweeps are read.
void check_call(const JsonField& field, const ModelCall& call) {
  const auto& all = kernels::operations();
  const auto operation = std::ranges::find(all, call.operation, &kernels::Operation::name);
  if (operation == all.end()) return;
  const std::string has =
      fmt::format("operation '{}' has {}", call.operation, fmt::join(operation->axes, ", "));
  const std::vector<std::string> of_rows = rows_axes(call);
  for (const std::string& axis : of_rows) {
    if (contains(operation->axes, axis)) continue;
    field.fail_member("rows", fmt::format("must name the axis of the rows, which are batch x seq "
                                          "where it names none; {}",
                                          has));
  }
  for (const std::string& axis : operation->axes) {
    if (call.axes.contains(axis) || contains(of_rows, axis)) continue;
    field.fail_member(axis, "is missing; " + has);
  }
  for (const auto& [axis, value] : call.axes) {
    if (!contains(operation->axes, axis)) field.at(axis).fail("unknown key or axis; " + has);
  }
}

Model load_model(const JsonField& name, const Folders& folders) {
  const std::string file = file_of(name, folders).string();
  const json root = baselines::parse_json(baselines::read_file(file), file);
  const JsonField field(root, file, "");
  Model model = baselines::read_model(field);
  const std::vector<JsonField> calls = field.at("calls").elements();
  for (std::size_t i = 0; i < calls.size(); ++i) check_call(calls[i], model.calls[i]);
  return model;
}

std::vector<std::int64_t> rows_of(const JsonField& sweep) {
  const JsonField list = sweep.at("rows");
  std::vector<std::int64_t> rows;
  for (const JsonField& element : list.elements()) {
    const json& value = element.value();
    const bool fits = value.is_number_integer() && value > 0 && value <= kernels::kLargestAxis;
    if (!fits) {
      element.fail(fmt::format("must be a whole number from 1 to {}", kernels::kLargestAxis));
    }
    rows.push_back(value);
  }
  if (rows.empty()) list.fail("must be a list with at least one element");
  return rows;
}

json sweep_of_call(const ModelCall& call, const std::vector<std::int64_t>& rows,
                   const json& sweep) {
  json one = call.axes;
  one["operations"] = {call.operation};
  for (const std::string& axis : rows_axes(call)) one[axis] = {1};
  one[rows_axes(call).front()] = rows;
  for (const auto& [axis, value] : call.axes) one[axis] = {value};
  for (const char* key : {"dtype", "implementations"}) {
    if (sweep.contains(key)) one[key] = sweep.at(key);
  }
  return one;
}

}  // namespace

std::vector<std::string> models_in(const std::filesystem::path& suites) {
  std::vector<std::string> names;
  for (const std::filesystem::path& folder : model_folders(suites)) {
    std::ranges::copy(suites_in(folder), std::back_inserter(names));
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

json sweeps_of_models(const JsonField& sweep, const Folders& folders, std::vector<Model>& models) {
  constexpr std::array kKeys{"models", "rows", "dtype", "implementations"};
  for (const auto& [key, member] : sweep.members()) {
    if (std::ranges::find(kKeys, key) != kKeys.end()) continue;
    member.fail(fmt::format("unknown key beside models; known: {}", fmt::join(kKeys, ", ")));
  }
  const std::vector<std::int64_t> rows = rows_of(sweep);
  json sweeps = json::array();
  for (const JsonField& name : sweep.at("models").elements()) {
    const Model model = load_model(name, folders);
    for (const ModelCall& call : model.calls) {
      json one = sweep_of_call(call, rows, sweep.value());
      // Models may share a shape.
      if (std::ranges::find(sweeps, one) == sweeps.end()) sweeps.push_back(std::move(one));
    }
    const auto known = std::ranges::find(models, model.name, &Model::name);
    if (known == models.end()) models.push_back(model);
  }
  if (sweeps.empty()) sweep.at("models").fail("must be a list with at least one element");
  return sweeps;
}

std::vector<Model> expand_models(json& suite, const std::string& source, const Folders& folders) {
  std::vector<Model> models;
  // parse_suite() says what is wrong with others.
  if (!suite.is_object() || !suite.contains("sweeps") || !suite["sweeps"].is_array()) return models;
  const json given = suite["sweeps"];
  const std::vector<JsonField> fields = JsonField(given, source, "sweeps").elements();
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!given[i].is_object() || !given[i].contains("models")) continue;
    json sweeps = sweeps_of_models(fields[i], folders, models);
    suite["sweeps"][i] = std::move(sweeps.front());
    sweeps.erase(0);
    for (json& sweep : sweeps) suite["sweeps"].push_back(std::move(sweep));
  }
  return models;
}

}  // namespace fusegate::bench
