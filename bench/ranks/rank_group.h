// The ranks that a benchmark needs: the first so many. The others go on without it.
#pragma once

#include <memory>

#include "kernels/contract/device.h"

namespace fusegate::bench {

// While it lives, the device's ranks are those that the problem needs: its axis "ranks", or all.
class RankGroup {
 public:
  RankGroup(kernels::Device& device, const kernels::Problem& problem)
      : device_(device), all_(device.shared_ranks()) {
    const auto count = static_cast<int>(kernels::ranks_of(problem).value_or(all_->count()));
    takes_part_ = all_->rank() < count;
    if (takes_part_ && count < all_->count()) device.join(all_->first_ranks(count));
  }
  ~RankGroup() { device_.join(all_); }
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  // Whether this process is one of them; else it must leave the benchmark alone.
  bool takes_part() const { return takes_part_; }

 private:
  kernels::Device& device_;
  std::shared_ptr<kernels::Ranks> all_;
  bool takes_part_ = true;
};

}  // namespace fusegate::bench
