// How a benchmark is measured: what a sample is, how many there are, and what comes between them.
// The defaults follow what made processes agree on unlocked H200s (docs/protocol.md).
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
  kInterleaved,  // places of all benchmarks in random order, another in every process
  kContiguous,   // one benchmark's places after another's
};

enum class Layout {
  kNumbered,  // a place lays its tensors out by its number, in every process alike
  kDriver,    // where the driver or malloc puts them
};

std::string_view regime_name(Regime regime);    // "burst", "sustained"
std::string_view l2_state_name(L2State state);  // "warm", "flushed"
std::string_view order_name(Order order);       // "interleaved", "contiguous"
std::string_view layout_name(Layout layout);    // "numbered", "driver"

struct Protocol {
  Regime regime = Regime::kBurst;
  int samples = 48;
  // A sample's launches together take at least this long.
  std::chrono::nanoseconds batch = std::chrono::microseconds(1500);
  // Idle before every sample: the power limit then has nothing to take back, and the clock stays
  // up.
  std::chrono::nanoseconds idle = std::chrono::milliseconds(3);
  // Samples are spread evenly over this many fresh allocations of every tensor; at most as many as
  // samples.
  int places = 48;
  // On an unlocked H200 the clock that a GEMM got changed within seconds: medians of successive
  // places of a 0.4 s window correlated by 0.33 to 0.38. Interleaving takes each benchmark's places
  // from the whole process and not from one such window.
  Order order = Order::kInterleaved;
  // At each place calls run back to back for this long before its first sample; one batch always
  // does.
  std::chrono::nanoseconds warm{0};
  // A kernel that only spins runs for this long between idling and every sample; none where 0.
  std::chrono::nanoseconds spin{0};
  L2State l2 = L2State::kWarm;
  // Unless set, numbered where the device has such layouts.
  std::optional<Layout> layout = std::nullopt;
  // The gate's smallest effect that matters, and the slowdown that it may leave undecided, where
  // the suite sets them for this kind of device; else 0.
  double min_effect = 0;
  double allow = 0;
  // Likewise what a call must cost the host more, where the suite sets it.
  std::optional<double> host_min_effect = std::nullopt;
  std::optional<double> host_min_ns = std::nullopt;

  // Samples of the places before this one, which are the first sample's number there.
  int first_sample(int place) const { return samples * place / places; }
  int samples_at(int place) const { return first_sample(place + 1) - first_sample(place); }

  nlohmann::json to_json() const;
};

// The defaults in a regime.
Protocol protocol_of(Regime regime);

}  // namespace fusegate::bench
