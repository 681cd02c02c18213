#include "baselines/record/run_blocks.h"

#include <gtest/gtest.h>

#include "baselines/io/error.h"
#include "baselines/io/scratch_folder.h"

namespace fusegate::baselines {
namespace {

TEST(ReadRunBlocks, OfADuetsFolder) {
  const ScratchFolder folder;
  folder.write("run.json", R"({"suite": "pr", "session": "3f", "processes": [
      {"file": "1.json", "block": 1}, {"file": "2.json", "block": 7, "extension": true}]})");
  const RunBlocks blocks = read_run_blocks(folder.path());
  EXPECT_EQ(blocks.suite, "pr");
  EXPECT_EQ(blocks.session, "3f");
  EXPECT_EQ(blocks.by_file.at("1.json").block, 1);
  EXPECT_FALSE(blocks.by_file.at("1.json").extension);
  EXPECT_EQ(blocks.by_file.at("2.json").block, 7);
  EXPECT_TRUE(blocks.by_file.at("2.json").extension);
}

TEST(ReadRunBlocks, NothingIsRecordedInOlderFoldersAndThoseOfOthers) {
  const ScratchFolder folder;
  EXPECT_EQ(read_run_blocks(folder.path()).session, "");
  folder.write("run.json", R"({"suite": "pr", "processes": [{"file": "1.json", "seed": 4}]})");
  const RunBlocks blocks = read_run_blocks(folder.path());
  EXPECT_EQ(blocks.session, "");
  EXPECT_EQ(blocks.by_file.at("1.json").block, 0);
}

TEST(ReadRunBlocks, NamesFileAndFieldOfWhatIsWrong) {
  const ScratchFolder folder;
  const auto problem = [&](const std::string& text) -> std::string {
    folder.write("run.json", text);
    try {
      read_run_blocks(folder.path());
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(problem("{").find("run.json"), std::string::npos);
  EXPECT_NE(
      problem(R"({"processes": [{"file": "1.json", "block": -1}]})").find("processes[0].block"),
      std::string::npos);
  EXPECT_NE(problem(R"({"session": 5})").find("session"), std::string::npos);
}

}  // namespace
}  // namespace fusegate::baselines
