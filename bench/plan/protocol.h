// How a benchmark is measured: what a sample is, how many there are, and what happens between them.
// With the defaults, processes agree best on unlocked H200s (docs/evidence/protocol.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace fusegate::bench {

enum class Regime {
  kBurst,      // idle before every sample
  kSustained,  // back to back, as in training, after a warm-up meant to reach the power limit
};

enum class L2State {
  kWarm,     // calls follow each other; what fits into the L2 stays there
  kFlushed,  // the L2 is overwritten before every call
};

enum class Order {
  kInterleaved,  // the layouts of all benchmarks in random order, another in every process
  kContiguous,   // one benchmark after the other
};

enum class LayoutKind {
  kNumbered,  // by the layout's number, alike in every process
  kDriver,    // by the driver or malloc
};

std::string_view regime_name(Regime regime);         // "burst", "sustained"
std::string_view l2_state_name(L2State state);       // "warm", "flushed"
std::string_view order_name(Order order);            // "interleaved", "contiguous"
std::string_view layout_kind_name(LayoutKind kind);  // "numbered", "driver"

struct Protocol {
  Regime regime = Regime::kBurst;
  int samples = 48;
  // A sample's launches together take at least this long.
  std::chrono::nanoseconds batch = std::chrono::microseconds(1500);
  // Idle before every sample, so that the power limit does not lower the clock.
  std::chrono::nanoseconds idle = std::chrono::milliseconds(3);
  // Samples are spread evenly over this many memory layouts, each with new allocations of every
  // tensor; at most as many as samples.
  int layouts = 48;
  // On an unlocked H200 a GEMM's clock changes within seconds: medians of successive layouts of a
  // 0.4 s window correlated by 0.33 to 0.38. Interleaving spreads each benchmark over the process.
  Order order = Order::kInterleaved;
  // In each layout calls run back to back for this long before the first sample; at least one
  // batch.
  std::chrono::nanoseconds warm{0};
  // A kernel that only spins runs this long between idling and every sample; 0: none.
  std::chrono::nanoseconds spin{0};
  L2State l2 = L2State::kWarm;
  // Unless set, numbered where the device has such layouts.
  std::optional<LayoutKind> layout_kind = std::nullopt;
  // The gate's smallest effect that matters, and the slowdown that may stay undecided; 0 where the
  // suite does not set them for this kind of device.
  double min_effect = 0;
  double allow = 0;
  // Likewise for the time that a call costs the host.
  std::optional<double> host_min_effect = std::nullopt;
  std::optional<double> host_min_ns = std::nullopt;

  // The number of the layout's first sample.
  int first_sample(int layout) const { return samples * layout / layouts; }
  int samples_at(int layout) const { return first_sample(layout + 1) - first_sample(layout); }

  nlohmann::json to_json() const;
};

// The defaults in a regime.
Protocol protocol_of(Regime regime);

}  // namespace fusegate::bench
