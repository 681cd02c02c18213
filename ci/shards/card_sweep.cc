#include "ci/shards/card_sweep.h"

#include <fmt/format.h>

#include <exception>
#include <mutex>
#include <set>
#include <thread>

#include "ci/processes/child_process.h"
#include "ci/processes/placement.h"
#include "ci/shards/card_display.h"
#include "ci/shards/card_queue.h"

namespace fusegate::ci {
namespace {

class CardWorkers {
 public:
  CardWorkers(int shards, const MeasureOnCard& measure, Console& console)
      : shards_(shards), measure_(measure), queue_(shards), display_(console) {}

  CardSweep run(const std::vector<Card>& cards) {
    const Interrupts interrupts;  // threads hold back the signals that we do
    const std::vector<std::set<int>> cpus = cpus_near(cards, allowed_cpus());
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < cards.size(); ++i) {
        threads.emplace_back([&, i, &console = display_.add_card(cards[i].name())] {
          pin_this_thread(cpus[i]);
          work(cards[i], console);
        });
      }
    }
    sweep_.left = queue_.left();
    return sweep_;
  }

 private:
  // The card's thread.
  void work(const Card& card, Console& console) {
    const Interrupts interrupts;  // what comes between shards meets the next one
    while (const auto shard = queue_.next(card.uuid)) {
      display_.note(fmt::format("{} measures shard {} of {}", card.name(), *shard, shards_));
      const CardOutcome outcome = measured(*shard, card, console);
      if (outcome.interrupted) {
        stop();
      } else if (outcome.failure.empty()) {
        queue_.done(*shard);
      } else if (fail(*shard, card, outcome.failure)) {
        return;
      }
    }
  }

  CardOutcome measured(int shard, const Card& card, Console& console) {
    try {
      return measure_(shard, card, console);
    } catch (const std::exception& error) {
      return {.failure = error.what()};
    }
  }

  void stop() {
    queue_.stop();
    const std::lock_guard lock(mutex_);
    sweep_.interrupted = true;
  }

  // Whether the card is taken out.
  bool fail(int shard, const Card& card, const std::string& failure) {
    const bool is_out = queue_.fail(shard, card.uuid);
    display_.note(is_out ? fmt::format("{} is taken out, and shard {} waits for another card: {}",
                                       card.name(), shard, failure)
                         : fmt::format("shard {} failed on a second card, {}, and is given up: {}",
                                       shard, card.name(), failure));
    const std::lock_guard lock(mutex_);
    sweep_.failures.push_back(fmt::format("{}, shard {}: {}", card.name(), shard, failure));
    return is_out;
  }

  const int shards_;
  const MeasureOnCard& measure_;
  CardQueue queue_;
  CardDisplay display_;
  std::mutex mutex_;  // of what was found
  CardSweep sweep_;
};

}  // namespace

CardSweep sweep_cards(const std::vector<Card>& cards, int shards, const MeasureOnCard& measure,
                      Console& console) {
  return CardWorkers(shards, measure, console).run(cards);
}

}  // namespace fusegate::ci
