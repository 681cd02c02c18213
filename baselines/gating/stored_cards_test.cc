#include "baselines/gating/stored_cards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"
#include "baselines/record/test_run.h"

namespace fusegate::baselines {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Of one card each, two processes.
Run run_on(const std::string& card, std::vector<BenchmarkSeries> benchmarks) {
  Run run = test_run(std::move(benchmarks));
  run.source = "run-" + card;
  run.cards = {card};
  number_processes(run);
  return run;
}
BenchmarkSeries timed(const std::string& name, double time_ns, const std::string& code) {
  return doing(test_series(name, {time_ns, time_ns + 1}), code);
}

std::vector<double> times_of(const Run& run, std::size_t benchmark) {
  std::vector<double> times;
  for (const auto& summary : run.benchmarks[benchmark].processes) times.push_back(summary.time_ns);
  return times;
}
std::vector<std::string> cards_of_processes(const Run& run, std::size_t benchmark) {
  std::vector<std::string> cards;
  for (const auto& summary : run.benchmarks[benchmark].processes) {
    cards.push_back(run.cards.at(static_cast<std::size_t>(summary.card)));
  }
  return cards;
}
std::vector<std::string> names_of_processes(const Run& run, std::size_t benchmark) {
  std::vector<std::string> names;
  for (const auto& summary : run.benchmarks[benchmark].processes) {
    names.push_back(run.process_names.at(static_cast<std::size_t>(summary.process)));
  }
  return names;
}

TEST(StoredCards, AreAddedWhereCodeIsIdentical) {
  const auto stored =
      run_on("A", {timed("changed", 100, "c1"), timed("gone", 50, "c"), timed("same", 200, "c")});
  auto run = run_on("B", {timed("changed", 90, "c2"), timed("new", 70, "c"),
                          timed("same", 210, "c"), test_series("unknown", {10, 11})});
  EXPECT_THAT(add_stored_cards(stored, run), ElementsAre("changed"));
  EXPECT_THAT(run.cards, ElementsAre("B", "A"));
  EXPECT_THAT(times_of(run, 0), ElementsAre(90, 91));
  EXPECT_THAT(times_of(run, 1), ElementsAre(70, 71));
  EXPECT_THAT(times_of(run, 2), ElementsAre(210, 211, 200, 201));
  EXPECT_THAT(cards_of_processes(run, 2), ElementsAre("B", "B", "A", "A"));
  EXPECT_THAT(names_of_processes(run, 2), ElementsAre("1", "2", "A/1", "A/2"));
  EXPECT_EQ(run.benchmarks.size(), 4u) << "what the run does not have is not kept";
}

TEST(StoredCards, AreNotAddedWhereCodeIsUnknown) {
  const auto stored = run_on("A", {test_series("plain", {10, 11})});
  auto run = run_on("B", {test_series("plain", {12, 13})});
  EXPECT_THAT(add_stored_cards(stored, run), ElementsAre("plain"));
  EXPECT_THAT(times_of(run, 0), ElementsAre(12, 13));
  EXPECT_THAT(run.cards, ElementsAre("B"));
}

// So a baseline does not grow with each night of one machine.
TEST(StoredCards, OfTheRunGiveWayToIt) {
  auto stored = run_on("A", {timed("same", 200, "c")});
  stored.cards = {"A", "B"};
  stored.benchmarks[0].processes[1].card = 1;
  auto run = run_on("B", {timed("same", 210, "c")});
  EXPECT_THAT(add_stored_cards(stored, run), IsEmpty());
  EXPECT_THAT(times_of(run, 0), ElementsAre(210, 211, 200));
  EXPECT_THAT(cards_of_processes(run, 0), ElementsAre("B", "B", "A"));
}

// Of several cards that share out a suite, each measures another part.
TEST(StoredCards, StayOfBenchmarksThatTheRunMeasuredOnAnother) {
  const auto stored = run_on("A", {timed("one", 200, "c"), timed("two", 300, "c")});
  auto run = run_on("A", {timed("one", 210, "c"), timed("two", 310, "c")});
  run.cards = {"A", "B"};
  for (ProcessSummary& summary : run.benchmarks[1].processes) summary.card = 1;
  EXPECT_THAT(add_stored_cards(stored, run), IsEmpty());
  EXPECT_THAT(times_of(run, 0), ElementsAre(210, 211));
  EXPECT_THAT(times_of(run, 1), ElementsAre(310, 311, 300, 301));
  EXPECT_THAT(cards_of_processes(run, 1), ElementsAre("B", "B", "A", "A"));
}

// As a gate leaves those whose code is identical to the baseline's.
TEST(StoredCards, FillInWhatWasNotMeasured) {
  const auto stored =
      run_on("A", {timed("measured", 100, "c"), timed("other", 60, "c"), timed("same", 200, "c")});
  BenchmarkSeries unmeasured = doing(test_series("same", {}), "c");
  BenchmarkSeries changed = doing(test_series("other", {}), "c2");
  auto run = run_on("A", {timed("measured", 101, "c"), changed, unmeasured});
  EXPECT_THAT(add_stored_cards(stored, run), IsEmpty());
  EXPECT_THAT(times_of(run, 0), ElementsAre(101, 102));
  EXPECT_TRUE(run.benchmarks[1].is_unmeasured());
  EXPECT_THAT(times_of(run, 2), ElementsAre(200, 201));
  EXPECT_EQ(unmeasured_text(run),
            "1 of 3 benchmarks was not measured: identical code; --all "
            "measures them too");
}

TEST(StoredCards, AreRefusedFromAnotherEnvironment) {
  auto stored = run_on("A", {timed("same", 200, "c")}), run = run_on("B", {timed("same", 2, "c")});
  stored.environment["driver"] = "1";
  run.environment["driver"] = "2";
  try {
    add_stored_cards(stored, run);
    FAIL() << "it was taken";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("run-B"));
    EXPECT_THAT(error.what(), HasSubstr("driver"));
    EXPECT_THAT(error.what(), HasSubstr("is \"2\", but \"1\" in run-A: "));
  }
}

}  // namespace
}  // namespace fusegate::baselines
