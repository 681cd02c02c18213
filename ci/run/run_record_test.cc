#include "ci/run/run_record.h"

#include <gtest/gtest.h>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/scratch_folder.h"

namespace fusegate::ci {
namespace {

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
  return record;
}

TEST(RunRecord, IsReadAsItWasWritten) {
  const baselines::ScratchFolder folder;
  write_run_record(folder.path(), example());
  EXPECT_EQ(run_record_json(read_run_record(folder.path())), run_record_json(example()));
}

TEST(RunRecord, ReadsOlderRecordsWithoutSessionsAndBlocks) {
  const baselines::ScratchFolder folder;
  nlohmann::json older = run_record_json(example());
  older.erase("session");
  older.erase("identified");
  older.erase("aa");
  for (auto& process : older["processes"]) {
    for (const char* key : {"block", "extension", "aa_half"}) process.erase(key);
  }
  baselines::write_atomically(folder.path() / "run.json", older.dump());
  const RunRecord record = read_run_record(folder.path());
  EXPECT_EQ(record.session, "");
  EXPECT_EQ(record.identified, "");
  EXPECT_FALSE(record.aa);
  EXPECT_EQ(record.processes[1].block, 0);
  EXPECT_FALSE(record.processes[1].extension);
}

TEST(RunRecord, ReadsFieldsByTheNamesThatTheyHadBefore) {
  const baselines::ScratchFolder folder;
  RunRecord written = example();
  written.processes[0].relative_deviation = 0.5;
  nlohmann::json older = run_record_json(written);
  const auto rename = [](nlohmann::json& object, const char* now, const char* before) {
    if (!object.contains(now)) return;
    object[before] = object[now];
    object.erase(now);
  };
  for (auto& process : older["processes"]) {
    rename(process, "relative_deviation", "odd");
    rename(process, "aa_half", "aa_arm");
  }
  rename(older, "processes", "invocations");
  rename(older, "planned_processes", "planned_invocations");
  baselines::write_atomically(folder.path() / "run.json", older.dump());
  EXPECT_EQ(run_record_json(read_run_record(folder.path())), run_record_json(written));
}

TEST(RunRecord, TakesOutputThatIsNotUtf8) {
  const baselines::ScratchFolder folder;
  RunRecord record = example();
  record.processes[1].failure = "said \xff";
  write_run_record(folder.path(), record);
  EXPECT_EQ(read_run_record(folder.path()).processes[1].failure, "said \xef\xbf\xbd");
}

TEST(RunRecord, NamesTheFileAndFieldThatIsWrong) {
  const baselines::ScratchFolder folder;
  const auto problem_of = [&](const std::string& text) -> std::string {
    baselines::write_atomically(folder.path() / "run.json", text);
    try {
      read_run_record(folder.path());
    } catch (const baselines::InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  nlohmann::json without_suite = run_record_json(example());
  without_suite.erase("suite");
  EXPECT_NE(problem_of(without_suite.dump()).find("suite"), std::string::npos);
  nlohmann::json wrong_block = run_record_json(example());
  wrong_block["processes"][1]["block"] = "second";
  EXPECT_NE(problem_of(wrong_block.dump()).find("run.json: processes[1].block: must be"),
            std::string::npos);
  nlohmann::json wrong_aa = run_record_json(example());
  wrong_aa["aa"]["comparisons_with_alarm"] = 13;
  EXPECT_NE(problem_of(wrong_aa.dump()).find("aa.comparisons_with_alarm"), std::string::npos);
  EXPECT_NE(problem_of("{").find("run.json"), std::string::npos);
  EXPECT_NE(problem_of(R"({"schema_version": 99})").find("schema_version"), std::string::npos);
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
