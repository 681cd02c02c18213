#include "baselines/record/entry_key.h"

#include <gtest/gtest.h>

namespace fusegate::baselines {
namespace {

TEST(EntryKey, GoogleBenchmarksOwnKeysAreNoCounters) {
  EXPECT_EQ(entry_key("real_time"), EntryKey::kRealTime);
  EXPECT_EQ(entry_key("skip_message"), EntryKey::kMessage);
  EXPECT_EQ(entry_key("cpu_time"), EntryKey::kIgnored);
  EXPECT_EQ(entry_key("threads"), EntryKey::kIgnored);
  EXPECT_EQ(entry_key("sm_clock_hz"), EntryKey::kOther);
  EXPECT_EQ(entry_key("bytes_per_second"), EntryKey::kOther);
}

TEST(EntryKeyOrder, AWrongGuessIsCorrected) {
  EntryKeyOrder order;
  EXPECT_EQ(order.find(0, "name"), EntryKey::kName);
  EXPECT_EQ(order.find(3, "details"), EntryKey::kDetails);
  EXPECT_EQ(order.find(0, "name"), EntryKey::kName);
  EXPECT_EQ(order.find(0, "flops"), EntryKey::kOther);
  EXPECT_EQ(order.find(0, "name"), EntryKey::kName);
  EXPECT_EQ(order.find(1, "run_name"), EntryKey::kRunName);
}

}  // namespace
}  // namespace fusegate::baselines
