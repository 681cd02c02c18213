#include "bench/meters/call_order.h"

#include <gtest/gtest.h>

namespace fusegate::bench {
namespace {

// A kernel, and one on another stream that is joined again.
TEST(CallOrder, BranchesThatAreJoinedLieBetweenTheOthers) {
  const CallOrder order{
      .is_work = {true, true, true}, .inside = {{0, 1}, {0, 2}}, .first = {0}, .last = {1, 2}};
  EXPECT_TRUE(begins_after_others(order));
  EXPECT_TRUE(ends_before_others(order));
}

TEST(CallOrder, WorkOnAnotherStreamMayNeitherBeginEarlierNorGoOn) {
  CallOrder order{.is_work = {true, true}, .inside = {{0, 1}}, .first = {0}, .last = {0}};
  EXPECT_TRUE(begins_after_others(order));
  EXPECT_FALSE(ends_before_others(order));
  order = {.is_work = {true, true}, .inside = {{1, 0}}, .first = {}, .last = {0}};
  EXPECT_FALSE(begins_after_others(order));
  EXPECT_TRUE(ends_before_others(order));
}

// NCCL 2.28: a wait for an event, a product, the collective that waits for both, and a record of
// the event.
TEST(CallOrder, EventsOfNcclAreNoWork) {
  CallOrder order{.is_work = {false, true, true, false},
                  .inside = {{0, 2}, {1, 2}, {2, 3}},
                  .first = {1},
                  .last = {2}};
  EXPECT_TRUE(begins_after_others(order));
  EXPECT_TRUE(ends_before_others(order));
  order.first = {};  // the wait alone is nothing to begin after
  EXPECT_FALSE(begins_after_others(order));
  order.first = {1};
  order.last = {1};  // nor is the record something that holds up what follows
  EXPECT_FALSE(ends_before_others(order));
}

TEST(CallOrder, NothingIsInOrder) {
  EXPECT_TRUE(begins_after_others({}));
  EXPECT_TRUE(ends_before_others({}));
}

}  // namespace
}  // namespace fusegate::bench
