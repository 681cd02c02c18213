#include "ci/calibrating/variants.h"

#include <fmt/format.h>

#include <set>
#include <sstream>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"
#include "baselines/record/environment.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const auto start = text.find_first_not_of(kBlanks);
  if (start == text.npos) return {};
  return text.substr(start, text.find_last_not_of(kBlanks) - start + 1);
}

std::vector<std::string> texts(const baselines::JsonField& field) {
  std::vector<std::string> result;
  for (const baselines::JsonField& element : field.elements()) result.push_back(element.text());
  return result;
}

}  // namespace

std::string Variant::folder() const { return baselines::slug(name); }

Variant parse_variant(std::string_view source, std::string_view text) {
  const auto colon = text.find(':');
  Variant variant;
  variant.name = trimmed(text.substr(0, colon));
  if (colon == text.npos || variant.folder().empty()) {
    throw baselines::InputError(
        source, "", fmt::format("\"{}\" is no variant such as \"idle-0: --idle-us=0\"", text));
  }
  std::istringstream flags{std::string(text.substr(colon + 1))};
  for (std::string flag; flags >> flag;) {
    if (!flag.starts_with('-')) {
      throw baselines::InputError(source, variant.name, fmt::format("\"{}\" is no flag", flag));
    }
    variant.flags.push_back(flag);
  }
  return variant;
}

std::vector<Variant> read_variants(const fs::path& path) {
  std::istringstream file(baselines::read_file(path));
  std::vector<Variant> variants;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const std::string_view text = trimmed(line);
    if (text.empty() || text.starts_with('#')) continue;
    variants.push_back(parse_variant(fmt::format("{}, line {}", path.string(), number), text));
  }
  return variants;
}

void check_variants(const std::vector<Variant>& variants) {
  if (variants.empty()) throw baselines::InputError("--variants", "", "there is no variant");
  std::set<std::string> folders;
  for (const Variant& variant : variants) {
    if (!folders.insert(variant.folder()).second) {
      throw baselines::InputError("--variant", variant.name, "two variants of that name");
    }
  }
}

fs::path experiment_path(const fs::path& folder) { return folder / "experiment.json"; }

void write_experiment(const fs::path& folder, const Experiment& experiment) {
  nlohmann::json variants = nlohmann::json::array();
  for (const Variant& variant : experiment.variants) {
    variants.push_back({{"name", variant.name}, {"flags", variant.flags}});
  }
  const nlohmann::json json{
      {"suite", experiment.suite}, {"flags", experiment.flags}, {"variants", variants}};
  const auto replace = nlohmann::json::error_handler_t::replace;
  baselines::write_atomically(experiment_path(folder), json.dump(2, ' ', false, replace) + "\n");
}

Experiment read_experiment(const fs::path& folder) {
  const std::string source = experiment_path(folder).string();
  const nlohmann::json json = baselines::parse_json(baselines::read_file(source), source);
  const baselines::JsonField field(json, source, "");
  Experiment experiment;
  experiment.suite = field.at("suite").text();
  experiment.flags = texts(field.at("flags"));
  for (const baselines::JsonField& variant : field.at("variants").elements()) {
    experiment.variants.push_back({variant.at("name").text(), texts(variant.at("flags"))});
    if (experiment.variants.back().folder().empty()) variant.at("name").fail("is no name");
  }
  check_variants(experiment.variants);
  return experiment;
}

}  // namespace fusegate::ci
