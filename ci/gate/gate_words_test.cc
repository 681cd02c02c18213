#include "ci/gate/gate_words.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/record/test_run.h"

namespace fusegate::ci {
namespace {

using baselines::BenchmarkSeries;
using baselines::Doubt;
using baselines::failed_series;
using baselines::GateOptions;
using baselines::GateResult;
using baselines::kQuiet;
using baselines::Run;
using baselines::side_by_side;
using baselines::slowed;
using baselines::test_run;
using baselines::test_series;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string headline(const Run& baseline, const Run& candidate, const GateOptions& options = {}) {
  return gate_headline(gate(baseline, candidate, options), options);
}

std::string headline_of(std::vector<BenchmarkSeries> baseline,
                        std::vector<BenchmarkSeries> candidate, const GateOptions& options = {}) {
  return headline(side_by_side(std::move(baseline)), side_by_side(std::move(candidate)), options);
}

std::vector<std::string> notes(const Run& baseline, const Run& candidate) {
  return gate_notes({{baseline}, {}, gate(baseline, candidate, {})}, candidate);
}

TEST(GateHeadline, NamesTheWorstRegression) {
  EXPECT_EQ(
      headline_of({test_series("a", kQuiet), test_series("b", kQuiet), test_series("c", kQuiet)},
                  {test_series("a", slowed(0.02)), test_series("b", slowed(0.05)),
                   test_series("c", kQuiet)}),
      "2 of 3 benchmarks got slower, the most b by 5.00 %.");
  EXPECT_THAT(
      headline_of(
          {test_series("a", kQuiet), test_series("b", kQuiet), test_series("m", kQuiet)},
          {test_series("a", slowed(0.05)), failed_series("b", "x"), test_series("n", kQuiet)}),
      HasSubstr("; 1 new, 1 missing, 1 invalid."));
}

TEST(GateHeadline, SaysWhatLooksSlowerByTooFewProcesses) {
  const std::vector<double> two{1000, 1000.5};
  EXPECT_EQ(headline_of({test_series("a", kQuiet), test_series("b", kQuiet)},
                        {test_series("a", baselines::scaled(two, 1.05)), test_series("b", kQuiet)}),
            "Could not judge: 1 of 2 benchmarks looks slower, the most a by 5.03 %, by too few "
            "processes to call it; 1 inconclusive.");
}

TEST(GateHeadline, SaysHowMuchWasDecided) {
  const auto quiet = test_series("a", kQuiet);
  EXPECT_EQ(headline_of({quiet}, {quiet}),
            "No regression in 1 benchmark; slowdowns above 0.5 % are ruled out in all.");
  EXPECT_EQ(headline_of({quiet}, {test_series("a", slowed(-0.05))}),
            "No regression in 1 benchmark; slowdowns above 0.5 % are ruled out in all; 1 "
            "improvement.");
  const auto noisy = test_series("a", {100, 130, 80, 120, 95});
  EXPECT_EQ(
      headline_of({noisy}, {noisy}),
      "Could not judge: slowdowns above 5 % are not ruled out in 1 of 1 benchmark: a (42 %).");
  GateOptions strict;
  strict.strict = true;
  EXPECT_EQ(headline_of({noisy}, {noisy}, strict),
            "Could not judge: with --strict every benchmark must be decided; 1 inconclusive.");
}

GateResult decided(const std::vector<std::pair<baselines::VerdictKind, double>>& rows) {
  GateResult result;
  result.causes = {baselines::GateCause::kNoRegression};
  for (const auto& [kind, ruled_out] : rows) {
    result.verdicts.emplace_back();
    result.verdicts.back().benchmark =
        std::string(1, static_cast<char>('a' + result.verdicts.size()));
    result.verdicts.back().kind = kind;
    result.verdicts.back().ruled_out = ruled_out;
  }
  return result;
}

TEST(GateHeadline, SaysHowMuchIsRuledOut) {
  using enum baselines::VerdictKind;
  std::vector<std::pair<baselines::VerdictKind, double>> rows(19, {kUnchanged, 0.008});
  rows.emplace_back(kUnchanged, 0.013);
  EXPECT_EQ(gate_headline(decided(rows), {}),
            "No regression in 20 benchmarks; slowdowns above 1 % are ruled out in 19, above 2 % in "
            "all.");
  rows.emplace_back(kIdentical, 0);
  rows.emplace_back(kInconclusive, 0.3);
  rows.emplace_back(kMissing, std::nan(""));
  EXPECT_EQ(gate_headline(decided(rows), {}),
            "No regression in 21 of 23 benchmarks, 1 identical; of the others slowdowns above 1 % "
            "are ruled out in 19, above 50 % in 21; 1 inconclusive, 1 missing.");
  EXPECT_EQ(gate_headline(decided({{kUnchanged, 0.7}, {kUnchanged, 0.001}}), {}),
            "No regression in 2 benchmarks; slowdowns above 50 % are ruled out in 1.");
  EXPECT_EQ(gate_headline(decided({{kIdentical, 0}, {kIdentical, 0}}), {}),
            "No regression in 2 benchmarks, all identical.");
}

// Of another card's stored baseline; it read "No regression in 2 benchmarks; slowdowns above 0.5 %
// are ruled out in all".
TEST(GateHeadline, CountsAgainstTheWhole) {
  using enum baselines::VerdictKind;
  std::vector<std::pair<baselines::VerdictKind, double>> rows(102, {kInconclusive, 0.02});
  rows.resize(104, {kImprovement, 0.001});
  EXPECT_EQ(gate_headline(decided(rows), {}),
            "No regression in 2 of 104 benchmarks; slowdowns above 2 % are ruled out in all; 2 "
            "improvements, 102 inconclusive.");
  EXPECT_EQ(
      gate_headline(decided({{kIdentical, 0}, {kInconclusive, 0.02}}), {}),
      "No regression in 1 of 2 benchmarks, 1 identical; of the others slowdowns above 2 % are "
      "ruled out in all; 1 inconclusive.");
}

TEST(GateHeadline, AllAreThoseThatAChangeCanHaveSlowed) {
  using enum baselines::VerdictKind;
  GateResult result = decided({{kUnchanged, 0.001}, {kInconclusive, 0.02}, {kNew, std::nan("")}});
  result.verdicts[1].is_control = true;
  EXPECT_EQ(gate_headline(result, {}),
            "No regression in 1 of 3 benchmarks; slowdowns above 0.5 % are ruled out in all; 1 "
            "inconclusive, 1 new.");
}

TEST(GateHeadline, NamesWhereTooLittleIsRuledOut) {
  using enum baselines::VerdictKind;
  GateResult result = decided({{kUnchanged, 0.01},
                               {kUnchanged, 0.03},
                               {kInconclusive, std::nan("")},
                               {kInconclusive, 0.08},
                               {kUnchanged, 0.021}});
  result.causes.push_back(baselines::GateCause::kTooLittleRuledOut);
  GateOptions options;
  options.require_ruled_out = 0.02;
  EXPECT_EQ(gate_headline(result, options),
            "Could not judge: slowdowns above 2 % are not ruled out in 4 of 5 benchmarks: e (8 %), "
            "c (3 %), f (2.1 %) and 1 more.");
}

TEST(GateHeadline, SaysWhyNothingCouldBeJudged) {
  EXPECT_EQ(headline_of({test_series("a", kQuiet), test_series("b", kQuiet)},
                        {test_series("a", kQuiet), failed_series("b", "wrong results")}),
            "Could not judge: b failed in the candidate: wrong results; 1 invalid.");
  EXPECT_EQ(headline_of({}, {}), "Could not judge: neither run has a benchmark.");
  EXPECT_THAT(headline_of({test_series("a", {1000})}, {test_series("a", {2000})}),
              HasSubstr("no benchmark has two invocations on each side"));
  auto baseline = test_run({test_series("a", kQuiet)});
  auto candidate = baseline;
  baseline.environment = {{"driver", "580"}, {"power_limit_w", 700}};
  candidate.environment = {{"driver", "590"}, {"power_limit_w", 600}};
  EXPECT_EQ(headline(baseline, candidate),
            "Could not judge: the environments differ in driver (baseline 580, candidate 590) and "
            "1 more.");
}

TEST(GateHeadline, PutsOtherLaunchesFirst) {
  BenchmarkSeries series = test_series("b", kQuiet);
  series.expectation = {{{"addmm", "1 GEMM", "nvjet, bias_add", false}}};
  EXPECT_EQ(
      headline_of({test_series("b", kQuiet)}, {series}),
      "1 benchmark does not launch what it declares, such as b. No regression in 1 benchmark; "
      "slowdowns above 0.5 % are ruled out in all.");
}

TEST(GateHeadline, NamesTheFirstOtherKernel) {
  GateOptions options;
  options.fail_on_changed_kernels = true;
  EXPECT_EQ(headline_of({test_series("b", kQuiet)}, {test_series("b", kQuiet)}, options),
            "Could not judge: a run has no profiles, so whether kernels changed is not known.");
  baselines::KernelStory story;
  story.benchmark = "b";
  story.kind = baselines::StoryKind::kLaunches;
  story.has_profiles = true;
  story.verdict = baselines::VerdictKind::kUnchanged;
  story.memory_operations = {0, 1};
  GateResult result;
  result.causes = {baselines::GateCause::kNoRegression, baselines::GateCause::kOtherKernels};
  result.verdicts.resize(2);
  result.stories = {story};
  EXPECT_EQ(gate_headline(result, options),
            "Kernels changed in 1 of 2 benchmarks, the first b: 1 memory operation more (0 -> 1); "
            "time is unchanged.");
}

TEST(GateNotes, NameWhatWasSkippedAndOnceWhereBothSidesSkippedIt) {
  baselines::Run base = test_run({test_series("a", kQuiet)});
  baselines::Run head = test_run({test_series("a", slowed(0.05))});
  const std::string text = "1 benchmark was skipped: b (too small)";
  head.skipped = {{"b", "too small"}};
  EXPECT_THAT(notes(base, head), ElementsAre("Candidate: " + text));
  base.skipped = head.skipped;
  EXPECT_THAT(notes(base, head), ElementsAre("Candidate: " + text));
  head.skipped.clear();
  EXPECT_THAT(notes(base, head), ElementsAre("Baseline: " + text));
}

TEST(GateNotes, NameWhatIsLeftOut) {
  baselines::Run base = test_run({test_series("a", kQuiet)});
  baselines::Run head = test_run({test_series("a", slowed(0.05))});
  head.left_out = {{"b", "3 of 5 processes have it"}};
  EXPECT_THAT(notes(base, head), ElementsAre("Candidate: 1 benchmark is not judged whole: b (3 of "
                                             "5 processes have it)"));
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
  std::vector<std::string> notes_of_host() const {
    Judgement judgement;
    judgement.options = options_;
    judgement.result = result_;
    return gate_notes(judgement, {});
  }
  std::string headline_of_host() {
    result_.causes.insert(result_.causes.begin(), baselines::GateCause::kNoRegression);
    result_.verdicts.resize(2);
    return gate_headline(result_, options_);
  }

  GateOptions options_;
  GateResult result_;
};

TEST_F(HostWords, NameThreeAndCountABenchmarkOnce) {
  using baselines::HostVerdict;
  for (const char* name : {"a", "b", "c"}) {
    result_.host.changes.push_back(host_change(name, HostVerdict::kSlower, 9100, 29200));
  }
  result_.host.changes[1].launch = baselines::HostLaunch::kGraph;
  result_.host.changes.push_back(host_change("b", HostVerdict::kSlower, 5000, 10000));
  result_.host.changes.push_back(host_change("d", HostVerdict::kFaster, 10000, 5000));
  EXPECT_THAT(notes_of_host(),
              ElementsAre("Host time: 3 benchmarks take the host longer to launch: a 9.100 us -> "
                          "29.20 us (+220.88 %); b as a graph 9.100 us -> 29.20 us (+220.88 %); c "
                          "9.100 us -> 29.20 us (+220.88 %) and 1 more.",
                          "Host time: 1 benchmark takes the host less time to launch: d 10.00 us "
                          "-> 5.000 us (-50.00 %)."));
  EXPECT_THAT(headline_of_host(),
              testing::EndsWith(". 3 benchmarks take the host longer to launch."));
}

TEST_F(HostWords, SayWhyWhatLooksLongerIsNotCalled) {
  using baselines::HostObstacle;
  using baselines::HostVerdict;
  for (const HostObstacle obstacle : {HostObstacle::kOtherHost, HostObstacle::kOneValue,
                                      HostObstacle::kFewProcesses, HostObstacle::kSuiteMoved}) {
    result_.host.changes.push_back(host_change("a", HostVerdict::kLooksSlower, 5000, 10000));
    result_.host.changes.back().obstacle = obstacle;
  }
  const std::string looks =
      "Host time: 1 benchmark looks as if it took the host longer to launch: a 5.000 us -> 10.00 "
      "us (+100.00 %). It is not called: ";
  EXPECT_THAT(
      notes_of_host(),
      ElementsAre(looks + "measured on another host, which may be the cause.",
                  looks + "a side tells one value alone, of one process or of an older baseline.",
                  looks + "fewer than 4 processes of a side measured it.",
                  looks + "most benchmarks moved as much between the two sessions, which the "
                          "machine may have done; fusegate replay tells."));
  EXPECT_THAT(headline_of_host(), testing::Not(HasSubstr("host")));
}

TEST_F(HostWords, OfAnotherHostSayThatNothingFailsWhereItWasToFail) {
  result_.host.other_host = true;
  EXPECT_THAT(notes_of_host(), IsEmpty());
  options_.fail_on_host = true;
  EXPECT_THAT(notes_of_host(),
              ElementsAre(HasSubstr("measured on two hosts, so it fails nothing")));
}

TEST_F(HostWords, StandBeforeWhatTimeSays) {
  result_.host.changes = {host_change("a", baselines::HostVerdict::kSlower, 9100, 29200)};
  result_.causes = {baselines::GateCause::kHostSlower};
  EXPECT_THAT(headline_of_host(),
              testing::StartsWith("1 benchmark takes the host longer to launch, the most a 9.100 "
                                  "us -> 29.20 us (+220.88 %). No regression in "));
  result_.host.changes.clear();
  result_.causes = {baselines::GateCause::kHostUnknown};
  EXPECT_EQ(headline_of_host(),
            "Could not judge: no benchmark has a host time in both runs, so whether launching "
            "takes longer is not known.");
}

class CreepWords : public testing::Test {
 protected:
  CreepWords() {
    for (const char* batch : {"1", "4"}) {
      baselines::Verdict verdict;
      verdict.benchmark = std::string("geglu/fused/bf16/batch:") + batch;
      verdict.effect = 0.021;
      verdict.interval = {0.0205, 0.0215};
      creep_.slower.push_back(verdict);
    }
    creep_.since = "2026-10-01T00:00:00+00:00";
  }
  std::vector<std::string> notes_of_creep() const {
    Judgement judgement;
    judgement.result.creep = creep_;
    return gate_notes(judgement, {});
  }

  baselines::Creep creep_;
};

TEST_F(CreepWords, PutAFamilyInPlaceOfItsRows) {
  EXPECT_THAT(notes_of_creep(),
              ElementsAre("Since the anchor of 2026-10-01: 2 of geglu/fused/bf16 2.1 % slower."));
  creep_.slower.pop_back();
  creep_.other_card = true;
  EXPECT_THAT(notes_of_creep(), ElementsAre("Since the anchor of 2026-10-01, on another card: "
                                            "geglu/fused/bf16/batch:1 2.1 % slower."));
}

TEST_F(CreepWords, SayWhyTheAnchorCannotTell) {
  creep_.differences = {{"cuda", "12", "(absent)"}, {"driver", "570", "(absent)"}};
  EXPECT_THAT(notes_of_creep(),
              ElementsAre("The candidate cannot be compared with the anchor of 2026-10-01: cuda is "
                          "12 there and (absent) here, and 1 more differ. fusegate accept RUN "
                          "--anchor replaces the anchor."));
}

TEST_F(CreepWords, StandBeforeTheHeadlineAgainstTheBaseline) {
  GateOptions options;
  options.max_creep = 0.02;
  GateResult result;
  result.causes = {baselines::GateCause::kNoRegression, baselines::GateCause::kCrept};
  result.verdicts.resize(6);
  for (baselines::Verdict& verdict : result.verdicts) {
    verdict.kind = baselines::VerdictKind::kUnchanged;
  }
  result.creep = creep_;
  EXPECT_EQ(gate_headline(result, options),
            "2 of 6 benchmarks got slower by more than 2 % since the anchor of 2026-10-01, the "
            "most geglu/fused/bf16/batch:1 by 2.10 %. Against the baseline: No regression in 6 "
            "benchmarks; slowdowns above 0.5 % are ruled out in all.");
}

TEST(StalenessNotes, NameAgeLibrariesAndBenchmarks) {
  baselines::Staleness staleness;
  staleness.accepted = "2026-10-01T00:00:00+00:00";
  EXPECT_THAT(staleness_notes(staleness), IsEmpty());
  staleness.age_days = 45.5;
  staleness.too_old = true;
  staleness.libraries = {{"cublas", "13.1", "13.2"}, {"driver", "580", "590"}};
  staleness.not_in_baseline = {"n1", "n2", "n3", "n4"};
  staleness.not_in_candidate = {"gone"};
  EXPECT_THAT(staleness_notes(staleness),
              ElementsAre("The baseline is stale: accepted 46 days before the candidate was "
                          "measured, more than 30.",
                          "The baseline was measured with cublas 13.1, driver 580; the candidate "
                          "with cublas 13.2, driver 590.",
                          "4 benchmarks are not in the baseline: n1, n2, n3 and 1 more.",
                          "1 benchmark is not in the candidate: gone."));
}

TEST(StalenessNotes, SayWhereTheAgeCannotBeTold) {
  baselines::Staleness staleness;
  staleness.accepted = "in spring";
  EXPECT_THAT(
      staleness_notes(staleness),
      ElementsAre(
          "The baseline's age is not known: \"in spring\", its date of acceptance, is no date."));
}

TEST(GateNotes, NotesThatOneRunMeasuredOthersBesides) {
  auto whole = test_run({test_series("a", kQuiet), test_series("b", kQuiet)});
  auto part = test_run({test_series("a", kQuiet)});
  EXPECT_THAT(notes(whole, part), IsEmpty()) << "no GPU";
  whole.provenance.device_uuid = part.provenance.device_uuid = "GPU-1";
  EXPECT_THAT(
      notes(whole, part),
      ElementsAre("1 benchmark is in only one of the runs, and what a process measures "
                  "besides may move a benchmark of the same code. Nothing here tells by how "
                  "much; `fusegate replay` measures both programs with the same "
                  "benchmarks."));
  EXPECT_THAT(notes(part, whole), ElementsAre(HasSubstr("1 benchmark is in only one")));
  EXPECT_THAT(notes(whole, whole), IsEmpty());
}

TEST(GateNotes, SaysWhereOneSideDoesNotTellItsWork) {
  const auto old = test_run({test_series("a", kQuiet)});
  const auto now = test_run({baselines::doing(test_series("a", kQuiet), "0f")});
  EXPECT_THAT(notes(old, now),
              ElementsAre("The baseline does not tell what its benchmarks launched, as older "
                          "programs do not: no work is known to be equal, and all is judged by its "
                          "times. A baseline that is measured anew tells it."));
  EXPECT_THAT(notes(now, old), ElementsAre(HasSubstr("The candidate does not tell")));
  EXPECT_THAT(notes(old, old), IsEmpty());
}

TEST(GateNotes, EqualWorkTellsWhatOtherCompanyIsWorth) {
  std::vector<BenchmarkSeries> rows;
  for (int i = 0; i < 17; ++i) {
    rows.push_back(baselines::doing(test_series(fmt::format("row{:02}", i), kQuiet), "0f"));
  }
  auto whole = test_run(rows);
  rows.pop_back();
  for (BenchmarkSeries& row : rows) {
    for (auto& summary : row.invocations) summary.time_ns *= 1.002;
  }
  auto part = test_run(std::move(rows));
  part.benchmarks[0] = baselines::doing(std::move(part.benchmarks[0]), "1e");
  whole.benchmarks.push_back(baselines::doing(test_series("row99", kQuiet), "0f"));
  part.benchmarks.push_back(baselines::doing(test_series("row99", slowed(0.002)), "0f"));
  whole.provenance.device_uuid = part.provenance.device_uuid = "GPU-1";
  EXPECT_THAT(
      notes(whole, part),
      ElementsAre(HasSubstr("16 benchmarks did equal work: there the machine made +0.20 % to "
                            "+0.20 %, +0.20 % in the median. That is taken out"),
                  testing::EndsWith("code. By how much, equal work tells here.")));
}

Run of_processes(std::vector<double> factors) {
  std::vector<baselines::BenchmarkSeries> suite;
  for (int row = 0; row < 10; ++row) {
    suite.push_back(test_series(fmt::format("row{}", row), baselines::scaled(factors, 1000)));
  }
  Run run = test_run(std::move(suite));
  number_processes(run);
  return run;
}

TEST(GateNotes, NamesOddProcessesAndWhatBecameOfThem) {
  EXPECT_THAT(notes(of_processes({1, 1, 1.05}), of_processes({1, 1, 1.101, 1})),
              ElementsAre("Baseline: process 3 took 5.0 % longer in the median over 10 benchmarks "
                          "than its siblings and stays: of fewer than 4 none is set aside.",
                          "Candidate: process 3 took 10.1 % longer in the median over 10 "
                          "benchmarks than its siblings and is set aside."));
}

TEST(GateNotes, SayOnACpuWhatWouldTellWhy) {
  auto baseline = side_by_side({test_series("a", kQuiet), test_series("b", kQuiet)});
  auto candidate = side_by_side({test_series("a", kQuiet), test_series("b", slowed(0.05))});
  const auto says_why =
      Contains(HasSubstr("`perf stat -d` of both programs with "
                         "--benchmark_filter='b' shows"));
  EXPECT_THAT(notes(baseline, candidate), Not(says_why)) << "on a GPU the profile does";
  for (auto* run : {&baseline, &candidate}) run->environment[baselines::kCpuCycles] = "cpu_time";
  EXPECT_THAT(notes(baseline, candidate), says_why);
  EXPECT_THAT(notes(baseline, baseline), Not(says_why)) << "nothing changed";
}

TEST(GateNotes, NotesTheDoubtsOfEitherRun) {
  auto baseline = test_run({test_series("a", kQuiet)});
  auto candidate = baseline;
  baseline.doubts = {Doubt::kUnlockedClocks};
  candidate.doubts = {Doubt::kThrottled};
  baseline.provenance.device_uuid = "GPU-1";
  candidate.provenance.device_uuid = "GPU-2";
  candidate.provenance.suite = "pr";
  const auto found = notes(baseline, candidate);
  EXPECT_THAT(found, Contains(HasSubstr("Baseline: Clocks were not locked")));
  EXPECT_THAT(found, Contains(HasSubstr("Candidate: The driver reported")));
  EXPECT_THAT(found, Contains(HasSubstr("on a card that the baseline was not. No calibration")));
  EXPECT_THAT(found, Contains(HasSubstr("of suite \"\", the candidate of \"pr\"")));
  EXPECT_EQ(found.size(), 4u);
}

TEST(GateNotes, SayThatAStoredBaselineOfFewProcessesReportsNoRegression) {
  const auto notes_of = [](const std::vector<double>& times, bool is_stored) {
    baselines::Run baseline = test_run({test_series("a", times)});
    baseline.provenance.suite = "pr";
    const baselines::Run candidate = test_run({test_series("a", kQuiet)});
    const Judgement judgement{
        {baseline, is_stored ? std::optional(baselines::Acceptance{}) : std::nullopt},
        {},
        gate(baseline, candidate, {})};
    return gate_notes(judgement, candidate);
  };
  EXPECT_THAT(notes_of({1000, 1001}, true),
              testing::Contains(testing::StartsWith(
                  "The baseline has 2 processes; at least 4 are needed to report a regression. "
                  "Record it again: fusegate run --suite pr --invocations 4 --all --out RUN && ")));
  const auto is_of_few = testing::HasSubstr("are needed to report");
  EXPECT_THAT(notes_of({1000, 1001}, false), testing::Not(testing::Contains(is_of_few)));
  EXPECT_THAT(notes_of(kQuiet, true), testing::Not(testing::Contains(is_of_few)));
}

}  // namespace
}  // namespace fusegate::ci
