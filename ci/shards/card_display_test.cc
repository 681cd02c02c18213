#include "ci/shards/card_display.h"

#include <gtest/gtest.h>

#include <sstream>

#include "ci/processes/progress.h"

namespace fusegate::ci {
namespace {

TEST(CardDisplayTest, LinesBearTheCardsName) {
  std::ostringstream out, err;
  Console console{out, err};
  {
    CardDisplay display(console);
    Console& first = display.add_card("GPU 0");
    Console& second = display.add_card("GPU 1");
    first.err.print("identifying\n");
    second.out.print("half a line");
    first.out.print("measured\n");
    second.out.print(", and the rest\n\n");
    display.note("done");
  }
  EXPECT_EQ(err.str(),
            "GPU 0: identifying\nGPU 0: measured\nGPU 1: half a line, and the rest\ndone\n");
  EXPECT_EQ(out.str(), "");
}

TEST(CardDisplayTest, OneStatusLineHasAllCards) {
  std::ostringstream out, err;
  Console console{out, err};
  console.status_line = true;
  console.columns = 200;
  CardDisplay display(console);
  Console& first = display.add_card("GPU 0");
  Console& second = display.add_card("GPU 1");
  double now = 0;
  ProgressDisplay of_first(first, 2, [&] { return now; });
  ProgressDisplay of_second(second, 2, [&] { return now; });
  of_first.start_process("");
  of_second.start_process("");
  now = 10;
  err.str("");
  of_second.show({.index = 1, .total = 2, .benchmark = "geglu/fused"});
  EXPECT_EQ(err.str(), "\r\x1b[KGPU 0: process 1/2; GPU 1: process 1/2: 50 %, 30 s left");
  err.str("");
  of_first.note("note: a card");
  EXPECT_EQ(err.str(),
            "\r\x1b[KGPU 1: process 1/2: 50 %, 30 s left"
            "\r\x1b[KGPU 0: note: a card\n"
            "\r\x1b[KGPU 1: process 1/2: 50 %, 30 s left");
}

}  // namespace
}  // namespace fusegate::ci
