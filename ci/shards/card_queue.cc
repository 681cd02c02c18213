#include "ci/shards/card_queue.h"

namespace fusegate::ci {

CardQueue::CardQueue(int shards) {
  for (int number = 1; number <= shards; ++number) waiting_.insert(number);
}

std::optional<int> CardQueue::waiting_for(const std::string& card) const {
  for (const int shard : waiting_) {
    const auto failed = failed_on_.find(shard);
    if (failed == failed_on_.end() || failed->second != card) return shard;
  }
  return std::nullopt;
}

std::optional<int> CardQueue::next(const std::string& card) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return is_stopped_ || waiting_for(card) || running_.empty(); });
  const std::optional<int> shard = waiting_for(card);
  if (is_stopped_ || !shard) return std::nullopt;
  waiting_.erase(*shard);
  running_.insert(*shard);
  return shard;
}

void CardQueue::done(int shard) {
  const std::lock_guard lock(mutex_);
  running_.erase(shard);
  changed_.notify_all();
}

bool CardQueue::fail(int shard, const std::string& card) {
  const std::lock_guard lock(mutex_);
  running_.erase(shard);
  const bool is_first = failed_on_.emplace(shard, card).second;
  (is_first ? waiting_ : given_up_).insert(shard);
  changed_.notify_all();
  return is_first;
}

void CardQueue::stop() {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
  changed_.notify_all();
}

std::vector<int> CardQueue::left() const {
  const std::lock_guard lock(mutex_);
  std::set<int> left = waiting_;
  left.insert(running_.begin(), running_.end());
  left.insert(given_up_.begin(), given_up_.end());
  return {left.begin(), left.end()};
}

}  // namespace fusegate::ci
