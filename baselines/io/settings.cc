#include "baselines/io/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "baselines/io/pattern.h"

namespace fusegate::baselines {
namespace {

// Each is compared with each benchmark.
constexpr std::size_t kMostPatterns = 1000;
constexpr const char* kFormerOwners = "owners";

std::string read_owner(const JsonField& field) {
  // It is written into issues as it is, where it mentions whom it names and does nothing else.
  static const re2::RE2 form("@[A-Za-z0-9][A-Za-z0-9-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?");
  std::string name = field.text();
  if (!re2::RE2::FullMatch(name, form)) {
    field.fail(fmt::format("must be \"@user\" or \"@organisation/team\", not \"{}\"", name));
  }
  return name;
}

double read_fraction(const JsonField& field) {
  const double value = field.number();
  if (!(value > 0 && value < 1)) field.fail("must be a number between 0 and 1");
  return value;
}

BenchmarkSettings read_one(const JsonField& field) {
  if (field.members().empty()) {
    field.fail("must have at least one of owner, min_effect, allow, weight");
  }
  BenchmarkSettings one;
  for (const auto& [key, value] : field.members()) {
    if (key == "owner") {
      one.owner = read_owner(value);
    } else if (key == "min_effect") {
      one.min_effect = read_fraction(value);
    } else if (key == "allow") {
      one.allow = read_fraction(value);
    } else if (key == "weight") {
      one.weight = value.positive_number();
    } else {
      value.fail("unknown key; known: owner, min_effect, allow, weight");
    }
  }
  if (one.allow && *one.allow < one.min_effect.value_or(0)) {
    field.at("allow").fail(fmt::format("must not be below min_effect, {}", *one.min_effect));
  }
  return one;
}

void check_pattern(const JsonField& field, const std::string& pattern, const JsonField& value) {
  if (pattern.empty()) field.fail("has an empty pattern, which fits every name; write \".\"");
  try {
    const Pattern compiled(pattern);
  } catch (const std::invalid_argument& error) {
    value.fail(error.what());
  }
}

}  // namespace

Settings read_settings(const JsonField& object, std::string_view key) {
  Settings settings;
  const auto patterns_of = [&](const JsonField& field) {
    auto members = field.members();
    if (members.size() > kMostPatterns) {
      field.fail(
          fmt::format("has {} patterns; at most {} are possible", members.size(), kMostPatterns));
    }
    for (const auto& [pattern, value] : members) check_pattern(field, pattern, value);
    return members;
  };
  if (const auto field = object.find(key)) {
    for (const auto& [pattern, value] : patterns_of(*field)) settings[pattern] = read_one(value);
  }
  if (const auto owners = object.find(kFormerOwners)) {
    for (const auto& [pattern, value] : patterns_of(*owners)) {
      settings[pattern].owner = read_owner(value);
    }
  }
  return settings;
}

nlohmann::json settings_json(const Settings& settings) {
  nlohmann::json result = nlohmann::json::object();
  for (const auto& [pattern, one] : settings) {
    nlohmann::json& json = result[pattern];
    if (!one.owner.empty()) json["owner"] = one.owner;
    if (one.min_effect) json["min_effect"] = *one.min_effect;
    if (one.allow) json["allow"] = *one.allow;
    if (one.weight) json["weight"] = *one.weight;
  }
  return result;
}

BenchmarkSettings settings_of(const Settings& settings, std::string_view benchmark) {
  std::vector<std::pair<std::string_view, const BenchmarkSettings*>> fitting;
  for (const auto& [pattern, one] : settings) {
    if (Pattern(pattern).fits(benchmark)) fitting.emplace_back(pattern, &one);
  }
  std::ranges::stable_sort(fitting, std::ranges::greater(),
                           [](const auto& one) { return one.first.size(); });
  BenchmarkSettings found;
  for (const auto& [pattern, one] : fitting) {
    if (found.owner.empty()) found.owner = one->owner;
    if (!found.min_effect) found.min_effect = one->min_effect;
    if (!found.allow) found.allow = one->allow;
    if (!found.weight) found.weight = one->weight;
  }
  return found;
}

}  // namespace fusegate::baselines
