#include "ci/run/selection.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "baselines/record/test_run.h"

namespace fusegate::ci {
namespace {

using baselines::doing;
using baselines::failed_series;
using baselines::test_run;
using testing::Contains;
using testing::ElementsAre;
using testing::SizeIs;

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
  candidate.benchmarks.back().identity->unknown = "nobody told";
  const Selection plan = select_benchmarks({{baseline, candidate}});
  EXPECT_THAT(plan.measured, ElementsAre("equal", "failing", "gone", "new", "other", "unknown"));
  EXPECT_EQ(plan.equal, 1u);
  EXPECT_EQ(plan.benchmarks, 5u);
  EXPECT_FALSE(plan.nothing_differs());
}

TEST(Selection, WhatABaselineHasMeasuredAndTheCandidateLacksIsNotMeasured) {
  const baselines::Run baseline = test_run({doing(baselines::test_series("a", {1, 2}), "0f"),
                                            doing(baselines::test_series("gone", {1, 2}), "0f")});
  EXPECT_THAT(select_benchmarks({{baseline, test_run({known("a", "0f")})}}).measured,
              ElementsAre("a"));
}

TEST(Selection, EqualIsWhatIsEqualInEveryComparison) {
  const baselines::Run same = run_of({"a", "b"});
  const Selection plan = select_benchmarks({{same, same}, {same, run_of({"a", "b"}, "b")}});
  EXPECT_EQ(plan.equal, 1u);
  EXPECT_THAT(plan.measured, Contains("b"));
}

TEST(Selection, ControlsAreTheSuitesOwnAndOthersOfAllOperationsAndSizes) {
  const std::string changed = "geglu/fused/bf16/batch:7";
  const Selection plan = select_benchmarks({{run_of(suite()), run_of(suite(), changed)}});
  EXPECT_THAT(plan.measured, SizeIs(kControls + 1));
  EXPECT_EQ(plan.controls, kControls);
  EXPECT_THAT(plan.measured, Contains(changed));
  EXPECT_THAT(plan.measured, Contains("control_copy/memcpy/1"));
  EXPECT_THAT(plan.measured, Contains("control_gemm/cublas/1"));
  std::map<std::string, int> times;
  for (const std::string& name : plan.measured) {
    if (name == changed) continue;
    for (std::size_t at = 0; at != std::string::npos;) {
      const std::size_t end = name.find('/', at);
      ++times[name.substr(at, end == std::string::npos ? end : end - at)];
      at = end == std::string::npos ? end : end + 1;
    }
  }
  for (const char* operation : {"geglu", "geglu_mlp", "linear", "swiglu_mlp"}) {
    EXPECT_GE(times[operation], 5) << operation;
  }
  for (const char* dtype : {"bf16", "fp16"}) EXPECT_GE(times[dtype], 10) << dtype;
  for (int problem = 1; problem <= 15; ++problem) {
    EXPECT_GE(times[fmt::format("batch:{}", problem)], 1) << problem;
  }
}

TEST(Selection, SideBySideFewControlsAreMeasured) {
  const std::string changed = "geglu/fused/bf16/batch:7";
  const Selection plan =
      select_benchmarks({{run_of(suite()), run_of(suite(), changed)}}, ControlUse::kSideBySide);
  EXPECT_THAT(plan.measured, SizeIs(kControlsSideBySide + 1));
  EXPECT_EQ(plan.controls, kControlsSideBySide);
  EXPECT_THAT(plan.measured, Contains(changed));
  EXPECT_THAT(plan.measured, Contains("control_copy/memcpy/1"));
  EXPECT_THAT(plan.measured, Contains("control_gemm/cublas/1"));
  EXPECT_TRUE(plan.few_differ());
}

TEST(Selection, SideBySideControlsGoByEarlierFigures) {
  const std::vector<std::string> names = suite();
  baselines::Run earlier = run_of(names);
  for (auto& series : earlier.benchmarks) {
    const bool is_cheap = series.name.find("swiglu_mlp/fused/fp16") == 0;
    series.counters = {{"flops", 1e9}, {"min_bytes", is_cheap ? 1e6 : 1e7}};
  }
  const ComparedRuns runs{run_of(names), run_of(names, "geglu/fused/bf16/batch:7"), earlier};
  const Selection plan = select_benchmarks({runs}, ControlUse::kSideBySide);
  EXPECT_EQ(std::ranges::count_if(
                plan.measured,
                [](const std::string& name) { return name.starts_with("swiglu_mlp/fused/fp16"); }),
            3)
      << "half of them: they are one kind, and those that the suite declares of the other";
}

TEST(Selection, FewDifferUpToALimit) {
  Selection plan;
  plan.controls = 1;
  plan.measured.resize(1 + kFewDiffering);
  EXPECT_TRUE(plan.few_differ());
  plan.measured.emplace_back();
  EXPECT_FALSE(plan.few_differ());
}

TEST(Selection, SaysWhatItMeasures) {
  const auto text = [](std::vector<std::string> measured, std::size_t benchmarks, std::size_t equal,
                       std::size_t controls) {
    return selection_text({std::move(measured), benchmarks, equal, controls});
  };
  const std::vector<std::string> four{"a", "b", "c", "d"};
  EXPECT_EQ(
      text(four, 104, 103, 3),
      "103 of 104 benchmarks do equal work: measuring the other 1, and 3 of the equal ones as "
      "controls");
  EXPECT_EQ(text(four, 104, 104, 4),
            "104 of 104 benchmarks do equal work: measuring 4 of them as controls");
  EXPECT_EQ(text({}, 104, 104, 24), "104 of 104 benchmarks do equal work: nothing is measured");
  EXPECT_EQ(text(four, 4, 3, 3), "3 of 4 benchmarks do equal work: measuring all");
}

}  // namespace
}  // namespace fusegate::ci
