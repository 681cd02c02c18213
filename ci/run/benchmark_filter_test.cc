#include "ci/run/benchmark_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex.h>

namespace fusegate::ci {
namespace {

std::string expression_of(const std::vector<std::string>& names) {
  return benchmark_filter_flag(names).value().substr(std::string("--benchmark_filter=").size());
}

bool posix_finds(const std::string& expression, const std::string& name) {
  regex_t compiled{};
  EXPECT_EQ(regcomp(&compiled, expression.c_str(), REG_EXTENDED | REG_NOSUB), 0) << expression;
  const bool found = regexec(&compiled, name.c_str(), 0, nullptr, 0) == 0;
  regfree(&compiled);
  return found;
}

TEST(BenchmarkFilterFlag, NamesTheBenchmarks) {
  EXPECT_THAT(*benchmark_filter_flag({"linear/addmm/bf16/batch:1/seq:1/dim:8/hidden:8", "b"}),
              ::testing::StartsWith(
                  "--benchmark_filter=^(linear/addmm/bf16/batch:1/seq:1/dim:8/hidden:8|b)"));
}

TEST(BenchmarkFilterFlag, FindsNamesAsGoogleBenchmarkCompletesThem) {
  const std::string expression = expression_of({"geglu/fused/batch:1"});
  for (const char* suffix : {"", "/manual_time", "/iterations:1/repeats:60/manual_time",
                             "/min_time:0.500/real_time/threads:2"}) {
    EXPECT_TRUE(posix_finds(expression, std::string("geglu/fused/batch:1") + suffix)) << suffix;
  }
  for (const char* suffix : {"/seq:1", "/manual_time/seq:1", "6/manual_time"}) {
    EXPECT_FALSE(posix_finds(expression, std::string("geglu/fused/batch:1") + suffix)) << suffix;
  }
}

TEST(BenchmarkFilterFlag, LetsNoOtherBenchmarkThrough) {
  const std::vector<std::string> names{"geglu/fused/batch:1", "BM_x<int>/8",
                                       "a.b(c)[d]{2}*+?^$|\\"};
  const std::string expression = expression_of(names);
  for (const std::string& name : names) {
    EXPECT_TRUE(posix_finds(expression, name)) << name;
    for (const std::string& other : {name + "6", "x" + name, name.substr(1)}) {
      EXPECT_FALSE(posix_finds(expression, other)) << other;
    }
  }
  EXPECT_FALSE(posix_finds(expression, "axb(c)[d]{2}*+?^$|\\"));
}

TEST(BenchmarkFilterFlag, IsNoneWhereItWouldNotFitACommandLine) {
  EXPECT_TRUE(benchmark_filter_flag(std::vector<std::string>(1000, std::string(70, 'a'))));
  EXPECT_FALSE(benchmark_filter_flag(std::vector<std::string>(2000, std::string(70, 'a'))));
}

}  // namespace
}  // namespace fusegate::ci
