// --trace without a GPU, through profilers that deliver what they are given.
#include "bench/program/tracing.h"

#include <gmock/gmock.h>

#include "baselines/io/file_io.h"
#include "bench/program/one_benchmark_test.h"

namespace fusegate::bench {
namespace {

using testing::ElementsAre;

class TracingTest : public OneBenchmarkTest {
 protected:
  TracingTest() : OneBenchmarkTest("trace.json") {
    wrong_.prepare = [](kernels::Device&, const kernels::Problem&, std::span<const kernels::Tensor>,
                        const kernels::Tensor&) { return kernels::PreparedKernel{}; };
  }

  Outcome run() { return record_trace(*device_, meter_, plan_, probe_, info_, out_); }
  nlohmann::json written() const { return nlohmann::json::parse(baselines::read_file(out_)); }
  std::vector<std::string> slices() const {
    const nlohmann::json trace = written();
    std::vector<std::string> names;
    for (const auto& event : trace.at("traceEvents")) {
      if (event.at("ph") == "X") names.push_back(event.at("name"));
    }
    return names;
  }
};

TEST_F(TracingTest, WritesThreeStepsOfEachBenchmark) {
  kernels::Implementation other = right_;
  other.name = "other";
  plan_.benchmarks.push_back({&other, problem_});
  EXPECT_EQ(run(), Outcome::kComplete);
  const std::string first = plan_.benchmarks[0].name(), second = plan_.benchmarks[1].name();
  EXPECT_THAT(slices(), ElementsAre("ProfilerStep#2", first, "gelu_mul",   //
                                    "ProfilerStep#3", first, "gelu_mul",   //
                                    "ProfilerStep#4", first, "gelu_mul",   //
                                    "ProfilerStep#7", second, "gelu_mul",  //
                                    "ProfilerStep#8", second, "gelu_mul",  //
                                    "ProfilerStep#9", second, "gelu_mul"));
}

TEST_F(TracingTest, SaysWhatTheTraceIsOf) {
  EXPECT_EQ(run(), Outcome::kComplete);
  const nlohmann::json about = written().at("fusegate");
  EXPECT_EQ(about.at("schedule"), nlohmann::json({{"wait", 1}, {"warm_up", 1}, {"active", 3}}));
  EXPECT_EQ(about.at("benchmarks"),
            nlohmann::json({{{"name", plan_.benchmarks[0].name()}, {"steps", {2, 3, 4}}}}));
  EXPECT_EQ(about.at("suite"), "custom");
  EXPECT_EQ(about.at("environment").at("device"), device_->name());
  EXPECT_FALSE(about.at("provenance").at("commit").get<std::string>().empty());
  EXPECT_FALSE(about.contains("failures"));
}

TEST_F(TracingTest, NeverTracesAWrongKernel) {
  plan_.benchmarks.insert(plan_.benchmarks.begin(), {&wrong_, problem_});
  EXPECT_EQ(run(), Outcome::kFailures);
  EXPECT_THAT(slices(), testing::Not(testing::Contains(plan_.benchmarks[0].name())));
  EXPECT_THAT(slices(), testing::Contains(plan_.benchmarks[1].name()).Times(3));
  const nlohmann::json failures = written().at("fusegate").at("failures");
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_THAT(failures.at(plan_.benchmarks[0].name()).get<std::string>(),
              testing::HasSubstr("wrong result"));
}

TEST_F(TracingTest, WritesNothingWhereNothingIsLeft) {
  plan_.benchmarks = {{&wrong_, problem_}};
  EXPECT_EQ(run(), Outcome::kFailures);
  EXPECT_FALSE(std::filesystem::exists(out_));
}

TEST_F(TracingTest, WritesNothingWhereTheProfilerIsRefused) {
  for (const baselines::Warning warning :
       {baselines::Warning::kProfilerMissing, baselines::Warning::kProfilerRefused,
        baselines::Warning::kProfilerTaken}) {
    meter_.attempt.warning = warning;
    EXPECT_THROW(run(), ProfilerError);
    EXPECT_FALSE(std::filesystem::exists(out_));
  }
  EXPECT_EQ(meter_.profiler.text, "");
}

TEST_F(TracingTest, WritesNothingWhereRecordsAreLost) {
  meter_.profiler.fails_at_take = 3;
  EXPECT_THROW(run(), ProfilerError);
  EXPECT_FALSE(std::filesystem::exists(out_));
  EXPECT_TRUE(meter_.profiler.text.ends_with(']')) << meter_.profiler.text;
}

// In a process of its own: what it remembers of a signal stays.
TEST_F(TracingTest, WritesNothingAfterASignal) {
  const auto run_after_signal = [this] {
    stop_on_signals();
    std::raise(SIGTERM);
    const bool kept_to_it = run() == Outcome::kInterrupted && !std::filesystem::exists(out_);
    std::exit(kept_to_it ? 0 : 1);
  };
  EXPECT_EXIT(run_after_signal(), testing::ExitedWithCode(0), "");
}

TEST_F(TracingTest, TimesNothing) {
  EXPECT_EQ(run(), Outcome::kComplete);
  EXPECT_EQ(meter_.records, 0);
  EXPECT_EQ(meter_.profiles, 0);
}

}  // namespace
}  // namespace fusegate::bench
