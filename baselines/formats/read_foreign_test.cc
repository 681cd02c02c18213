#include "baselines/formats/read_foreign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/file_io.h"

namespace fusegate::baselines {
namespace {

std::optional<ForeignFile> read(std::string text) { return read_foreign(text, "a name"); }

std::string tool_of(const std::optional<ForeignFile>& file) {
  return file ? file->protocol.at("tool").get<std::string>() : "none";
}

TEST(ReadForeign, KnowsAFileByWhatItHolds) {
  for (const std::string tool : {"nvbench/throughput", "pytest-benchmark"}) {
    const std::string text = read_file(std::string(FUSEGATE_FORMATS) + "/" + tool + "/base/1.json");
    EXPECT_THAT(tool, testing::StartsWith(tool_of(read(text))));
    // With its keys in another order: here sorted, "benchmarks" first.
    EXPECT_THAT(tool, testing::StartsWith(tool_of(read(nlohmann::json::parse(text).dump()))));
  }
}

TEST(ReadForeign, LeavesOtherTextsAsTheyAre) {
  for (const char* text : {R"({"context": {}, "benchmarks": [], "meta": 1})",
                           R"({"benchmarks": []})", R"({"other": {"meta": 1}})", "[1]", "{", ""}) {
    std::string given = text;
    EXPECT_FALSE(read_foreign(given, "a name")) << text;
    EXPECT_EQ(given, text);
  }
}

}  // namespace
}  // namespace fusegate::baselines
