#include "baselines/traces/test_trace.h"
#include "baselines/traces/writer.h"
#include "ci/commands/reading/command_test.h"

namespace fusegate::ci {
namespace {

class TraceTableCommandTest : public CommandTest<TraceTableRequest, trace_table_command> {
 protected:
  TraceTableCommandTest() { trace_is(baselines::example_trace()); }

  void trace_is(const baselines::Trace& trace) {
    request_.trace = folder_.write("trace.json", baselines::trace_text(trace));
  }
};

TEST_F(TraceTableCommandTest, PrintsTheTableAndWhatItComesTo) {
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_THAT(out_.str(), HasSubstr("geglu \"mlp\""));
  EXPECT_THAT(out_.str(), HasSubstr("CPU total 20.00 us, CUDA total 61.12 us in 2 kernels, 1 "
                                    "memory operation\n"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("no operator or range")));
  EXPECT_EQ(err_.str(), "");
}

TEST_F(TraceTableCommandTest, SaysWhatItLeavesOutAndWritesAllAsJson) {
  request_.limit = 3;
  request_.json = folder_.path() / "table.json";
  run();
  EXPECT_THAT(out_.str(), HasSubstr("and 5 more rows\n"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("cudaOccupancy")));
  EXPECT_EQ(json_in(*request_.json)["rows"].size(), 8U);
  EXPECT_EQ(json_in(*request_.json)["trace"], request_.trace.string());
}

TEST_F(TraceTableCommandTest, SaysWhatNobodyLaunched) {
  baselines::Trace trace = baselines::example_trace();
  trace.events.back().correlation = 0;
  trace_is(trace);
  run();
  EXPECT_THAT(out_.str(), HasSubstr("1 of these launched by no operator or range of this trace"));
}

class TraceCheckCommandTest : public CommandTest<TraceCheckRequest, trace_check_command> {
 protected:
  TraceCheckCommandTest() {
    request_.trace = folder_.write("t.json", baselines::trace_text(baselines::example_trace()));
    request_.expectation = folder_.path() / "e.json";
  }
  void expect_gemms(int count) {
    folder_.write("e.json", fmt::format(R"({{"kernels": [{{"what": "GEMMs", "pattern": "gemm_sm90",
        "count": {}}}], "memory_operations": {{"count": 1}}}})",
                                        count));
  }
};

TEST_F(TraceCheckCommandTest, EndsWithZeroWhereAllIsAsExpected) {
  expect_gemms(2);
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_THAT(out_.str(), HasSubstr("met   kernels: expected 2 GEMMs\n"));
}

TEST_F(TraceCheckCommandTest, ShowsExpectedAndSeenAndEndsWithOne) {
  expect_gemms(3);
  EXPECT_EQ(run(), kRegression);
  EXPECT_THAT(out_.str(), HasSubstr("NOT   kernels: expected 3 GEMMs\n"
                                    "      seen gemm_sm90, gemm_sm90\n"
                                    "met   memory operations: expected 1 memory operations\n"));
}

TEST_F(TraceCheckCommandTest, NamesTheFileThatIsNoExpectation) {
  folder_.write("e.json", "{");
  EXPECT_THAT(problem(), HasSubstr("e.json: "));
}

}  // namespace
}  // namespace fusegate::ci
