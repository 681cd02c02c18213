#include "ci/gate/few_processes.h"

#include <gtest/gtest.h>

#include "baselines/record/test_run.h"

namespace fusegate::ci {
namespace {

using baselines::BenchmarkSeries;
using baselines::Run;
using baselines::test_run;
using baselines::test_series;

Run of_processes(std::size_t processes, int cards = 1) {
  std::vector<double> times(processes * static_cast<std::size_t>(cards), 1000);
  BenchmarkSeries series = test_series("a", times);
  for (std::size_t i = 0; i < times.size(); ++i) {
    series.invocations[i].card = static_cast<int>(i / processes);
  }
  Run run = test_run({series});
  run.provenance.suite = "pr";
  for (int card = 0; card < cards; ++card) run.cards.push_back("GPU-" + std::to_string(card));
  return run;
}

TEST(FewProcesses, AreToldWithWhatMendsIt) {
  EXPECT_EQ(few_processes_text(of_processes(2)),
            "The baseline has 2 processes on each card; at least 4 are needed to report a "
            "regression. Record it again: fusegate run --suite pr --invocations 4 --all --out RUN "
            "&& fusegate accept RUN --reason TEXT");
  EXPECT_EQ(few_processes_text(of_processes(4)), "");
  EXPECT_EQ(few_processes_text(test_run({})), "");
}

TEST(FewProcesses, AreThoseOfTheCardWithTheFewest) {
  baselines::Run run = of_processes(4, 2);
  EXPECT_EQ(few_processes_text(run), "");
  run.benchmarks[0].invocations.pop_back();
  EXPECT_EQ(fewest_processes_of_a_card(run), 3);
  EXPECT_EQ(few_processes_text(run).find("The baseline has 3 processes on each card"), 0u);
  EXPECT_NE(few_processes_text(run).find(". Record it again, a RUN on each card: fusegate run"),
            std::string::npos);
}

TEST(FewProcesses, OfAnotherToolAreMendedByIt) {
  baselines::Run run = of_processes(1);
  run.provenance.protocol = {{"tool", "nvbench"}};
  EXPECT_EQ(few_processes_text(run),
            "The baseline has 1 process on each card; at least 4 are needed to report a "
            "regression. Record it again, of 4 processes: fusegate accept RUN --reason TEXT");
}

// A candidate of another card is compared with the processes of all cards.
TEST(FewProcesses, ThatWereComparedCount) {
  std::vector<baselines::Verdict> verdicts(2);
  EXPECT_EQ(few_processes_text(of_processes(2, 2), verdicts),
            few_processes_text(of_processes(2, 2)))
      << "nothing was compared yet";
  verdicts[1].compared_in_baseline = 2;
  EXPECT_NE(few_processes_text(of_processes(2, 2), verdicts), "");
  verdicts[1].compared_in_baseline = 4;
  EXPECT_EQ(few_processes_text(of_processes(2, 2), verdicts), "");
}

}  // namespace
}  // namespace fusegate::ci
