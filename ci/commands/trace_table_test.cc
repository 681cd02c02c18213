#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/scratch_folder.h"
#include "baselines/traces/test_trace.h"
#include "baselines/traces/writer.h"
#include "ci/commands/commands.h"

namespace fusegate::ci {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class TraceTableCommand : public testing::Test {
 protected:
  std::string printed(TraceTableRequest request) {
    request.trace = path_;
    std::ostringstream out, err;
    Console console{out, err};
    EXPECT_EQ(trace_table_command(request, console), baselines::ExitCode::kNoRegression);
    EXPECT_EQ(err.str(), "");
    return out.str();
  }

  baselines::ScratchFolder folder_;
  std::filesystem::path path_ =
      folder_.write("trace.json", baselines::trace_text(baselines::example_trace()));
};

TEST_F(TraceTableCommand, PrintsTheTableAndWhatItComesTo) {
  const std::string text = printed({});
  EXPECT_THAT(text, HasSubstr("geglu \"mlp\""));
  EXPECT_THAT(text, HasSubstr("CPU total 20.00 us, CUDA total 61.12 us in 2 kernels, 1 memory "
                              "operation\n"));
  EXPECT_THAT(text, Not(HasSubstr("no operator or range")));
}

TEST_F(TraceTableCommand, SaysWhatItLeavesOut) {
  const std::string text = printed({.limit = 3});
  EXPECT_THAT(text, HasSubstr("and 5 more rows\n"));
  EXPECT_THAT(text, Not(HasSubstr("cudaOccupancy")));
}

TEST_F(TraceTableCommand, SaysWhatNobodyLaunched) {
  baselines::Trace trace = baselines::example_trace();
  trace.events.back().correlation = 0;
  baselines::write_trace(path_, trace);
  EXPECT_THAT(printed({}), HasSubstr("1 of these launched by no operator or range of this trace"));
}

TEST_F(TraceTableCommand, WritesJson) {
  const auto json_path = folder_.path() / "table.json";
  printed({.limit = 1, .json = json_path});
  const auto json = nlohmann::json::parse(baselines::read_file(json_path));
  EXPECT_EQ(json["rows"].size(), 8U);
  EXPECT_EQ(json["trace"], path_.string());
}

TEST_F(TraceTableCommand, NamesAFileThatCannotBeRead) {
  std::ostringstream out;
  Console console{out, out};
  for (const char* contents : {"{", "\x1F\x8B\x08"}) {
    TraceTableRequest request;
    request.trace = folder_.write("broken.json", contents);
    try {
      trace_table_command(request, console);
      FAIL() << "no error";
    } catch (const baselines::InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("broken.json: "));
    }
  }
}

}  // namespace
}  // namespace fusegate::ci
