// --identify without a GPU, by a meter that reports what it is given.
#include "bench/program/identifying.h"

#include "baselines/launches/identities.h"
#include "bench/program/one_benchmark_test.h"

namespace fusegate::bench {
namespace {

class IdentifyTest : public OneBenchmarkTest {
 protected:
  IdentifyTest() : OneBenchmarkTest("identities.json") {
    wrong_.prepare = [](kernels::Device&, const kernels::Problem&, std::span<const kernels::Tensor>,
                        const kernels::Tensor&) -> kernels::PreparedKernel {
      throw std::runtime_error("cannot be prepared");
    };
  }

  Outcome run() { return identify(*device_, meter_, plan_, probe_, info_, out_); }
};

TEST_F(IdentifyTest, WritesWhatEachBenchmarkLaunchesAndMeasuresNothing) {
  meter_.attempt.identity = baselines::CallIdentity{.launches = {{.kernel = "k", .code = "0a"}}};
  EXPECT_EQ(run(), Outcome::kComplete);
  const baselines::Identities written = baselines::read_identities(out_);
  EXPECT_TRUE(baselines::identical_code(written.benchmarks.at(plan_.benchmarks[0].name()),
                                        *meter_.attempt.identity));
  EXPECT_EQ(written.context.at("suite"), "custom");
  EXPECT_GT(written.counters.at(plan_.benchmarks[0].name()).at("min_bytes"), 0);
  EXPECT_GT(written.counters.at(plan_.benchmarks[0].name()).at("memory_bytes"), 0);
  EXPECT_EQ(meter_.runs, 0);
}

TEST_F(IdentifyTest, SaysWhyAnIdentityIsNotKnown) {
  EXPECT_EQ(run(), Outcome::kComplete);
  const std::string name = plan_.benchmarks[0].name();
  EXPECT_NE(baselines::read_identities(out_).benchmarks.at(name).unknown, "");
  meter_.attempt.warning = baselines::Warning::kProfilerMissing;
  EXPECT_EQ(run(), Outcome::kComplete);
  EXPECT_EQ(baselines::read_identities(out_).benchmarks.at(name).unknown,
            baselines::warning_sentence(baselines::Warning::kProfilerMissing));
}

TEST_F(IdentifyTest, ABenchmarkThatFailsIsReportedBesideTheOthers) {
  plan_.benchmarks.push_back({&wrong_, problem_});
  EXPECT_EQ(run(), Outcome::kFailures);
  const baselines::Identities written = baselines::read_identities(out_);
  EXPECT_EQ(written.benchmarks.size(), 1u);
  EXPECT_EQ(written.failures.at(plan_.benchmarks[1].name()), "cannot be prepared");
}

TEST_F(IdentifyTest, AllIsChosenBeforeAProfilerIsAttached) {
  std::vector<int> profiles_before;
  kernels::Implementation choosing = right_;
  choosing.prepare = [&](kernels::Device& device, const kernels::Problem& problem,
                         std::span<const kernels::Tensor> in, const kernels::Tensor& out) {
    profiles_before.push_back(meter_.profiles);
    return right_.prepare(device, problem, in, out);
  };
  plan_.benchmarks = {{&choosing, problem_}, {&choosing, problem_}};
  EXPECT_EQ(run(), Outcome::kComplete);
  EXPECT_EQ(profiles_before, (std::vector<int>{0, 0, 0, 1}));
}

TEST_F(IdentifyTest, WritesNothingAfterASignal) {
  // In a process of its own: a signal is remembered for good.
  EXPECT_EXIT(
      {
        stop_on_signals();
        std::raise(SIGINT);
        std::exit(run() == Outcome::kInterrupted && !std::filesystem::exists(out_) ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace fusegate::bench
