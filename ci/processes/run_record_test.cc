#include "ci/processes/run_record.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/scratch_folder.h"

namespace fusegate::ci {
namespace {

using ::testing::HasSubstr;

RunRecord example() {
  RunRecord record;
  record.suite = "smoke";
  record.programs = {"base/fusegate_bench", "head/fusegate_bench"};
  record.program = "head/fusegate_bench";
  record.flags = {"--batch=8"};
  record.session = "0123456789abcdef";
  record.identified = "fedcba9876543210";
  record.planned_processes = 3;
  record.processes = {{.file = "1.json", .seconds = 12.5, .seed = 77, .block = 1, .aa_half = "a"},
                      {.file = "2.json",
                       .signal = 11,
                       .seconds = 0.1,
                       .seed = 78,
                       .failure = "crashed",
                       .block = 2,
                       .extension = true}};
  record.started = "2026-11-21T02:00:00+00:00";
  record.ended = "2026-11-21T02:01:00+00:00";
  record.finished = true;
  record.aa = AaFindings{56, {"linear/addmm"}, 5, 12, 1};
  record.left_out = {{"geglu/fused", "outside of the budget of 60 s"}};
  return record;
}

class RunRecordTest : public ::testing::Test {
 protected:
  RunRecord read(const nlohmann::json& json) const {
    folder_.write("run.json", json.dump());
    return read_run_record(folder_.path());
  }
  RunRecord written_and_read(const RunRecord& record) const {
    write_run_record(folder_.path(), record);
    return read_run_record(folder_.path());
  }
  // What is wrong with that text.
  std::string problem_of(const std::string& text) const try {
    folder_.write("run.json", text);
    read_run_record(folder_.path());
    return "accepted";
  } catch (const baselines::InputError& error) {
    return error.what();
  }

  const baselines::ScratchFolder folder_;
};

TEST_F(RunRecordTest, IsReadAsItWasWritten) {
  EXPECT_EQ(run_record_json(written_and_read(example())), run_record_json(example()));
}

TEST_F(RunRecordTest, ReadsOlderRecordsWithoutSessionsAndBlocks) {
  nlohmann::json older = run_record_json(example());
  for (const char* key : {"session", "identified", "aa", "left_out"}) older.erase(key);
  for (auto& process : older["processes"]) {
    for (const char* key : {"block", "extension", "aa_half"}) process.erase(key);
  }
  const RunRecord record = read(older);
  EXPECT_EQ(record.session, "");
  EXPECT_EQ(record.identified, "");
  EXPECT_FALSE(record.aa);
  EXPECT_TRUE(record.left_out.empty());
  EXPECT_EQ(record.processes[1].block, 0);
  EXPECT_FALSE(record.processes[1].extension);
}

TEST_F(RunRecordTest, ReadsFieldsByTheNamesThatTheyHadBefore) {
  RunRecord written = example();
  written.processes[0].relative_deviation = 0.5;
  std::string older = run_record_json(written).dump();
  for (const auto& [now, before] :
       {std::pair("relative_deviation", "odd"), std::pair("aa_half", "aa_arm"),
        std::pair("planned_processes", "planned_invocations"),
        std::pair("processes", "invocations")}) {
    older = std::regex_replace(older, std::regex(fmt::format("\"{}\":", now)),
                               fmt::format("\"{}\":", before));
  }
  EXPECT_EQ(run_record_json(read(nlohmann::json::parse(older))), run_record_json(written));
}

TEST_F(RunRecordTest, TakesOutputThatIsNotUtf8) {
  RunRecord record = example();
  record.processes[1].failure = "said \xff";
  EXPECT_EQ(written_and_read(record).processes[1].failure, "said \xef\xbf\xbd");
}

TEST_F(RunRecordTest, NamesTheFileAndFieldThatIsWrong) {
  nlohmann::json without_suite = run_record_json(example());
  without_suite.erase("suite");
  EXPECT_THAT(problem_of(without_suite.dump()), HasSubstr("suite"));
  nlohmann::json wrong_block = run_record_json(example());
  wrong_block["processes"][1]["block"] = "second";
  EXPECT_THAT(problem_of(wrong_block.dump()), HasSubstr("run.json: processes[1].block: must be"));
  nlohmann::json wrong_aa = run_record_json(example());
  wrong_aa["aa"]["comparisons_with_alarm"] = 13;
  EXPECT_THAT(problem_of(wrong_aa.dump()), HasSubstr("aa.comparisons_with_alarm"));
  EXPECT_THAT(problem_of("{"), HasSubstr("run.json"));
  EXPECT_THAT(problem_of(R"({"schema_version": 99})"), HasSubstr("schema_version"));
}

TEST(LastProcess, CountsNumberedFilesAlone) {
  const baselines::ScratchFolder folder;
  EXPECT_EQ(last_process_in(folder.path() / "missing"), 0);
  EXPECT_EQ(last_process_in(folder.path()), 0);
  for (const char* name : {"run.json", "2.json", "10.json", "11.log", "12.txt", "x13.json"}) {
    baselines::write_atomically(folder.path() / name, "{}");
  }
  EXPECT_EQ(last_process_in(folder.path()), 11);
}

}  // namespace
}  // namespace fusegate::ci
