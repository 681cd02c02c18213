#include "baselines/record/entry_key.h"

#include <gtest/gtest.h>

namespace fusegate::baselines {
namespace {

template <typename Key>
bool is(const EntryKey& key) {
  return std::holds_alternative<Key>(key);
}

TEST(EntryKey, GoogleBenchmarksOwnKeysAreNotCounters) {
  EXPECT_EQ(std::get<MeasureKey>(entry_key("real_time")).member, &RunFileEntry::real_time);
  EXPECT_EQ(std::get<TextKey>(entry_key("skip_message")).member, &RunFileEntry::error_message);
  for (const char* ignored : {"cpu_time", "threads", "process", "invocation"}) {
    EXPECT_TRUE(is<IgnoredKey>(entry_key(ignored))) << ignored;
  }
  for (const char* counter : {"sm_clock_hz", "bytes_per_second"}) {
    EXPECT_TRUE(is<CounterKey>(entry_key(counter))) << counter;
  }
}

TEST(EntryKeyOrder, AWrongGuessIsCorrected) {
  EntryKeyOrder order;
  EXPECT_TRUE(is<TextKey>(order.find(0, "name")));
  EXPECT_TRUE(is<DetailsKey>(order.find(3, "details")));
  EXPECT_TRUE(is<TextKey>(order.find(0, "name")));
  EXPECT_TRUE(is<CounterKey>(order.find(0, "flops")));
  EXPECT_TRUE(is<TextKey>(order.find(0, "name")));
  EXPECT_TRUE(is<TextKey>(order.find(1, "run_name")));
}

}  // namespace
}  // namespace fusegate::baselines
