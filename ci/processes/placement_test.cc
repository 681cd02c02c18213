#include "ci/processes/placement.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "baselines/io/scratch_folder.h"
#include "ci/processes/child_process.h"

namespace fusegate::ci {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PlacementTest, ReadsListsOfCpus) {
  EXPECT_THAT(parse_cpu_list("0-2,8,10-11"), ElementsAre(0, 1, 2, 8, 10, 11));
  EXPECT_THAT(parse_cpu_list(""), IsEmpty());
  EXPECT_THAT(parse_cpu_list("x,3"), ElementsAre(3));
  EXPECT_LT(parse_cpu_list("0-2000000000").size(), 10'000u);
}

// Two nodes of four cores, each of two hardware threads: 0 to 3 and 8 to 11, 4 to 7 and 12 to 15.
class SystemTest : public ::testing::Test {
 protected:
  SystemTest() {
    for (int cpu = 0; cpu < 16; ++cpu) {
      folder_.write(fmt::format("devices/system/cpu/cpu{}/topology/core_cpus_list", cpu),
                    fmt::format("{},{}\n", cpu % 8, cpu % 8 + 8));
    }
    for (int card = 0; card < 4; ++card) {
      folder_.write(fmt::format("bus/pci/devices/0000:{}a:00.0/local_cpulist", card),
                    card < 3 ? "0-3,8-11\n" : "4-7,12-15\n");
    }
  }

  static Card card(int number) { return {.bus_id = fmt::format("00000000:{}A:00.0", number)}; }
  std::vector<std::set<int>> near(const std::vector<Card>& cards, const std::string& allowed) {
    return cpus_near(cards, parse_cpu_list(allowed), folder_.path());
  }

  baselines::ScratchFolder folder_;
};

TEST_F(SystemTest, CardsOfANodeShareItsCores) {
  EXPECT_THAT(
      near({card(0), card(3)}, "0-15"),
      ElementsAre(ElementsAre(0, 1, 2, 3, 8, 9, 10, 11), ElementsAre(4, 5, 6, 7, 12, 13, 14, 15)));
  EXPECT_THAT(near({card(0), card(1)}, "0-15"),
              ElementsAre(ElementsAre(0, 1, 8, 9), ElementsAre(2, 3, 10, 11)));
  EXPECT_THAT(near({card(0), card(1), card(2)}, "0-15"),
              ElementsAre(ElementsAre(0, 8), ElementsAre(1, 9), ElementsAre(2, 10)));
}

TEST_F(SystemTest, NoneIsPinnedWhereTheSystemDoesNotSayOrLeavesTooFew) {
  EXPECT_THAT(near({card(0), card(3)}, "2-3"), ElementsAre(ElementsAre(2, 3), IsEmpty()));
  EXPECT_THAT(near({card(0), card(1), card(2)}, "2-3"),
              ElementsAre(IsEmpty(), IsEmpty(), IsEmpty()));
  EXPECT_THAT(near({{.bus_id = "00000000:FF:00.0"}, {}}, "0-15"),
              ElementsAre(IsEmpty(), IsEmpty()));
}

TEST(PlacementTest, WhatAPinnedThreadStartsIsPinnedToo) {
  const int first = *allowed_cpus().begin();
  std::string seen;
  std::jthread([&] {
    pin_this_thread({first});
    seen = output_of({"sh", "-c", "grep Cpus_allowed_list /proc/self/status | cut -f2"});
  }).join();
  EXPECT_EQ(seen, std::to_string(first));
  EXPECT_THAT(allowed_cpus(), ::testing::Contains(first));
}

}  // namespace
}  // namespace fusegate::ci
