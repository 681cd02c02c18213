#include "ci/gate/aa_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/scratch_folder.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

nlohmann::json example_entry(int false_alarms) {
  return {{"when", "2026-11-21T02:53:32+00:00"},
          {"device", "NVIDIA H200"},
          {"benchmarks", 56},
          {"false_alarms", false_alarms},
          {"processes_a_side", 5}};
}

TEST(AaHistory, GrowsByALineAComparison) {
  const baselines::ScratchFolder folder;
  const fs::path path = folder.path() / "aa" / "pr.jsonl";
  EXPECT_TRUE(read_aa_history(path).empty());
  append_to_aa_history(path, example_entry(0));
  const std::vector<nlohmann::json> both{example_entry(0), example_entry(2)};
  EXPECT_EQ(append_to_aa_history(path, example_entry(2)), both);
  EXPECT_EQ(read_aa_history(path), both);
  EXPECT_EQ(std::ranges::count(baselines::read_file(path), '\n'), 2);
}

TEST(AaHistory, KeepsTheComparisonsOfAllThatEndAtOnce) {
  const baselines::ScratchFolder folder;
  const fs::path path = folder.path() / "pr.jsonl";
  {
    std::vector<std::jthread> jobs;
    for (int i = 0; i < 4; ++i) {
      jobs.emplace_back([&] {
        for (int n = 0; n < 5; ++n) append_to_aa_history(path, example_entry(0));
      });
    }
  }
  EXPECT_EQ(read_aa_history(path).size(), 20u);
}

TEST(AaHistory, HasAFileADeviceAndSuite) {
  const baselines::Environment environment{{"device", "NVIDIA H200"}};
  EXPECT_EQ(aa_history_path("root", environment, "pr"), "root/.fusegate/aa/nvidia-h200/pr.jsonl");
  EXPECT_EQ(aa_history_path("root", {}, ""), "root/.fusegate/aa/unknown-device/unnamed.jsonl");
}

TEST(AaHistory, NamesTheLineAndFieldThatIsWrong) {
  const baselines::ScratchFolder folder;
  const std::string good = R"({"when": "x", "benchmarks": 1, "false_alarms": 0,)"
                           R"( "invocations_a_side": 5})"
                           "\n";
  const auto problem_of = [&](const std::string& text) -> std::string {
    const fs::path path = folder.write("aa.jsonl", text);
    try {
      append_to_aa_history(path, example_entry(0));
    } catch (const baselines::InputError& error) {
      EXPECT_EQ(baselines::read_file(path), text);
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(problem_of(good + "{\"when\""), HasSubstr("aa.jsonl: line 2: "));
  EXPECT_THAT(problem_of(good + "\n"), HasSubstr("aa.jsonl: line 2: "));
  EXPECT_THAT(problem_of(good + R"({"when": "x", "benchmarks": -1})"), HasSubstr("benchmarks"));
  EXPECT_THAT(problem_of(R"({"when": "x", "benchmarks": 1})"), HasSubstr("false_alarms"));
  EXPECT_EQ(problem_of(good), "accepted") << "processes by their older name";
}

}  // namespace
}  // namespace fusegate::ci
