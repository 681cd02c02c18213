#include "ci/shards/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "baselines/io/content_hash.h"
#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"

namespace fusegate::ci {
namespace {

constexpr int kPlanVersion = 1;

// Where each name was planned, for messages.
using Planned = std::map<std::string, std::string, std::less<>>;

std::vector<std::string> read_names(const baselines::JsonField& field, const std::string& where,
                                    Planned& planned) {
  std::vector<std::string> names;
  for (const baselines::JsonField& element : field.elements()) {
    std::string name = element.text();
    if (name.empty()) element.fail("must not be empty");
    const auto [found, is_new] = planned.emplace(name, where);
    if (!is_new) {
      element.fail(fmt::format("\"{}\" is planned twice: {} has it too", name, found->second));
    }
    names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

// Of what is measured, whatever it was expected to take.
std::string id_of(const ShardPlan& plan) {
  baselines::ContentHash hash;
  hash.add(plan.suite);
  const auto add = [&hash](const std::vector<std::string>& names) {
    hash.add(std::uint64_t{names.size()});
    for (const std::string& name : names) hash.add(name);
  };
  add(plan.controls);
  for (const PlannedShard& shard : plan.shards) add(shard.benchmarks);
  return hash.hex();
}

}  // namespace

ShardPlan parse_plan(std::string_view text, const std::string& source) {
  const nlohmann::json json = baselines::parse_json(text, source);
  const baselines::JsonField root(json, source, "");
  if (!json.is_object() || !root.find("fusegate_plan")) {
    root.fail_member("fusegate_plan", "is missing: name a file that fusegate plan wrote");
  }
  if (root.at("fusegate_plan").integer() != kPlanVersion) {
    root.at("fusegate_plan").fail("not a version that this fusegate reads; expected 1");
  }
  ShardPlan plan{.suite = root.at("suite").text()};
  if (plan.suite.empty()) root.at("suite").fail("must not be empty");
  Planned planned;
  plan.controls = read_names(root.at("controls"), "controls", planned);
  for (const baselines::JsonField& field : root.at("shards").elements()) {
    PlannedShard& shard = plan.shards.emplace_back();
    if (const auto expected = field.find("expected_s")) {
      shard.expected_s = expected->number_from_zero();
    }
    const std::string where = fmt::format("shard {}", plan.shards.size());
    shard.benchmarks = read_names(field.at("benchmarks"), where, planned);
    if (shard.benchmarks.empty()) field.at("benchmarks").fail("must not be empty");
  }
  if (plan.shards.empty()) root.at("shards").fail("must not be empty");
  return plan;
}

ShardPlan read_plan(const std::filesystem::path& path) {
  return parse_plan(baselines::read_file(path), path.string());
}

std::string plan_text(const ShardPlan& plan) {
  nlohmann::ordered_json shards = nlohmann::ordered_json::array();
  for (const PlannedShard& shard : plan.shards) {
    shards.push_back({{"expected_s", shard.expected_s}, {"benchmarks", shard.benchmarks}});
  }
  const nlohmann::ordered_json json{{"fusegate_plan", kPlanVersion},
                                    {"suite", plan.suite},
                                    {"controls", plan.controls},
                                    {"shards", std::move(shards)}};
  return json.dump(1) + "\n";
}

ShardRecord shard_of(const ShardPlan& plan, int number) {
  return {.plan = id_of(plan),
          .number = number,
          .of = static_cast<int>(plan.shards.size()),
          .benchmarks = plan.shards.at(static_cast<std::size_t>(number - 1)).benchmarks,
          .controls = plan.controls};
}

}  // namespace fusegate::ci
