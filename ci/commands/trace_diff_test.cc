#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "baselines/io/file_io.h"
#include "baselines/io/scratch_folder.h"
#include "baselines/traces/test_trace.h"
#include "baselines/traces/writer.h"
#include "ci/commands/commands.h"

namespace fusegate::ci {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class TraceDiffCommand : public testing::Test {
 protected:
  std::string printed(const baselines::Trace& a, const baselines::Trace& b,
                      TraceDiffRequest request = {}) {
    request.a = folder_.write("a.json", baselines::trace_text(a));
    request.b = folder_.write("b.json", baselines::trace_text(b));
    std::ostringstream out, err;
    Console console{out, err};
    EXPECT_EQ(trace_diff_command(request, console), baselines::ExitCode::kNoRegression);
    EXPECT_EQ(err.str(), "");
    return out.str();
  }

  baselines::ScratchFolder folder_;
};

TEST_F(TraceDiffCommand, HasNoRowWhereNothingDiffers) {
  const std::string text = printed(baselines::example_trace(), baselines::example_trace());
  EXPECT_THAT(text, HasSubstr("kernels and memory operations: 2 of 2 alike\n\n"));
  EXPECT_THAT(text, HasSubstr("operators, ranges and calls: 6 of 6 alike\n"));
  EXPECT_THAT(text, Not(HasSubstr("gemm_sm90")));
  EXPECT_THAT(text, HasSubstr("a step has 2 kernels, 1 memory operations, 61.12 us of CUDA"));
}

TEST_F(TraceDiffCommand, ShowsWhatDiffers) {
  baselines::Trace other = baselines::example_trace();
  other.events[7].name = "nvjet";        // gate_proj's kernel
  other.events[9].duration_ns = 45'000;  // up_proj's
  const std::string text = printed(baselines::example_trace(), other);
  for (const char* part :
       {"only in B  nvjet ", "calls      gemm_sm90 ", "time     up_proj ", "+47.80 %",
        "kernels and memory operations: 1 of 3 alike", "operators, ranges and calls: 4 of 6"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST_F(TraceDiffCommand, StopsAtItsLimitAndSaysSo) {
  baselines::Trace other = baselines::example_trace();
  other.events[7].name = "nvjet";
  const std::string text = printed(baselines::example_trace(), other, {{.limit = 1}});
  EXPECT_THAT(text, HasSubstr("and 1 more row\n"));
}

TEST_F(TraceDiffCommand, WritesAllRowsAsJson) {
  const auto json_path = folder_.path() / "diff.json";
  baselines::Trace other = baselines::example_trace();
  other.events[7].name = "nvjet";
  printed(baselines::example_trace(), other, {{.json = json_path}});
  const auto json = nlohmann::json::parse(baselines::read_file(json_path));
  EXPECT_EQ(json["rows"].size(), 9U);
  EXPECT_EQ(json["a"]["steps"], 0);
  for (const auto& row : json["rows"]) {
    if (row["name"] == "nvjet") {
      EXPECT_EQ(row["difference"], "only in B");
      EXPECT_EQ(row["a"]["calls"], 0);
      EXPECT_EQ(row["b"]["cuda_ns"], 30'000);
      EXPECT_TRUE(row["cuda_ratio"].is_null());
    }
  }
}

}  // namespace
}  // namespace fusegate::ci
