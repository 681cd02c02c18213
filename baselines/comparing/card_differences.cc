#include "baselines/comparing/card_differences.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"

namespace fusegate::baselines {
namespace {

// null where the class had no benchmark, or no cycles: then all benchmarks' together.
double spread_of(const JsonField& own, const JsonField& all, std::string_view name) {
  const auto value = own.find(name);
  return value ? value->number_from_zero() : all.at(name).number_from_zero();
}

}  // namespace

VarianceEstimate CardDifferences::variance(Quantity quantity, double time_ns, int baseline_cards,
                                           int candidate_cards) const {
  const auto next = std::ranges::upper_bound(classes, time_ns, {}, &CardSpreads::from_ns);
  const CardSpreads& own = next == classes.begin() ? classes.front() : *std::prev(next);
  const double spread = quantity == Quantity::kTime     ? own.time
                        : quantity == Quantity::kCycles ? own.cycles
                                                        : own.equal_clock;
  return {spread * spread * (1.0 / baseline_cards + 1.0 / candidate_cards), degrees_of_freedom};
}

std::optional<CardDifferences> read_card_differences(const std::filesystem::path& calibration) {
  const nlohmann::json json = parse_json(read_file(calibration), calibration.string());
  const auto between = JsonField(json, calibration.string(), "").find("between_card");
  if (!between) return std::nullopt;
  const JsonField cards = between->at("cards");
  if (cards.integer() < 2) cards.fail("must be two or more");
  CardDifferences result{.calibration = calibration.string(),
                         .cards = cards.integer(),
                         .degrees_of_freedom = cards.number() - 1,
                         .classes = {}};
  for (const auto& [name, own] : between->at("classes").members()) {
    const auto from_ns = own.find("from_ns");
    if (!from_ns) return std::nullopt;
    result.classes.push_back({.from_ns = from_ns->number_from_zero(),
                              .time = spread_of(own, *between, "time"),
                              .cycles = spread_of(own, *between, "cycles"),
                              .equal_clock = spread_of(own, *between, "equal_clock")});
  }
  if (result.classes.empty()) between->at("classes").fail("must not be empty");
  std::ranges::sort(result.classes, {}, &CardSpreads::from_ns);
  return result;
}

}  // namespace fusegate::baselines
