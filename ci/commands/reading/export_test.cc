#include "baselines/history/history.h"
#include "ci/commands/reading/command_test.h"

namespace fusegate::ci {
namespace {

class ExportCommandTest : public CommandTest<ExportRequest, export_command> {
 protected:
  std::string run_on(const std::string& date, double factor = 1) {
    FakeRunFile file = slowed(factor);
    file.date = date + "T02:53:32+00:00";
    return write_run(folder_, "run-" + date, file);
  }
  std::string exported(const std::string& format, const std::vector<fs::path>& paths) {
    request_.format = format;
    request_.paths = paths;
    EXPECT_EQ(run(), kNoRegression);
    return out_.str();
  }
  nlohmann::json json_of(const std::string& format, const std::vector<fs::path>& paths) {
    return nlohmann::json::parse(exported(format, paths));
  }
  fs::path history(const std::vector<std::string>& runs) {
    const fs::path database = folder_.path() / "history.db";
    std::ostringstream out;
    Console console{out, err_};
    history_command({.action = "add", .names = runs, .database = database}, console);
    return database;
  }
};

TEST_F(ExportCommandTest, WritesARunInEachFormat) {
  const fs::path run = run_on("2026-11-21");
  const auto latency = json_of("bencher", {run})[kFused]["latency"];
  EXPECT_NEAR(latency["value"].get<double>(), 20000, 10);
  EXPECT_LT(latency["lower_value"], latency["value"]);
  EXPECT_EQ(json_of("lnt", {run})["run"]["llvm_project_revision"], "20261121025332");
  EXPECT_EQ(json_of("github-action-benchmark", {run})[0]["name"], kFused);
  EXPECT_THAT(exported("openmetrics", {run}), HasSubstr("fusegate_time_seconds{benchmark=\"geglu"));
  EXPECT_EQ(json_of("nights", {run})["fusegate_night"], 1);
  EXPECT_EQ(err_.str(), "");
}

TEST_F(ExportCommandTest, RunFilesTogetherAreOneRun) {
  const fs::path run = run_on("2026-11-21");
  const auto results = json_of("github-action-benchmark", {run / "1.json", run / "2.json"});
  EXPECT_THAT(results[0]["extra"].get<std::string>(), StartsWith("processes: 2\n"));
}

TEST_F(ExportCommandTest, OfAHistoryTheLastNightOrAll) {
  const fs::path database = history({run_on("2026-11-20"), run_on("2026-11-21", 1.5)});
  const auto bencher = json_of("bencher", {database});
  EXPECT_NEAR(bencher[kFused]["latency"]["value"].get<double>(), 30000, 15);
  EXPECT_THAT(err_.str(), AllOf(StartsWith("exporting 20261121T"), EndsWith("of 2 nights\n")));
  request_.database = database;
  const std::string metrics = exported("openmetrics", {});
  EXPECT_THAT(metrics, AllOf(HasSubstr(" 1795143212\n"), HasSubstr(" 1795229612\n")));
}

TEST_F(ExportCommandTest, WritesAFile) {
  request_.out = folder_.path() / "new" / "bmf.json";
  EXPECT_EQ(exported("bencher", {run_on("2026-11-21")}), "");
  EXPECT_TRUE(json_in(*request_.out).contains(kFused));
}

TEST_F(ExportCommandTest, NamesWhatIsWrong) {
  const auto problem_of = [this](const fs::path& path) {
    request_.paths = {path};
    request_.format = "lnt";
    return problem();
  };
  EXPECT_THAT(problem_of("/nonexistent"), HasSubstr("/nonexistent: "));
  const fs::path empty = folder_.path() / "empty.db";
  baselines::History(empty, baselines::DatabaseUse::kWrite);
  EXPECT_EQ(problem_of(empty), empty.string() + ": has no night");
  EXPECT_THAT(problem_of(folder_.write("calibration.json", R"({"fusegate_calibration": 1})")),
              EndsWith("is a calibration, and no night"));
  EXPECT_THAT(problem_of(folder_.write("other.json", "{}")), HasSubstr("other.json: benchmarks: "));
  const fs::path failed =
      write_run(folder_, "failed", {.times = {}, .failures = {{"a", "no memory"}}});
  EXPECT_THAT(problem_of(failed), EndsWith(": has no time of any benchmark"));
}

}  // namespace
}  // namespace fusegate::ci
