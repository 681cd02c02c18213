#include "ci/run/night_source.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/history/night_json.h"
#include "baselines/io/error.h"
#include "baselines/io/scratch_folder.h"
#include "ci/processes/run_record.h"
#include "tests/fakes/fake_program.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using baselines::Night;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using tests::FakeRunFile;

class NightSourceTest : public ::testing::Test {
 protected:
  NightSourceTest() : history_(folder_.path() / "history.db", baselines::DatabaseUse::kWrite) {}

  // A run folder of that session.
  fs::path run(const std::string& name, const std::string& session, const FakeRunFile& file = {}) {
    const fs::path folder = tests::write_run(folder_, name, file);
    RunRecord record;
    record.suite = "smoke";
    record.program = (folder_.path() / "bench").string();
    record.session = session;
    record.started = "2026-11-21T02:53:32+00:00";
    record.finished = true;
    write_run_record(folder, record);
    return folder;
  }
  Night night_of(const fs::path& path) const {
    return read_nights(path, folder_.path()).nights.at(0).night(&history_);
  }

  baselines::ScratchFolder folder_;
  baselines::History history_;
};

TEST_F(NightSourceTest, TakesTheReplayThatWasMeasuredBesideIt) {
  run("today/base", "one");
  run("today/base_again", "one");
  run("today/head", "one", {.date = "2026-11-21T02:53:40+00:00"});
  for (const char* path : {"today", "today/", "today/head"}) {
    const Night night = night_of(folder_.path() / path);
    EXPECT_EQ(night.unix_s, 1795229620) << path;
    EXPECT_TRUE(night.benchmarks.at(0).over_replay) << path;
  }
  EXPECT_FALSE(night_of(folder_.path() / "today" / "base").benchmarks.at(0).over_replay);
  run("today/base", "another");
  EXPECT_FALSE(night_of(folder_.path() / "today").benchmarks.at(0).over_replay);
}

TEST_F(NightSourceTest, OfAJobsFirstRunsItIsTheSecond) {
  run("job/first", "one");
  run("job/second", "one", {.date = "2026-11-21T02:53:40+00:00"});
  EXPECT_EQ(night_of(folder_.path() / "job").unix_s, 1795229620);
}

TEST_F(NightSourceTest, HashesTheProgramThatWasNotChangedSince) {
  const fs::path folder = run("run", "one");
  const fs::path program = folder_.write("bench", "first");
  EXPECT_EQ(night_of(folder).program, "") << "written after the run started";
  const std::chrono::sys_seconds early = std::chrono::sys_days(std::chrono::year(2026) / 11 / 20);
  fs::last_write_time(program, std::chrono::file_clock::from_sys(early));
  EXPECT_THAT(night_of(folder).program, SizeIs(16));
}

TEST_F(NightSourceTest, ExportedNightsKeepTheirOrder) {
  Night late{.session = "late", .unix_s = 2000}, early{.session = "early", .unix_s = 1000};
  const fs::path file = folder_.write(
      "nights.jsonl", baselines::night_line(late) + "\n\n" + baselines::night_line(early) + "\n");
  const auto nights = read_nights(file, folder_.path()).nights;
  ASSERT_THAT(nights, SizeIs(2));
  EXPECT_EQ(nights[0].night(&history_).session, "late");
  EXPECT_EQ(nights[1].night(&history_).session, "early");
  EXPECT_EQ(nights[1].night(&history_).unix_s, 1000);
  EXPECT_EQ(nights[1].measured_s, 2000);
  EXPECT_EQ(nights[1].source, file.string() + ":3");
}

TEST_F(NightSourceTest, PassesOverWhatAStoreHasBesides) {
  const fs::path store = fs::path(FUSEGATE_STORE);
  const auto passed = [&](const char* path) {
    return read_nights(store / path, folder_.path()).passed_over;
  };
  EXPECT_EQ(passed("nvidia-h200/pr.calibration.json"), "a calibration");
  EXPECT_EQ(passed("published/nvidia-a100-sxm4-80gb.json"), "figures of a publication");
  EXPECT_EQ(passed("nvidia-h200/pr.json"), "");
}

TEST_F(NightSourceTest, NamesWhatCannotBeRead) {
  const auto problem = [&](const fs::path& path) -> std::string {
    try {
      read_nights(path, folder_.path());
    } catch (const baselines::InputError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_THAT(problem(folder_.path() / "missing"), HasSubstr("missing: "));
  EXPECT_THAT(problem(folder_.write("bad.jsonl", "{\"fusegate_night\": 1}\n")),
              HasSubstr("bad.jsonl:1: session: "));
}

}  // namespace
}  // namespace fusegate::ci
