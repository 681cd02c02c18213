#include "ci/processes/google_benchmark.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/fake_program.h"

namespace fusegate::ci {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view kGoogleBenchmarkMain = R"sh(
case $1 in --help) echo "benchmark [--benchmark_list_tests={true|false}]"
                   echo "          [--benchmark_out=<filename>]"; exit ;; esac
echo asked >> "${0%/*}/asked"
case $* in *--benchmark_list_tests=true) echo "BM_x/8"; echo "BM_x/8/real_time" ;; esac
)sh";

class GoogleBenchmarkTest : public ::testing::Test {
 protected:
  std::optional<GoogleBenchmark> ask(const std::string& name, std::string_view script) {
    return ask_for_google_benchmark(tests::write_script(folder_, name, script), {"--v=1"});
  }
  baselines::ScratchFolder folder_;
};

TEST_F(GoogleBenchmarkTest, IsKnownByItsHelpAndListsWhatItMeasures) {
  const auto found = ask("bench", kGoogleBenchmarkMain);
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(found->benchmarks, ElementsAre("BM_x/8", "BM_x/8/real_time"));
}

TEST_F(GoogleBenchmarkTest, OthersAreNot) {
  EXPECT_FALSE(ask("ours", "echo ' --suite SUITE'; echo 'also --benchmark_out=FILE'"));
  EXPECT_FALSE(ask("mute", "exit 0"));
  EXPECT_FALSE(ask("broken", "exit 3"));
  EXPECT_FALSE(ask_for_google_benchmark(folder_.path() / "missing", {}));
}

TEST_F(GoogleBenchmarkTest, ProgramsOfFusegateAreNotAsked) {
  EXPECT_FALSE(ask("fusegate_bench", kGoogleBenchmarkMain));
  EXPECT_FALSE(ask("kernels.py", std::string(kGoogleBenchmarkMain) + "# import fusegate"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "asked"));
  EXPECT_TRUE(ask("other.py", kGoogleBenchmarkMain));
}

TEST(GoogleBenchmarkConsole, CountsEachBenchmarkOnce) {
  GoogleBenchmarkConsole console({{"BM_x", "BM_x/8", "BM_x a", "BM_y"}},
                                 {"--benchmark_filter=y", "--benchmark_filter=-y$"});
  EXPECT_FALSE(console.event_of("Benchmark        Time             CPU   Iterations"));
  EXPECT_FALSE(console.event_of("BM_x_mean       1 ns"));
  EXPECT_FALSE(console.event_of("BM_y            1 ns")) << "the filter leaves it out";
  const auto blank = console.event_of("BM_x a          1 ns            1 ns      100");
  ASSERT_TRUE(blank.has_value());
  EXPECT_EQ(blank->benchmark, "BM_x a");
  EXPECT_EQ(console.event_of("BM_x            1 ns")->index, 2);
  EXPECT_FALSE(console.event_of("BM_x            1 ns")) << "its second repetition";
  const auto failed = console.event_of("BM_x/8       ERROR OCCURRED: 'no memory'");
  ASSERT_TRUE(failed.has_value());
  EXPECT_EQ(failed->failure, "no memory");
  EXPECT_EQ(failed->index, failed->total);
}

TEST(GoogleBenchmarkConsole, AFilterThatIsNoPatternOfOursLeavesNothingOut) {
  GoogleBenchmarkConsole console({{"BM_x"}}, {"--benchmark_filter=(?=x)"});
  EXPECT_TRUE(console.event_of("BM_x   1 ns"));
}

TEST(GoogleBenchmarkPreamble, ExplainsNoFailure) {
  for (const char* line : {"2026-11-26T06:30:46+00:00", "Running ./plain",
                           "Run on (2 X 2600 MHz CPU s)", "CPU Caches:", "  L1 Data 48 KiB (x2)",
                           "Load Average: 1.46, 1.30, 1.73", "***WARNING*** CPU scaling is enabled",
                           "-------------------", "Benchmark                 Time"}) {
    EXPECT_TRUE(is_google_benchmark_preamble(line)) << line;
  }
  EXPECT_FALSE(is_google_benchmark_preamble("Failed to match any benchmarks against regex: zzz"));
}

}  // namespace
}  // namespace fusegate::ci
