#include "ci/run/failed_benchmarks.h"

#include <gtest/gtest.h>

#include <sstream>

namespace fusegate::ci {
namespace {

class FailedBenchmarksTest : public ::testing::Test {
 protected:
  std::string printed(std::size_t processes, const std::string& where = "") const {
    std::ostringstream out;
    std::ostringstream err;
    Console console{out, err};
    failed_.print(processes, where, console);
    return err.str();
  }

  FailedBenchmarks failed_;
};

TEST_F(FailedBenchmarksTest, ReportsAWrongKernelOnceWhateverItsShapesAndProcesses) {
  int reported_at_once = 0;
  for (int process = 0; process < 6; ++process) {
    for (const char* shape : {"batch:1", "batch:2", "batch:4", "batch:8"}) {
      reported_at_once += failed_.add(std::string("geglu/wrong/bf16/") + shape,
                                      std::string("wrong result: at ") + shape);
    }
  }
  EXPECT_EQ(reported_at_once, 1);
  EXPECT_EQ(printed(6),
            "fusegate: geglu/wrong: 4 benchmarks failed in 6 of 6 processes, the first "
            "geglu/wrong/bf16/batch:1: wrong result: at batch:1\n");
}

TEST_F(FailedBenchmarksTest, ReportsAnotherKernelAndAnotherKindOfFailureToo) {
  EXPECT_TRUE(failed_.add("geglu/wrong/bf16/batch:1", "wrong result: x"));
  EXPECT_TRUE(failed_.add("geglu/wrong/bf16/batch:8", "out of memory: y"));
  EXPECT_TRUE(failed_.add("geglu/other/bf16/batch:1", "wrong result: x"));
  EXPECT_TRUE(failed_.add("a/b", "z"));
  EXPECT_TRUE(failed_.add("BM_alone", "z"));
  EXPECT_FALSE(failed_.add("BM_alone", "z"));
  EXPECT_NE(printed(2, "runs/head").find(": failed in 2 of 2 processes in runs/head: z\n"),
            std::string::npos);
  EXPECT_EQ(printed(2),
            "fusegate: BM_alone: failed in 2 of 2 processes: z\n"
            "fusegate: a/b: failed in 1 of 2 processes: z\n"
            "fusegate: geglu/other/bf16/batch:1: failed in 1 of 2 processes: wrong result: x\n"
            "fusegate: geglu/wrong/bf16/batch:8: failed in 1 of 2 processes: out of memory: y\n"
            "fusegate: geglu/wrong/bf16/batch:1: failed in 1 of 2 processes: wrong result: x\n");
}

}  // namespace
}  // namespace fusegate::ci
