// Whether a call in a CUDA graph lies between what comes before it and what follows. Recording an
// event and waiting for one are no work: NCCL orders its graphs among each other by such nodes, and
// nothing waits for them.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace fusegate::bench {

// What a call captured, by positions among its nodes.
struct CallOrder {
  std::vector<bool> is_work;
  std::vector<std::pair<std::size_t, std::size_t>> inside;  // the second waits for the first
  std::vector<std::size_t> first;                           // wait for what came before
  std::vector<std::size_t> last;                            // what follows waits for these
};

// Whether all of its work begins after what came before.
bool begins_after_others(const CallOrder& order);
// Whether what follows begins after all of its work.
bool ends_before_others(const CallOrder& order);

}  // namespace fusegate::bench
