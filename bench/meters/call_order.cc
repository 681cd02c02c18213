#include "bench/meters/call_order.h"

namespace fusegate::bench {
namespace {

// Which nodes the edges lead to from these, themselves included.
std::vector<bool> reached(std::vector<std::size_t> from, const CallOrder& order, bool backwards) {
  std::vector<bool> is_reached(order.is_work.size(), false);
  while (!from.empty()) {
    const std::size_t here = from.back();
    from.pop_back();
    if (is_reached.at(here)) continue;
    is_reached[here] = true;
    for (const auto& [before, after] : order.inside) {
      if (here == (backwards ? after : before)) from.push_back(backwards ? before : after);
    }
  }
  return is_reached;
}

bool has_all_work(const std::vector<bool>& is_reached, const CallOrder& order) {
  for (std::size_t i = 0; i < is_reached.size(); ++i) {
    if (order.is_work[i] && !is_reached[i]) return false;
  }
  return true;
}

}  // namespace

bool begins_after_others(const CallOrder& order) {
  return has_all_work(reached(order.first, order, false), order);
}

bool ends_before_others(const CallOrder& order) {
  return has_all_work(reached(order.last, order, true), order);
}

}  // namespace fusegate::bench
