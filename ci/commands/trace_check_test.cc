#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "baselines/io/error.h"
#include "baselines/io/scratch_folder.h"
#include "baselines/traces/test_trace.h"
#include "baselines/traces/writer.h"
#include "ci/commands/commands.h"

namespace fusegate::ci {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class TraceCheckCommand : public testing::Test {
 protected:
  baselines::ExitCode check(const std::string& expectation) {
    const TraceCheckRequest request{
        .trace = folder_.write("t.json", baselines::trace_text(baselines::example_trace())),
        .expectation = folder_.write("e.json", expectation)};
    Console console{out_, out_};
    return trace_check_command(request, console);
  }

  baselines::ScratchFolder folder_;
  std::ostringstream out_;
};

TEST_F(TraceCheckCommand, EndsWithZeroWhereAllIsAsExpected) {
  EXPECT_EQ(check(R"({"kernels": [{"what": "GEMMs", "pattern": "gemm_sm90", "count": 2}],
                      "memory_operations": {"count": 1}})"),
            baselines::ExitCode::kNoRegression);
  EXPECT_THAT(out_.str(), HasSubstr("met   kernels: expected 2 GEMMs\n"));
}

TEST_F(TraceCheckCommand, ShowsExpectedAndSeenAndEndsWithOne) {
  EXPECT_EQ(check(R"({"kernels": [{"what": "GEMMs", "pattern": "gemm_sm90", "count": 3}],
                      "memory_operations": {"count": 1}})"),
            baselines::ExitCode::kRegression);
  EXPECT_THAT(out_.str(), HasSubstr("NOT   kernels: expected 3 GEMMs\n"
                                    "      seen gemm_sm90, gemm_sm90\n"
                                    "met   memory operations: expected 1 memory operations\n"));
}

TEST_F(TraceCheckCommand, NamesTheFileThatIsNoExpectation) {
  EXPECT_THAT([this] { check("{"); }, ThrowsMessage<baselines::InputError>(HasSubstr("e.json: ")));
}

}  // namespace
}  // namespace fusegate::ci
