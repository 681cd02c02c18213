// The shards of a sweep over the cards of a host: one queue, from which each card takes its next,
// so that a faster card measures more. A shard stays on its card.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace fusegate::ci {

// May be used by many threads.
class CardQueue {
 public:
  // Numbers from 1.
  explicit CardQueue(int shards);

  // A shard that did not fail on this card. Waits while another card may still give one back.
  // Nothing where none is left for it.
  std::optional<int> next(const std::string& card);
  void done(int shard);
  // Whether the card is at fault, as far as is known: it takes no other shard, and the shard waits
  // for another card. A shard that fails on two cards is at fault itself, and is given up.
  bool fail(int shard, const std::string& card);
  void stop();  // nothing more starts

  // Not measured, in order.
  std::vector<int> left() const;

 private:
  std::optional<int> waiting_for(const std::string& card) const;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::set<int> waiting_;
  std::set<int> running_;
  std::set<int> given_up_;
  std::map<int, std::string> failed_on_;
  bool is_stopped_ = false;
};

}  // namespace fusegate::ci
