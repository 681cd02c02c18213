#include "bench/plan/protocol.h"

#include <gtest/gtest.h>

namespace fusegate::bench {
namespace {

TEST(Protocol, SpreadsSamplesEvenlyOverTheLayouts) {
  for (const auto& [samples, layouts] : {std::pair(60, 10), {12, 5}, {7, 7}, {100'000, 1000}}) {
    const Protocol protocol{.samples = samples, .layouts = layouts};
    int total = 0;
    for (int layout = 0; layout < layouts; ++layout) {
      EXPECT_EQ(protocol.first_sample(layout), total);
      EXPECT_GE(protocol.samples_at(layout), samples / layouts);
      EXPECT_LE(protocol.samples_at(layout), samples / layouts + 1);
      EXPECT_LE(protocol.samples_at(layout), protocol.samples_at(layouts - 1))
          << "the last layout is nowhere short";
      total += protocol.samples_at(layout);
    }
    EXPECT_EQ(total, samples);
  }
}

TEST(Protocol, IsWrittenWhole) {
  Protocol protocol = protocol_of(Regime::kSustained);
  protocol.spin = std::chrono::microseconds(40);
  protocol.layout_kind = LayoutKind::kNumbered;
  const nlohmann::json expected{{"regime", "sustained"},  {"samples", 48},
                                {"batch_ns", 1'500'000},  {"idle_ns", 0},
                                {"layouts", 12},          {"order", "interleaved"},
                                {"warm_ns", 100'000'000}, {"spin_ns", 40'000},
                                {"l2", "warm"},           {"layout", "numbered"}};
  EXPECT_EQ(protocol.to_json(), expected);
  EXPECT_EQ(Protocol{}.to_json().at("regime"), "burst");
  EXPECT_EQ(Protocol{.allow = 0.02}.to_json().at("allow"), 0.02);
}

}  // namespace
}  // namespace fusegate::bench
