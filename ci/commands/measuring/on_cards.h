// A suite measured on several cards of this host at once (--gpus): planned as shards, which the
// cards take from one queue, and merged into one run.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ci/commands/measuring/commands.h"

namespace fusegate::ci {

struct CardsRequest {
  MeasuringOptions measuring{};  // gpus names the cards
  JudgingRequest judging{};      // stores with known times, and controls
  std::vector<std::pair<std::string, std::string>> programs{};  // each with its suite
  std::vector<std::filesystem::path> folders{};  // what is merged; must hold no processes yet
  std::filesystem::path out{};                   // gets "shards" until they are merged
};

// Measures one shard into that folder; called in a thread of the card's.
using MeasureShard = std::function<RunResult(
    const MeasuringOptions& measuring, const std::filesystem::path& folder, Console& console)>;

// The result names no programs. Throws InputError where no card can be had, or where shards are
// left that no card could measure: then those that were measured stay in out/shards.
RunResult measure_on_cards(const CardsRequest& request, const MeasureShard& measure,
                           Console& console);

}  // namespace fusegate::ci
