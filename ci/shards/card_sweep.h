// A plan's shards measured on the cards of a host, a thread a card, each on cores of its own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ci/console/console.h"
#include "ci/processes/cards.h"

namespace fusegate::ci {

struct CardOutcome {
  bool interrupted = false;
  std::string failure{};  // why the card has no result of the shard; empty where it has one
};

// Measures a shard, from 1, on that card. Called in the card's thread; what it throws is a failure.
using MeasureOnCard = std::function<CardOutcome(int shard, const Card& card, Console& console)>;

struct CardSweep {
  bool interrupted = false;
  std::vector<int> left{};              // shards that were not measured
  std::vector<std::string> failures{};  // "GPU 1, shard 3: ...", in the order of time
};

CardSweep sweep_cards(const std::vector<Card>& cards, int shards, const MeasureOnCard& measure,
                      Console& console);

}  // namespace fusegate::ci
