#include "ci/commands/measuring/measuring_test.h"
#include "ci/gate/aa_history.h"

namespace fusegate::ci {
namespace {

class DuetCommandTest : public SideBySideTest<DuetRequest, duet_command> {
 protected:
  DuetCommandTest() { base_is({}); }

  void base_is(const FakeBench& bench) {
    request_.base = write_bench(folder_, "base-bench", bench);
  }
  std::vector<ProcessRecord> processes(const std::string& program) {
    return record(program).processes;
  }
};

TEST_F(DuetCommandTest, PassesWhatIsAsItWas) {
  EXPECT_EQ(run(), kNoRegression);
  for (const char* program : {"base", "base_again", "head"}) {
    EXPECT_EQ(processes(program).size(), 5u) << program;
    EXPECT_EQ(record(program).session, record("head").session);
  }
  EXPECT_THAT(out_.str(), HasSubstr("\nNo regression in 2 benchmarks"));
  EXPECT_EQ(json()["exit_code"], 0);
  EXPECT_EQ(json()["verdicts"][0]["baseline_processes"], 10);
  EXPECT_THAT(markdown(), HasSubstr("No regression"));
}

// As where the head adds an operation to program and suite.
TEST_F(DuetCommandTest, EachProgramTakesItsOwnSuiteWhereTheBaseRefusesTheHeads) {
  const std::string of_base = folder_.write("old/suites/smoke.json", R"({"sweeps": []})").string();
  const std::string of_head = folder_.write("new/suites/smoke.json", R"({"sweeps": [1]})").string();
  const std::string report = "echo \"[$suite]\"";
  request_.base = write_bench(
      folder_, "old/bench",
      {.more = report,
       .before = "case $* in *new/suites*) echo 'unknown operation' >&2; exit 2 ;; esac"});
  FakeRunFile more;
  more.times["softmax/online/fp32/rows:8"] = 30000;
  request_.head = write_bench(folder_, "new/bench", {.file = more, .phase = 1, .more = report});
  for (const std::string& suite : {std::string("smoke"), of_head}) {
    request_.measuring.suite = suite;
    request_.out = folder_.path() / fmt::format("runs-{}", suite.size());
    EXPECT_EQ(run(), kNoRegression);
    EXPECT_EQ(read_file(request_.out / "base" / "1.log"), "[" + of_base + "]\n");
    EXPECT_EQ(read_file(request_.out / "head" / "1.log"), "[" + of_head + "]\n");
    EXPECT_EQ(json()["counts"]["new"], 1);
    EXPECT_EQ(json()["counts"]["unchanged"], 2);
    EXPECT_THAT(json()["notes"].dump(), HasSubstr("each measures its own"));
  }
  // The other way round, what the candidate's suite no longer has is missing.
  std::swap(request_.base, request_.head);
  request_.measuring.suite = "smoke";
  request_.out = folder_.path() / "fewer";
  run();
  EXPECT_EQ(json()["counts"]["missing"], 1);
}

TEST_F(DuetCommandTest, ShowsApartWhatIsAcceptedAndRefusesABrokenListBeforeMeasuring) {
  request_.head = head({.file = slowed(), .phase = 1});
  request_.judging.accepted = folder_.write(
      "accepted.json",
      R"([{"pattern": "^geglu/", "effect": [0.1, 0.3], "reason": "exact", "who": "ann",
                            "until": "2999-12-31"}])");
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_THAT(markdown(), HasSubstr("### Accepted slowdowns"));
  folder_.write("accepted.json", "[{}]");
  request_.out = folder_.path() / "none";
  EXPECT_THAT(problem(), HasSubstr("accepted.json: [0].pattern: is missing"));
  EXPECT_FALSE(fs::exists(request_.out / "head" / "1.json"));
}

TEST_F(DuetCommandTest, FailsWhatGotSlowerAfterConfirmingIt) {
  request_.head = head({.file = slowed(), .phase = 1});
  EXPECT_EQ(run(), kRegression);
  EXPECT_EQ(json()["counts"]["regression"], 1);
  EXPECT_EQ(processes("base_again").size(), 5u);
  for (const char* program : {"base", "head"}) {
    ASSERT_EQ(processes(program).size(), 10u) << program;
    for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(processes(program)[i].extension, i >= 5);
    EXPECT_EQ(processes(program).back().block, 10);
  }
  const std::string calls = read_file(folder_.path() / "calls");
  EXPECT_THAT(calls, HasSubstr(fmt::format("head-bench 6 ^({})(/", kFused)));
  EXPECT_THAT(calls, Not(HasSubstr("^(linear")));
}

TEST_F(DuetCommandTest, DoesNotFailWhatItCannotConfirm) {
  request_.head = head({.file = slowed(), .phase = 1, .later = FakeRunFile()});
  EXPECT_EQ(run(), kCouldNotJudge) << "5 of 15 processes were slower";
  EXPECT_EQ(json()["counts"]["regression"], 0);
  EXPECT_GE(processes("head").size(), 10u);
}

TEST_F(DuetCommandTest, ReportsTheAaComparisonAndCountsFalseAlarmsOverAll) {
  run();
  EXPECT_THAT(out_.str(), HasSubstr("A/A        2 benchmarks, none called; so far 0 of 1 "
                                    "comparison raised an alarm (95 % upper bound 95 %); smallest "
                                    "detectable effect "));
  EXPECT_THAT(markdown(), HasSubstr("A/A: 2 benchmarks, none called"));
  EXPECT_EQ(json()["aa"]["processes_a_side"], 5);
  EXPECT_TRUE(json()["smallest_detectable"]["median"].is_number());
  // A program that is slower where it stands in for itself.
  const auto slower = folder_.write("slower", run_file_text(slowed())).string();
  base_is({.more = "case $out in */base_again/*) leave '" + slower + "' \"$out\" ;; esac"});
  request_.out = folder_.path() / "second";
  run();
  EXPECT_EQ(json()["aa"]["called"], nlohmann::json({kFused}));
  EXPECT_THAT(out_.str(), HasSubstr("1 called though nothing changed (the first is " +
                                    std::string(kFused) + "); so far 1 of 2 comparisons"));
  const auto history = read_aa_history(*request_.aa_history);
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(history[0]["device"], "NVIDIA H200");
  EXPECT_EQ(history[0]["suite"], "smoke");
  EXPECT_EQ(history[0]["commit"], "0123456789abcdef");
  EXPECT_EQ(history[1]["false_alarms"], 1);
}

TEST_F(DuetCommandTest, GoesWithoutAnAaComparison) {
  request_.aa = false;
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_FALSE(fs::exists(request_.out / "base_again"));
  EXPECT_FALSE(fs::exists(*request_.aa_history));
  EXPECT_TRUE(json()["aa"].is_null());
  EXPECT_THAT(out_.str(), Not(HasSubstr("A/A")));
}

TEST_F(DuetCommandTest, ABudgetOfGpuTimeNamesWhatItLeavesOut) {
  FakeRunFile file = thirty_identified();
  base_is({.file = file});
  for (auto& [name, code] : file.codes) code = name < "a11" ? "1e" : "0f";
  request_.head = head({.file = file, .phase = 1});
  request_.measuring.plans_budget = true;
  // Of which judging has a second; enough for the two rounds, where a first one is expected to take
  // longer than that.
  request_.measuring.budget_s = 1.5;
  EXPECT_EQ(run(), kCouldNotJudge);
  EXPECT_FALSE(fs::exists(request_.out / "base_again")) << "it goes into what is judged";
  EXPECT_THAT(json()["headline"].get<std::string>(), HasSubstr("not ruled out in 9 of 30"));
  EXPECT_THAT(json()["notes"].dump(), HasSubstr("Budget of 1.5 s: measuring 1 of 10 benchmarks"));
  EXPECT_THAT(json()["notes"].dump(), HasSubstr("too short for a verdict"));
  EXPECT_THAT(json()["left_out"].dump(), HasSubstr("outside of the budget of 1.5 s"));
  EXPECT_THAT(json()["verdicts"].dump(), HasSubstr("not measured: outside of the budget"));
  EXPECT_EQ(json()["counts"]["invalid"], 0);
  request_.measuring.budget_s = 600;
  request_.out = folder_.path() / "long";
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_EQ(json()["counts"]["unchanged"], 10);
  EXPECT_EQ(json()["left_out"].size(), 0u);
}

TEST_F(DuetCommandTest, RefusesAnAaHistoryThatIsNoneBeforeItMeasures) {
  folder_.write("aa.jsonl", "{}\n");
  EXPECT_THAT(problem(), HasSubstr("aa.jsonl: line 1: when: is missing"));
  EXPECT_EQ(json()["exit_code"], 2);
  EXPECT_FALSE(fs::exists(request_.out));
}

TEST_F(DuetCommandTest, DoesNotPassWhereAProcessDidNotEndWell) {
  request_.head = head({.phase = 1, .more = "[ $process = 2 ] && kill -ABRT $$; exit 0"});
  EXPECT_EQ(run(), kCouldNotJudge);
  EXPECT_THAT(out_.str(), HasSubstr("No regression"));
  EXPECT_THAT(err_.str(), HasSubstr("head/2.json: ended by signal 6"));
}

TEST_F(DuetCommandTest, SaysWhichProgramCannotRun) {
  baselines::write_atomically(*request_.files.json, R"({"exit_code": 0})");
  request_.head = (folder_.path() / "missing").string();
  EXPECT_THAT(problem(), AllOf(HasSubstr("missing"), HasSubstr("cannot be started")));
  EXPECT_EQ(json()["exit_code"], 2);
  EXPECT_THAT(markdown(), HasSubstr("Could not judge"));
}

TEST_F(DuetCommandTest, LeavesWhatWasMeasuredWhenInterrupted) {
  request_.head = head({.more = std::string(kInterruptedInTheSecond) + "exit 0"});
  EXPECT_EQ(run(), kCouldNotJudge);
  EXPECT_EQ(json()["exit_code"], 2);
  EXPECT_THAT(json()["headline"].get<std::string>(), HasSubstr("interrupted"));
  EXPECT_TRUE(fs::exists(request_.out / "head" / "1.json"));
  EXPECT_FALSE(record("base").finished);
  EXPECT_FALSE(fs::exists(*request_.aa_history));
}

TEST_F(DuetCommandTest, LetsTheVerdictStandWhereNoPageCanBeWritten) {
  request_.files.html = folder_.write("file", "") / "r.html";
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_THAT(err_.str(), HasSubstr("no HTML report, which does not change the verdict: "));
}

// Of thirty benchmarks.
class IdentifiedDuetTest : public DuetCommandTest {
 protected:
  IdentifiedDuetTest() {
    base_is({.file = thirty_identified()});
    changed_.codes["a07"] = "1e";
  }

  FakeRunFile changed_ = thirty_identified();
};

TEST_F(IdentifiedDuetTest, DoesNotMeasureIdenticalCode) {
  request_.head = head({.file = thirty_identified()});
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_THAT(out_.str(), HasSubstr("30 of 30 benchmarks run identical code: nothing to measure"));
  EXPECT_FALSE(fs::exists(folder_.path() / "calls"));
  EXPECT_EQ(json()["counts"]["identical"], 30);
  EXPECT_TRUE(json()["verdicts"][0]["candidate_ns"].is_null());
  EXPECT_THAT(err_.str(), Not(HasSubstr("A/A")));
}

// The device runs identical code, but the host may not.
TEST_F(IdentifiedDuetTest, MeasuresIdenticalCodeWhereHostTimesAreToFail) {
  FakeRunFile file = thirty_identified();
  for (const auto& [name, time_ns] : file.times) file.host_ns[name] = 9100;
  base_is({.file = file});
  file.host_ns["a07"] = 29200;
  request_.head = head({.file = file, .phase = 1});
  request_.judging.fail_on_host = true;
  EXPECT_EQ(run(), kRegression);
  EXPECT_EQ(json()["counts"]["identical"], 30);
  EXPECT_EQ(json()["host_times"]["compared"], 30);
  ASSERT_EQ(json()["host_times"]["changes"].size(), 1u);
  EXPECT_EQ(json()["host_times"]["changes"][0]["benchmark"], "a07");
}

TEST_F(IdentifiedDuetTest, WhatIsNotMeasuredIsIdenticalAndWhatDiffersIsJudged) {
  changed_.times["a07"] *= 1.05;
  request_.head = head({.file = changed_, .phase = 1});
  request_.processes.minimum = 3;
  EXPECT_EQ(run(), kRegression);
  EXPECT_EQ(json()["counts"]["identical"], 29);
  EXPECT_EQ(json()["counts"]["regression"], 1);
  int unmeasured = 0;
  const nlohmann::json gate = json();
  for (const auto& verdict : gate["verdicts"]) unmeasured += verdict["candidate_ns"].is_null();
  EXPECT_EQ(unmeasured, 23) << "all but six controls";
}

TEST_F(IdentifiedDuetTest, FourProcessesMeasureFewDifferences) {
  request_.head = head({.file = changed_, .phase = 1});
  run();
  EXPECT_EQ(processes("head").size(), 4u);
  EXPECT_EQ(processes("base").size(), 4u);
  EXPECT_EQ(record("head").planned_processes, 4);
  request_.out = folder_.path() / "five";
  request_.processes.is_given = true;
  run();
  EXPECT_EQ(processes("head").size(), 5u);
}

TEST_F(IdentifiedDuetTest, TheHeadKeepsTheChoicesThatTheBaseWasFoundToMakeAndEachThenItsOwn) {
  const std::string note = "echo \"[$FUSEGATE_KEEP_CHOICES $FUSEGATE_KEEP_STRICTLY]\" >> '" +
                           (folder_.path() / "kept").string() + "'\n";
  base_is({.file = thirty_identified(), .before = note});
  request_.head = head({.file = changed_, .phase = 1, .before = note});
  request_.aa = false;
  request_.processes.minimum = request_.processes.maximum.emplace(1);
  run();
  const auto kept_in = [&](const std::string& program) {
    return "[" + (request_.out / program / "identities.json").string();
  };
  // Nothing is stored that the base could keep.
  const std::string of_base = "[ ]\n" + kept_in("base") + " ]\n";
  const std::string base = kept_in("base") + " true]\n", head = kept_in("head") + " true]\n";
  EXPECT_THAT(read_file(folder_.path() / "kept"),
              AnyOf(of_base + base + head, of_base + head + base));
  fs::remove(folder_.path() / "kept");
  request_.out = folder_.path() / "fresh";
  request_.measuring.fresh_choices = true;
  run();
  EXPECT_THAT(read_file(folder_.path() / "kept"), Not(HasSubstr("identities.json")));
}

TEST_F(DuetCommandTest, ShardsAreMergedAndJudgedAsOneSuite) {
  duet().base = write_bench(folder_, "base-bench", {});
  duet().head = head({.file = slowed(), .phase = 1});
  duet().measuring.suite.clear();
  const std::string plan = R"({"fusegate_plan": 1, "suite": "smoke", "controls": [], "shards": [)";
  duet().measuring.asked_shard.plan = folder_.write(
      "plan.json", fmt::format(R"({}{{"benchmarks": ["{}"]}}, {{"benchmarks": ["{}"]}}]}})", plan,
                               kFused, kLinear));
  std::vector<fs::path> shards;
  for (const int number : {1, 2}) {
    duet().out = folder_.path() / fmt::format("shard-{}", number);
    duet().measuring.asked_shard.number = number;
    run();
    EXPECT_EQ(record("head").shard->number, number);
    EXPECT_EQ(json()["verdicts"].size(), 1u) << "its own benchmark alone";
    shards.push_back(duet().out);
  }
  Console console{out_, err_};
  merge_command({shards, folder_.path() / "merged"}, console);
  GateRequest gate;
  gate.files.json = folder_.path() / "merged.json";
  gate.judging.baseline = {folder_.path() / "merged" / "base"};
  gate.judging.candidate = {folder_.path() / "merged" / "head"};
  EXPECT_EQ(gate_command(gate, console), kRegression);
  EXPECT_EQ(json_in(*gate.files.json)["verdicts"].size(), 2u);
}

}  // namespace
}  // namespace fusegate::ci
