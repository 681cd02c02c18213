#include "ci/selection/selection.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex.h>

#include <algorithm>

#include "baselines/record/test_run.h"

namespace fusegate::ci {
namespace {

using baselines::doing;
using baselines::failed_series;
using baselines::test_run;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::SizeIs;

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

// Not measured yet.
baselines::BenchmarkSeries known(const std::string& name, const std::string& code) {
  return doing(baselines::test_series(name, {}), code);
}

// Four operations on fifteen problems, in two number formats, and two controls.
std::vector<std::string> suite() {
  std::vector<std::string> names{"control_copy/memcpy/1", "control_gemm/cublas/1"};
  for (const char* operation : {"geglu", "geglu_mlp", "linear", "swiglu_mlp"}) {
    for (int problem = 1; problem <= 15; ++problem) {
      for (const char* dtype : {"bf16", "fp16"}) {
        names.push_back(fmt::format("{}/fused/{}/batch:{}", operation, dtype, problem));
      }
    }
  }
  std::ranges::sort(names);
  return names;
}

baselines::Run run_of(const std::vector<std::string>& names, const std::string& changed = "") {
  std::vector<baselines::BenchmarkSeries> all;
  for (const std::string& name : names) {
    all.push_back(known(name, name == changed ? "1e" : "0f"));
    all.back().is_control = name.starts_with("control_");
  }
  return test_run(all);
}

TEST(Selection, MeasuresWhatDiffersOrIsNotKnown) {
  const baselines::Run baseline =
      test_run({known("equal", "0f"), doing(failed_series("failing", "wrong"), "0f"),
                known("gone", "0f"), known("other", "0f"), known("unknown", "0f")});
  baselines::Run candidate =
      test_run({known("equal", "0f"), known("failing", "0f"), known("new", "0f"),
                known("other", "1e"), known("unknown", "0f")});
  candidate.benchmarks.back().identity->unknown = "not asked";
  const Selection selection = select_benchmarks({{baseline, candidate}});
  EXPECT_THAT(selection.measured,
              ElementsAre("equal", "failing", "gone", "new", "other", "unknown"));
  EXPECT_EQ(selection.identical, 1u);
  EXPECT_EQ(selection.benchmarks, 5u);
  EXPECT_FALSE(selection.nothing_differs());
}

TEST(Selection, WhatABaselineHasMeasuredAndTheCandidateLacksIsNotMeasured) {
  const baselines::Run baseline = test_run({doing(baselines::test_series("a", {1, 2}), "0f"),
                                            doing(baselines::test_series("gone", {1, 2}), "0f")});
  EXPECT_THAT(select_benchmarks({{baseline, test_run({known("a", "0f")})}}).measured,
              ElementsAre("a"));
}

TEST(Selection, EqualIsWhatIsEqualInEveryComparison) {
  const baselines::Run same = run_of({"a", "b"});
  const Selection selection = select_benchmarks({{same, same}, {same, run_of({"a", "b"}, "b")}});
  EXPECT_EQ(selection.identical, 1u);
  EXPECT_THAT(selection.measured, Contains("b"));
}

TEST(Selection, OfWhatDiffersOneBenchmarkAlone) {
  const baselines::Run before = run_of({"a", "b", "c", "d"});
  baselines::Run after = run_of({"a", "b", "c", "d"}, "b");
  after.benchmarks[2] = known("c", "2d");
  const Selection selection = select_benchmarks({{before, after}}, ControlUse::kSideBySide, "c");
  EXPECT_THAT(selection.measured, ElementsAre("a", "c", "d"));
  EXPECT_EQ(selection.benchmarks, 3u);
  const Selection none = select_benchmarks({{before, after}}, ControlUse::kSideBySide, "a");
  EXPECT_TRUE(none.nothing_differs());
}

TEST(Selection, ControlsAreTheSuitesOwnAndOthersOfAllOperationsAndSizes) {
  const std::string changed = "geglu/fused/bf16/batch:7";
  const Selection selection = select_benchmarks({{run_of(suite()), run_of(suite(), changed)}});
  EXPECT_THAT(selection.measured, SizeIs(kControls + 1));
  EXPECT_EQ(selection.controls, kControls);
  EXPECT_THAT(selection.measured, Contains(changed));
  EXPECT_THAT(selection.measured, Contains("control_copy/memcpy/1"));
  EXPECT_THAT(selection.measured, Contains("control_gemm/cublas/1"));
  const auto controls_with = [&](const std::string& part) {
    return std::ranges::count_if(selection.measured, [&](const std::string& name) {
      return name != changed && ("/" + name + "/").find("/" + part + "/") != std::string::npos;
    });
  };
  for (const char* operation : {"geglu", "geglu_mlp", "linear", "swiglu_mlp"}) {
    EXPECT_GE(controls_with(operation), 5) << operation;
  }
  for (const char* dtype : {"bf16", "fp16"}) EXPECT_GE(controls_with(dtype), 10) << dtype;
  for (int problem = 1; problem <= 15; ++problem) {
    EXPECT_GE(controls_with(fmt::format("batch:{}", problem)), 1) << problem;
  }
}

TEST(Selection, SideBySideControlsGoByEarlierFigures) {
  const std::vector<std::string> names = suite();
  baselines::Run earlier = run_of(names);
  for (auto& series : earlier.benchmarks) {
    const bool is_cheap = series.name.find("swiglu_mlp/fused/fp16") == 0;
    series.counters = {{"flops", 1e9}, {"min_bytes", is_cheap ? 1e6 : 1e7}};
  }
  const ComparedRuns runs{run_of(names), run_of(names, "geglu/fused/bf16/batch:7"), earlier};
  const Selection selection = select_benchmarks({runs}, ControlUse::kSideBySide);
  EXPECT_EQ(selection.controls, kControlsSideBySide);
  EXPECT_TRUE(selection.few_differ());
  EXPECT_EQ(std::ranges::count_if(
                selection.measured,
                [](const std::string& name) { return name.starts_with("swiglu_mlp/fused/fp16"); }),
            3)
      << "half of them: they are one kind, and those that the suite declares of the other";
}

TEST(Selection, FewDifferUpToALimit) {
  Selection selection;
  selection.controls = 1;
  selection.measured.resize(1 + kFewDiffering);
  EXPECT_TRUE(selection.few_differ());
  selection.measured.emplace_back();
  EXPECT_FALSE(selection.few_differ());
}

TEST(Selection, SaysWhatItMeasures) {
  const auto text = [](std::vector<std::string> measured, std::size_t benchmarks, std::size_t equal,
                       std::size_t controls) {
    return selection_text({std::move(measured), benchmarks, equal, controls});
  };
  const std::vector<std::string> four{"a", "b", "c", "d"};
  EXPECT_EQ(text(four, 104, 103, 3),
            "103 of 104 benchmarks run identical code: measuring the other 1, and 3 of the "
            "identical ones as "
            "controls");
  EXPECT_EQ(text(four, 104, 104, 4),
            "104 of 104 benchmarks run identical code: measuring 4 of them as controls");
  EXPECT_EQ(text({}, 104, 104, 24), "104 of 104 benchmarks run identical code: nothing to measure");
  EXPECT_EQ(text(four, 4, 3, 3), "3 of 4 benchmarks run identical code: measuring all");
}

}  // namespace
}  // namespace fusegate::ci
