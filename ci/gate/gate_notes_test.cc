#include "ci/gate/gate_notes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/record/test_run.h"
#include "ci/gate/gate_headline.h"

namespace fusegate::ci {
namespace {

using baselines::BenchmarkSeries;
using baselines::GateOptions;
using baselines::GateResult;
using baselines::kQuiet;
using baselines::Run;
using baselines::side_by_side;
using baselines::slowed;
using baselines::test_run;
using baselines::test_series;
using baselines::Warning;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> notes(const Run& baseline, const Run& candidate) {
  return gate_notes(
      {.candidate = candidate, .baseline = {{baseline}}, .result = gate(baseline, candidate, {})});
}

TEST(GateNotes, NameWhatIsNotJudgedAndOnceWhereItIsSoOnBothSides) {
  baselines::Run base = test_run({test_series("a", kQuiet)});
  baselines::Run head = test_run({test_series("a", slowed(0.05))});
  const std::string text = "1 benchmark was skipped: b (too small)";
  head.skipped = {{"b", "too small"}};
  EXPECT_THAT(notes(base, head), ElementsAre("Candidate: " + text));
  base.skipped = head.skipped;
  EXPECT_THAT(notes(base, head), ElementsAre("Candidate: " + text));
  head.skipped.clear();
  head.left_out = {{"b", "3 of 5 processes have it"}};
  EXPECT_THAT(notes(base, head),
              ElementsAre("Baseline: " + text,
                          "Candidate: 1 benchmark is not judged, or not from all processes: b (3 "
                          "of 5 processes have it)"));
}

TEST(GateNotes, NameOtherHostsAndContexts) {
  baselines::Run base = test_run({test_series("a", kQuiet)});
  baselines::Run head = test_run({test_series("a", slowed(0.05))});
  base.provenance.host = "runner-a";
  head.provenance.host = "runner-b";
  base.provenance.context = {{"gpu", "H100"}, {"same", 1}};
  head.provenance.context = {{"gpu", "A100"}, {"same", 1}};
  EXPECT_THAT(notes(base, head),
              ElementsAre(HasSubstr("on host runner-a, the candidate on runner-b"),
                          HasSubstr("context differs in gpu (baseline H100, candidate A100).")));
}

baselines::HostChange host_change(const std::string& name, baselines::HostVerdict verdict,
                                  double baseline_ns, double candidate_ns) {
  return {.benchmark = name,
          .verdict = verdict,
          .effect = candidate_ns / baseline_ns - 1,
          .baseline_ns = baseline_ns,
          .candidate_ns = candidate_ns};
}

class HostWords : public testing::Test {
 protected:
  HostWords() { facts_.baseline.emplace(); }
  std::string headline() {
    facts_.result.causes.insert(facts_.result.causes.begin(), baselines::GateCause::kNoRegression);
    facts_.result.verdicts.resize(2);
    return gate_headline(facts_);
  }

  GateFacts facts_;
  baselines::HostTimes& host_ = facts_.result.host;
};

TEST_F(HostWords, NameThreeAndCountABenchmarkOnce) {
  using baselines::HostVerdict;
  for (const char* name : {"a", "b", "c"}) {
    host_.changes.push_back(host_change(name, HostVerdict::kSlower, 9100, 29200));
  }
  host_.changes[1].launch = baselines::HostLaunch::kGraph;
  host_.changes.push_back(host_change("b", HostVerdict::kSlower, 5000, 10000));
  host_.changes.push_back(host_change("d", HostVerdict::kFaster, 10000, 5000));
  EXPECT_THAT(gate_notes(facts_),
              ElementsAre("Host time: 3 benchmarks take the host longer to launch: a 9.100 us -> "
                          "29.20 us (+220.88 %); b as a graph 9.100 us -> 29.20 us (+220.88 %); c "
                          "9.100 us -> 29.20 us (+220.88 %) and 1 more.",
                          "Host time: 1 benchmark takes the host less time to launch: d 10.00 us "
                          "-> 5.000 us (-50.00 %)."));
  EXPECT_THAT(headline(), testing::EndsWith(". 3 benchmarks take the host longer to launch."));
}

TEST_F(HostWords, SayWhyWhatLooksLongerIsNotReported) {
  using baselines::HostObstacle;
  using baselines::HostVerdict;
  for (const HostObstacle obstacle : {HostObstacle::kOtherHost, HostObstacle::kOneValue,
                                      HostObstacle::kFewProcesses, HostObstacle::kSuiteMoved}) {
    host_.changes.push_back(host_change("a", HostVerdict::kLooksSlower, 5000, 10000));
    host_.changes.back().obstacle = obstacle;
  }
  const std::string looks =
      "Host time: 1 benchmark seems to take the host longer to launch: a 5.000 us -> 10.00 us "
      "(+100.00 %). It is not reported as slower: ";
  EXPECT_THAT(
      gate_notes(facts_),
      ElementsAre(looks + "it was measured on another host, which may be the cause; `fusegate "
                          "replay` measures both on one.",
                  looks + "a side has a single value, of one process or of an older baseline; "
                          "measure at least two processes on each side.",
                  looks + "a side has fewer than 4 processes; measure at least 4.",
                  looks + "most benchmarks changed as much between the two sessions, which may be "
                          "the machine; `fusegate replay` measures both in one."));
  EXPECT_THAT(headline(), testing::Not(HasSubstr("host")));
}

TEST_F(HostWords, OfAnotherHostSayThatNothingFailsWhereItWasToFail) {
  host_.other_host = true;
  EXPECT_THAT(gate_notes(facts_), IsEmpty());
  facts_.options.fail_on_host = true;
  EXPECT_THAT(gate_notes(facts_),
              ElementsAre(HasSubstr("measured on two hosts, so it fails nothing")));
}

TEST_F(HostWords, StandBeforeWhatTimeSays) {
  host_.changes = {host_change("a", baselines::HostVerdict::kSlower, 9100, 29200)};
  facts_.result.causes = {baselines::GateCause::kHostSlower};
  EXPECT_THAT(headline(),
              testing::StartsWith("1 benchmark takes the host longer to launch, the most a 9.100 "
                                  "us -> 29.20 us (+220.88 %). No regression in "));
  host_.changes.clear();
  facts_.result.causes = {baselines::GateCause::kHostUnknown};
  EXPECT_EQ(headline(),
            "Could not judge: no benchmark has a host time in both runs, so whether launching "
            "takes longer is not known.");
}

class CreepWords : public testing::Test {
 protected:
  CreepWords() {
    facts_.baseline.emplace();
    facts_.result.creep.emplace().since = "2026-10-01T00:00:00+00:00";
    for (const char* batch : {"1", "4"}) {
      baselines::Verdict& verdict = facts_.result.creep->slower.emplace_back();
      verdict.benchmark = std::string("geglu/fused/bf16/batch:") + batch;
      verdict.estimates.effect = 0.021;
      verdict.estimates.interval = {0.0205, 0.0215};
    }
  }

  GateFacts facts_;
};

TEST_F(CreepWords, PutAFamilyInPlaceOfItsRows) {
  EXPECT_THAT(gate_notes(facts_),
              ElementsAre("Since the anchor of 2026-10-01: 2 of geglu/fused/bf16 2.1 % slower."));
  facts_.result.creep->slower.pop_back();
  facts_.result.creep->other_card = true;
  EXPECT_THAT(gate_notes(facts_), ElementsAre("Since the anchor of 2026-10-01, on another card: "
                                              "geglu/fused/bf16/batch:1 2.1 % slower."));
}

TEST_F(CreepWords, SayWhyTheAnchorCannotBeCompared) {
  facts_.result.creep->differences = {{"cuda", "12", "(absent)"}, {"driver", "570", "(absent)"}};
  EXPECT_THAT(gate_notes(facts_),
              ElementsAre("The candidate cannot be compared with the anchor of 2026-10-01: cuda is "
                          "12 there and (absent) here, and 1 more differ. Replace the anchor with: "
                          "fusegate accept RUN --anchor."));
}

TEST_F(CreepWords, StandBeforeTheHeadlineAgainstTheBaseline) {
  facts_.options.max_creep = 0.02;
  facts_.result.causes = {baselines::GateCause::kNoRegression, baselines::GateCause::kCrept};
  baselines::Verdict unchanged;
  unchanged.kind = baselines::VerdictKind::kUnchanged;
  facts_.result.verdicts.resize(6, unchanged);
  EXPECT_EQ(gate_headline(facts_),
            "2 of 6 benchmarks got slower by more than 2 % since the anchor of 2026-10-01, the "
            "most geglu/fused/bf16/batch:1 by 2.10 %. Against the baseline: No regression in 6 "
            "benchmarks; slowdowns above 0.5 % are ruled out in all.");
}

TEST(StalenessNotes, NameAgeLibrariesAndBenchmarks) {
  baselines::Staleness staleness;
  staleness.accepted = "in spring";
  EXPECT_THAT(
      staleness_notes(staleness),
      ElementsAre("The baseline's age is not known: its \"when\" is \"in spring\"; expected "
                  "a date such as 2026-11-21T02:53:32+00:00."));
  staleness.accepted = "2026-10-01T00:00:00+00:00";
  EXPECT_THAT(staleness_notes(staleness), IsEmpty());
  staleness.age_days = 45.5;
  staleness.too_old = true;
  staleness.libraries = {{"cublas", "13.1", "13.2"}, {"driver", "580", "590"}};
  staleness.not_in_baseline = {"n1", "n2", "n3", "n4"};
  staleness.not_in_candidate = {"gone"};
  EXPECT_THAT(staleness_notes(staleness),
              ElementsAre("The baseline is stale: it was accepted 46 days before the candidate was "
                          "measured; the limit is 30. Re-record it.",
                          "The baseline was measured with cublas 13.1, driver 580, the candidate "
                          "with cublas 13.2, driver 590.",
                          "4 benchmarks are not in the baseline: n1, n2, n3 and 1 more.",
                          "1 benchmark is not in the candidate: gone."));
}

TEST(GateNotes, NotesThatOneRunMeasuredOthersBesides) {
  auto whole = test_run({test_series("a", kQuiet), test_series("b", kQuiet)});
  auto part = test_run({test_series("a", kQuiet)});
  EXPECT_THAT(notes(whole, part), IsEmpty()) << "no GPU";
  whole.provenance.device_uuid = part.provenance.device_uuid = "GPU-1";
  EXPECT_THAT(
      notes(whole, part),
      ElementsAre("1 benchmark is in only one of the runs, and co-measured benchmarks can change "
                  "the time of the same code. How much is not known; `fusegate replay` measures "
                  "both programs with the same benchmarks."));
  EXPECT_THAT(notes(part, whole), ElementsAre(HasSubstr("1 benchmark is in only one")));
  EXPECT_THAT(notes(whole, whole), IsEmpty());
}

TEST(GateNotes, SaysWhereOneSideHasNoCodeHashes) {
  const auto old = test_run({test_series("a", kQuiet)});
  const auto now = test_run({baselines::doing(test_series("a", kQuiet), "0f")});
  EXPECT_THAT(notes(old, now),
              ElementsAre("The baseline has no code hashes, so identical kernels cannot be "
                          "recognised. Re-record the baseline to add them."));
  EXPECT_THAT(notes(now, old), ElementsAre(HasSubstr("The candidate has no code hashes")));
  EXPECT_THAT(notes(old, old), IsEmpty());
}

TEST(GateNotes, IdenticalCodeShowsWhatCoMeasuredBenchmarksDo) {
  std::vector<BenchmarkSeries> rows;
  for (int i = 0; i < 17; ++i) {
    rows.push_back(baselines::doing(test_series(fmt::format("row{:02}", i), kQuiet), "0f"));
  }
  auto whole = test_run(rows);
  rows.pop_back();
  for (BenchmarkSeries& row : rows) {
    for (auto& summary : row.processes) summary.time_ns *= 1.002;
  }
  auto part = test_run(std::move(rows));
  part.benchmarks[0] = baselines::doing(std::move(part.benchmarks[0]), "1e");
  whole.benchmarks.push_back(baselines::doing(test_series("row99", kQuiet), "0f"));
  part.benchmarks.push_back(baselines::doing(test_series("row99", slowed(0.002)), "0f"));
  whole.provenance.device_uuid = part.provenance.device_uuid = "GPU-1";
  EXPECT_THAT(
      notes(whole, part),
      ElementsAre("16 benchmarks ran identical code; their times differ by +0.20 % to +0.20 % "
                  "(median +0.20 %), which is machine noise. The other effects are corrected for "
                  "it.",
                  testing::EndsWith("code. Unchanged kernels show how large this effect is.")));
}

Run of_processes(std::vector<double> factors) {
  std::vector<baselines::BenchmarkSeries> suite;
  for (int row = 0; row < 10; ++row) {
    suite.push_back(test_series(fmt::format("row{}", row), baselines::scaled(factors, 1000)));
  }
  baselines::Run run = test_run(std::move(suite));
  number_processes(run);
  return run;
}

TEST(GateNotes, NamesOutliersAndWhetherTheyCount) {
  EXPECT_THAT(
      notes(of_processes({1, 1, 1.05}), of_processes({1, 1, 1.101, 1})),
      ElementsAre("Baseline: process 3 is an outlier: 5.0 % slower than the others (median of "
                  "10 benchmarks); it counts, as none of fewer than 4 is left out.",
                  "Candidate: process 3 is an outlier: 10.1 % slower than the others (median of 10 "
                  "benchmarks); it is left out."));
}

TEST(GateNotes, SayOnACpuHowToFindTheCause) {
  auto baseline = side_by_side({test_series("a", kQuiet), test_series("b", kQuiet)});
  auto candidate = side_by_side({test_series("a", kQuiet), test_series("b", slowed(0.05))});
  const auto says_why = Contains(HasSubstr("`perf stat -d PROGRAM --benchmark_filter='b'`"));
  EXPECT_THAT(notes(baseline, candidate), Not(says_why)) << "on a GPU the profile does";
  for (auto* run : {&baseline, &candidate}) run->environment[baselines::kCpuCycles] = "cpu_time";
  EXPECT_THAT(notes(baseline, candidate), says_why);
  EXPECT_THAT(notes(baseline, baseline), Not(says_why)) << "nothing changed";
}

TEST(GateNotes, NotesTheWarningOfEitherRun) {
  auto baseline = test_run({test_series("a", kQuiet)});
  auto candidate = baseline;
  baseline.warnings = {Warning::kUnlockedClocks};
  candidate.warnings = {Warning::kThrottled};
  baseline.provenance.device_uuid = "GPU-1";
  candidate.provenance.device_uuid = "GPU-2";
  candidate.provenance.suite = "pr";
  const auto found = notes(baseline, candidate);
  EXPECT_THAT(found, Contains(HasSubstr("Baseline: Clocks were not locked")));
  EXPECT_THAT(found, Contains(HasSubstr("Candidate: The driver reported")));
  EXPECT_THAT(found, Contains(HasSubstr("on a card that the baseline was not. No card-to-card")));
  EXPECT_THAT(found, Contains(HasSubstr("of suite \"\", the candidate of \"pr\"")));
  EXPECT_EQ(found.size(), 4u);
}

TEST(GateNotes, SayThatAStoredBaselineOfFewProcessesReportsNoRegression) {
  const auto notes_of = [](const std::vector<double>& times, bool is_stored) {
    const baselines::Run baseline = test_run({test_series("a", times)});
    const baselines::Run candidate = test_run({test_series("a", kQuiet)});
    const auto acceptance = is_stored ? std::optional(baselines::Acceptance{}) : std::nullopt;
    return gate_notes({.candidate = candidate,
                       .baseline = {{baseline, acceptance}},
                       .result = gate(baseline, candidate, {})});
  };
  const auto is_of_few = Contains(HasSubstr("The baseline has 2 processes; at least 4 are needed"));
  EXPECT_THAT(notes_of({1000, 1001}, true), is_of_few);
  EXPECT_THAT(notes_of({1000, 1001}, false), Not(is_of_few));
  EXPECT_THAT(notes_of(kQuiet, true), Not(is_of_few));
}

Run of_equal_processes(std::size_t processes, int cards = 1) {
  std::vector<double> times(processes * static_cast<std::size_t>(cards), 1000);
  BenchmarkSeries series = test_series("a", times);
  for (std::size_t i = 0; i < times.size(); ++i) {
    series.processes[i].card = static_cast<int>(i / processes);
  }
  baselines::Run run = test_run({series});
  run.provenance.suite = "pr";
  for (int card = 0; card < cards; ++card) run.cards.push_back("GPU-" + std::to_string(card));
  return run;
}

TEST(FewProcesses, AreNamedWithWhatMendsIt) {
  EXPECT_EQ(few_processes_text(of_equal_processes(4)), "");
  EXPECT_EQ(few_processes_text(of_equal_processes(4, 2)), "");
  EXPECT_EQ(few_processes_text(test_run({})), "");
  baselines::Run run = of_equal_processes(2);
  const std::string problem =
      "The baseline has 2 processes on each card; at least 4 are needed to report a regression. ";
  EXPECT_EQ(few_processes_text(run),
            problem +
                "Re-record it: fusegate run --suite pr --processes 4 --all --out RUN && fusegate "
                "accept RUN --reason TEXT");
  run.provenance.protocol = {{"tool", "nvbench"}};
  EXPECT_EQ(few_processes_text(run),
            problem + "Re-record it with 4 processes: fusegate accept RUN --reason TEXT");
}

TEST(FewProcesses, AreThoseOfTheCardWithTheFewest) {
  baselines::Run run = of_equal_processes(4, 2);
  run.benchmarks[0].processes.pop_back();
  EXPECT_THAT(few_processes_text(run),
              testing::AllOf(HasSubstr("The baseline has 3 processes on each card"),
                             HasSubstr(". Re-record it, a RUN on each card: fusegate run")));
}

// Its own processes judge a card of the baseline, all of them another card.
TEST(FewProcesses, OfACardMayBeEnoughForOthers) {
  EXPECT_THAT(few_processes_text(of_equal_processes(1, 3)),
              StartsWith("The baseline has 1 process on each card; at least 4 are needed to report "
                         "a regression. "));
  EXPECT_THAT(few_processes_text(of_equal_processes(1, 4)),
              StartsWith("The baseline has 1 process on each card; at least 4 are needed to report "
                         "a regression on one of these. "));
}

// A card measured the suite in four parts, each with the controls.
TEST(FewProcesses, AreNotThoseOfControls) {
  baselines::Run run = of_equal_processes(1, 2);
  BenchmarkSeries control = of_equal_processes(4, 2).benchmarks[0];
  control.is_control = true;
  run.benchmarks.push_back(control);
  EXPECT_THAT(few_processes_text(run), HasSubstr("The baseline has 1 process on each card"));
}

TEST(FewProcesses, ThatWereComparedCount) {
  std::vector<baselines::Verdict> verdicts(2);
  EXPECT_EQ(few_processes_text(of_equal_processes(2, 2), verdicts),
            few_processes_text(of_equal_processes(2, 2)))
      << "nothing was compared yet";
  verdicts[1].baseline.compared = 2;
  EXPECT_THAT(few_processes_text(of_equal_processes(2, 2), verdicts),
              StartsWith("The baseline has 2 processes to compare with; at least 4 are needed to "
                         "report a regression. "));
  verdicts[1].baseline.compared = 4;
  EXPECT_EQ(few_processes_text(of_equal_processes(2, 2), verdicts), "");
}

}  // namespace
}  // namespace fusegate::ci
