#include "baselines/history/history.h"

#include "baselines/history/night_json.h"
#include "ci/commands/reading/command_test.h"

namespace fusegate::ci {
namespace {

class HistoryCommandTest : public CommandTest<HistoryRequest, history_command> {
 protected:
  HistoryCommandTest() {
    request_.database = folder_.path() / "kept" / "history.db";
    request_.checkout = folder_.path();
  }

  std::string run_on(const std::string& date, double factor = 1) {
    FakeRunFile file = slowed(factor);
    file.date = date + "T02:53:32+00:00";
    return write_run(folder_, "run-" + date, file);
  }
  std::string after(const std::string& action, const std::vector<std::string>& names = {}) {
    request_.action = action;
    request_.names = names;
    EXPECT_EQ(run(), kNoRegression);
    return out_.str();
  }
  std::string problem_of(const std::string& action, const std::vector<std::string>& names = {}) {
    request_.action = action;
    request_.names = names;
    return problem();
  }
  std::vector<std::string> sessions() const {
    std::vector<std::string> sessions;
    for (const auto& night :
         baselines::History(request_.database, baselines::DatabaseUse::kRead).nights()) {
      sessions.push_back(night.session.substr(0, 8));
    }
    return sessions;
  }
};

TEST_F(HistoryCommandTest, AddsNightsOnceAndInOrder) {
  const std::string first = run_on("2026-11-20"), second = run_on("2026-11-21");
  EXPECT_THAT(after("add", {second, first}),
              AllOf(HasSubstr("added 20261120T025332Z-smoke"),
                    HasSubstr(": 2 benchmarks, 2 measured\n"), Not(HasSubstr("set back"))));
  EXPECT_THAT(after("add", {first}), HasSubstr(" is there already\n"));
  EXPECT_EQ(sessions(), (std::vector<std::string>{"20261120", "20261121"}));
}

TEST_F(HistoryCommandTest, SaysThatAClockWasSetBack) {
  after("add", {run_on("2026-11-21")});
  EXPECT_THAT(after("add", {run_on("2026-11-20")}),
              AllOf(HasSubstr("note: 20261120T025332Z-smoke"),
                    HasSubstr("was measured before 20261121"), HasSubstr("was a clock set back?")));
  EXPECT_EQ(sessions(), (std::vector<std::string>{"20261121", "20261120"}));
}

TEST_F(HistoryCommandTest, KeepsARunWithoutACommitAndSaysSo) {
  const std::string folder = run_on("2026-11-21");
  for (const auto& entry : fs::directory_iterator(folder)) {
    nlohmann::json file = json_in(entry.path());
    file["context"]["fusegate"]["provenance"].erase("commit");
    folder_.write(fs::relative(entry.path(), folder_.path()).string(), file.dump());
  }
  EXPECT_THAT(after("add", {folder}),
              HasSubstr("names no commit; a change that it shows has none"));
  EXPECT_EQ(sessions().size(), 1u);
}

TEST_F(HistoryCommandTest, SaysWhereChangesWereNotCommitted) {
  const std::string folder = write_run(folder_, "run", {.dirty = true});
  EXPECT_THAT(after("add", {folder}), HasSubstr("has uncommitted changes, which its commit"));
}

TEST_F(HistoryCommandTest, ExportedNightsAreImportedAsTheyWere) {
  after("add", {run_on("2026-11-21")});
  after("add", {run_on("2026-11-20", 1.1)});
  const auto exported = [this] {
    std::ostringstream out;
    Console console{out, err_};
    export_command({.format = "nights", .database = request_.database}, console);
    return out.str();
  };
  const std::string nights = exported();
  EXPECT_EQ(std::count(nights.begin(), nights.end(), '\n'), 2);
  request_.database = folder_.path() / "other.db";
  after("import", {folder_.write("nights.jsonl", nights).string()});
  EXPECT_EQ(exported(), nights);
}

TEST_F(HistoryCommandTest, ImportsBaselinesAndPassesOverWhatIsNone) {
  run_on("2026-11-21");
  accept(folder_.path() / "run-2026-11-21", folder_.path() / "store");
  folder_.write("store/nvidia-h200/smoke.calibration.json", R"({"fusegate_calibration": 1})");
  const std::string store = (folder_.path() / "store" / "nvidia-h200").string();
  const std::vector<std::string> files{store + "/smoke.json", store + "/smoke.calibration.json"};
  EXPECT_THAT(after("import", files),
              AllOf(HasSubstr("added 20261121"), HasSubstr("passed over, as it is a calibration")));
  EXPECT_THAT(after("add", {folder_.path() / "run-2026-11-21"}), HasSubstr("is there already"))
      << "the baseline is that run";
  EXPECT_THAT(problem_of("add", {files.back()}), HasSubstr("is a calibration, and no night"));
}

TEST_F(HistoryCommandTest, ShowsABenchmarksNights) {
  after("add", {run_on("2026-11-20"), run_on("2026-11-21", 1.1)});
  EXPECT_THAT(after("show", {kFused}),
              AllOf(StartsWith(std::string(kFused) + ", 2 nights\n"), HasSubstr("2026-11-20"),
                    HasSubstr("+10.0"), HasSubstr("|              o|")));
}

TEST_F(HistoryCommandTest, NothingIsAddedWhereSomethingCannotBeRead) {
  const std::string good = run_on("2026-11-21");
  EXPECT_THAT(problem_of("add", {good, (folder_.path() / "missing").string()}),
              HasSubstr("missing: "));
  EXPECT_FALSE(fs::exists(request_.database));
}

TEST_F(HistoryCommandTest, NamesWhatIsWrong) {
  EXPECT_THAT(problem_of("show", {"a"}),
              HasSubstr("a history is made by: fusegate history add RUN"));
  EXPECT_EQ(problem_of("add"), "history add: name a run");
  EXPECT_EQ(problem_of("show"), "history show: name a benchmark");
  after("add", {run_on("2026-11-21")});
  EXPECT_THAT(problem_of("show", {"linear"}), HasSubstr(std::string("near: ") + kLinear));
  EXPECT_THAT(problem_of("show", {"xyzzy"}), EndsWith("no night has \"xyzzy\""));
}

}  // namespace
}  // namespace fusegate::ci
