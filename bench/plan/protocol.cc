#include "bench/plan/protocol.h"

#include "baselines/record/environment.h"

namespace fusegate::bench {

std::string_view regime_name(Regime regime) {
  return regime == Regime::kBurst ? "burst" : "sustained";
}

std::string_view l2_state_name(L2State state) {
  return state == L2State::kWarm ? "warm" : "flushed";
}

std::string_view order_name(Order order) {
  return order == Order::kInterleaved ? "interleaved" : "contiguous";
}

std::string_view layout_kind_name(LayoutKind kind) {
  return kind == LayoutKind::kNumbered ? "numbered" : "driver";
}

nlohmann::json Protocol::to_json() const {
  nlohmann::json json{
      {"regime", regime_name(regime)}, {"samples", samples},      {"batch_ns", batch.count()},
      {"idle_ns", idle.count()},       {"layouts", layouts},      {"order", order_name(order)},
      {"warm_ns", warm.count()},       {"spin_ns", spin.count()}, {"l2", l2_state_name(l2)}};
  if (layout_kind) json["layout"] = layout_kind_name(*layout_kind);
  if (min_effect > 0) json[baselines::kMinEffect] = min_effect;
  if (allow > 0) json[baselines::kAllow] = allow;
  if (host_min_effect) json[baselines::kHostMinEffect] = *host_min_effect;
  if (host_min_ns) json[baselines::kHostMinNs] = *host_min_ns;
  return json;
}

Protocol protocol_of(Regime regime) {
  if (regime == Regime::kBurst) return {};
  return {.regime = regime,
          .idle = std::chrono::nanoseconds(0),
          .layouts = 12,  // each has to reach the power limit anew
          .warm = std::chrono::milliseconds(100)};
}

}  // namespace fusegate::bench
