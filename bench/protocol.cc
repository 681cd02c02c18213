#include "bench/protocol.h"

namespace fusegate {

std::string_view l2_state_name(L2State state) {
  return state == L2State::kWarm ? "warm" : "flushed";
}

std::string_view order_name(Order order) {
  return order == Order::kInterleaved ? "interleaved" : "contiguous";
}

nlohmann::json Protocol::to_json() const {
  nlohmann::json json{{"samples", samples},         {"batch_ns", batch.count()},
                      {"idle_ns", idle.count()},    {"places", places},
                      {"order", order_name(order)}, {"l2", l2_state_name(l2)}};
  if (min_effect > 0) json["min_effect"] = min_effect;
  return json;
}

}  // namespace fusegate
