// Ranks as threads of one process, for tests.
#pragma once

#include <algorithm>
#include <barrier>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/contract/ranks.h"

namespace fusegate::kernels {

class RanksInThreads {
 public:
  explicit RanksInThreads(int count) : texts_(static_cast<std::size_t>(count)), all_(count) {}

  // Runs it once for each rank, and returns when all have ended.
  void run(const std::function<void(const std::shared_ptr<Ranks>&)>& of_rank) {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < static_cast<int>(texts_.size()); ++rank) {
      threads.emplace_back([=, this] { of_rank(std::make_shared<One>(*this, rank)); });
    }
  }

 private:
  struct One : Ranks {
    One(RanksInThreads& of, int rank) : of(of), number(rank) {}
    int rank() const override { return number; }
    int count() const override { return static_cast<int>(of.texts_.size()); }
    std::vector<std::string> gather(std::string_view what, std::string mine) override {
      of.texts_[static_cast<std::size_t>(number)] = {std::string(what), std::move(mine)};
      of.all_.arrive_and_wait();
      const auto all = of.texts_;
      of.all_.arrive_and_wait();
      std::vector<std::string> texts;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].first != all[0].first) {
          throw RankError("rank " + std::to_string(i) + " is elsewhere: " + all[i].first);
        }
        texts.push_back(all[i].second);
      }
      return texts;
    }
    RanksInThreads& of;
    int number;
  };

  std::vector<std::pair<std::string, std::string>> texts_;  // by rank: what it is, and the text
  std::barrier<> all_;
};

}  // namespace fusegate::kernels
