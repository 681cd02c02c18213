// Which benchmarks are controls, by what files declare and by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"
#include "baselines/io/scratch_folder.h"
#include "baselines/record/baseline.h"
#include "baselines/record/load_run.h"
#include "baselines/record/test_run.h"

namespace fusegate::baselines {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

const json kProtocol{{"samples", 48}, {"idle_ns", 3'000'000}};

// Of fusegate_bench, from before there were lists of controls.
json context() { return {{"fusegate", {{"suite", "pr"}, {"protocol", kProtocol}}}}; }

json context_naming(const std::vector<std::string>& controls) {
  json with = context();
  with["fusegate"]["controls"] = controls;
  return with;
}

std::string run_text(const json& context, const std::vector<std::string>& names) {
  json entries = json::array();
  for (const std::string& name : names) {
    entries.push_back({{"name", name},
                       {"run_type", "iteration"},
                       {"iterations", 1},
                       {"real_time", 1000.0},
                       {"time_unit", "ns"}});
  }
  return json{{"context", context}, {"benchmarks", entries}}.dump();
}

class ControlsTest : public testing::Test {
 protected:
  std::vector<std::string> controls_in(const std::string& folder) {
    return controls_of(load_run({folder_.path() / folder}));
  }

  ScratchFolder folder_;
  const std::vector<std::string> names_{"control_copy/memcpy/bf16/batch:8", "control_gemm2/a",
                                        "controlnet/forward", "linear/addmm"};
};

TEST_F(ControlsTest, AreThoseThatTheRunFileNames) {
  folder_.write("run/1.json", run_text(context_naming({"linear/addmm", "absent"}), names_));
  EXPECT_THAT(controls_in("run"), ElementsAre("linear/addmm"));
  folder_.write("none/1.json", run_text(context_naming({}), names_));
  EXPECT_THAT(controls_in("none"), IsEmpty()) << "control_copy too must be named";
}

TEST_F(ControlsTest, OfFilesOlderThanTheListAreTheTwoOperationsOfThen) {
  folder_.write("run/1.json", run_text(context(), names_));
  EXPECT_THAT(controls_in("run"), ElementsAre("control_copy/memcpy/bf16/batch:8"));
}

TEST_F(ControlsTest, OtherProgramsHaveNone) {
  folder_.write("run/1.json", run_text({{"device", "NVIDIA H200"}}, names_));
  EXPECT_THAT(controls_in("run"), IsEmpty());
  json of_tool = context();
  of_tool["fusegate"]["protocol"] = {{"tool", "nvbench"}};
  folder_.write("tool/1.json", run_text(of_tool, names_));
  EXPECT_THAT(controls_in("tool"), IsEmpty());
}

TEST_F(ControlsTest, EveryProcessMustSaySo) {
  folder_.write("run/1.json", run_text(context_naming({"linear/addmm"}), names_));
  folder_.write("run/2.json",
                run_text(context_naming({"linear/addmm", "controlnet/forward"}), names_));
  EXPECT_THAT(controls_in("run"), ElementsAre("linear/addmm"));
}

TEST_F(ControlsTest, AreKnownBeforeAnythingIsMeasured) {
  json identities{
      {"fusegate_identities", 1},
      {"fusegate", context_naming({"a"})["fusegate"]},
      {"benchmarks", {{"a", {{"unknown", "?"}}}, {"control_copy/b", {{"unknown", "?"}}}}},
      {"choices", json::object()},
      {"failures", json::object()}};
  folder_.write("run/identities.json", identities.dump());
  const fusegate::baselines::Run run = load_run({folder_.path() / "run"});
  EXPECT_TRUE(run.benchmarks.at(0).is_control);
  EXPECT_FALSE(run.benchmarks.at(1).is_control);
  identities["fusegate"] = context()["fusegate"];
  folder_.write("run/identities.json", identities.dump());
  const fusegate::baselines::Run older = load_run({folder_.path() / "run"});
  EXPECT_FALSE(older.benchmarks.at(0).is_control);
  EXPECT_TRUE(older.benchmarks.at(1).is_control);
}

TEST_F(ControlsTest, ABaselineKeepsThem) {
  folder_.write("run/1.json", run_text(context_naming({"linear/addmm"}), names_));
  Baseline baseline{.acceptance = {"w", "2026-11-21T03:00:00Z", "r"},
                    .run = load_run({folder_.path() / "run"})};
  const std::string text = baseline_text(baseline);
  EXPECT_THAT(text, HasSubstr("\n\"controls\": [\"linear/addmm\"],\n"));
  EXPECT_THAT(controls_of(parse_baseline(text, "b.json").run), ElementsAre("linear/addmm"));
  for (BenchmarkSeries& series : baseline.run.benchmarks) series.is_control = false;
  EXPECT_THAT(controls_of(parse_baseline(baseline_text(baseline), "b.json").run), IsEmpty());
}

TEST_F(ControlsTest, OfAnOlderBaselineAreTheTwoOperationsOfThen) {
  folder_.write("run/1.json", run_text(context(), names_));
  json older = json::parse(baseline_text({.acceptance = {"w", "2026-11-21T03:00:00Z", "r"},
                                          .run = load_run({folder_.path() / "run"})}));
  older.erase("controls");
  EXPECT_THAT(controls_of(parse_baseline(older.dump(), "b.json").run),
              ElementsAre("control_copy/memcpy/bf16/batch:8"));
  older["provenance"]["protocol"] = nullptr;  // of a Google Benchmark program
  older["provenance"].erase("protocol");
  EXPECT_THAT(controls_of(parse_baseline(older.dump(), "b.json").run), IsEmpty());
}

TEST_F(ControlsTest, OurStoredBaselinesHaveFour) {
  for (const char* device : {"nvidia-h200", "nvidia-h100-80gb-hbm3"}) {
    const std::string path = std::string(FUSEGATE_STORE) + "/" + device + "/pr.json";
    const auto controls = controls_of(read_baseline(path).run);
    EXPECT_THAT(controls, ElementsAre(HasSubstr("control_copy/memcpy/bf16/batch:64/"),
                                      HasSubstr("control_copy/memcpy/bf16/batch:8/"),
                                      HasSubstr("control_gemm/cublas/bf16/batch:1/"),
                                      HasSubstr("control_gemm/cublas/bf16/batch:64/")))
        << path;
  }
}

TEST_F(ControlsTest, WhatReportsCompareWithReachesRunsAndBaselines) {
  json with = context_naming({});
  folder_.write("run/1.json", run_text(with, names_));
  EXPECT_THAT(load_run({folder_.path() / "run"}).compared_with, IsEmpty());
  with["fusegate"]["compared_with"] = {{"linear", {"a", "b"}}};
  folder_.write("run/2.json", run_text(with, names_));
  const ComparedWith expected{{"linear", {"a", "b"}}};
  Baseline baseline{.acceptance = {"w", "2026-11-21T03:00:00Z", "r"},
                    .run = load_run({folder_.path() / "run"})};
  EXPECT_EQ(baseline.run.compared_with, expected);
  EXPECT_EQ(parse_baseline(baseline_text(baseline), "b.json").run.compared_with, expected);
  with["fusegate"]["compared_with"] = {{"linear", "a"}};
  folder_.write("1.json", run_text(with, names_));
  EXPECT_THAT([&] { load_run({folder_.path() / "1.json"}); },
              ThrowsMessage<InputError>(
                  HasSubstr("1.json: context.fusegate.compared_with.linear: must be an array")));
}

TEST_F(ControlsTest, NamesTheFieldThatIsNoList) {
  folder_.write("1.json", run_text({{"fusegate", {{"controls", "a"}}}}, names_));
  EXPECT_THAT(
      [&] { load_run({folder_.path() / "1.json"}); },
      ThrowsMessage<InputError>(HasSubstr("1.json: context.fusegate.controls: must be an array")));
  folder_.write("1.json", run_text({{"fusegate", {{"controls", {1}}}}}, names_));
  EXPECT_THAT([&] { load_run({folder_.path() / "1.json"}); },
              ThrowsMessage<InputError>(
                  HasSubstr("1.json: context.fusegate.controls[0]: must be a string")));
}

TEST(NameControls, MarksWhatFits) {
  fusegate::baselines::Run run = test_run(
      {test_series("BM_copy/8", {1}), test_series("BM_gemm/8", {1}), test_series("BM_new/8", {1})});
  name_controls({"copy/", "^BM_new", "^absent"}, run);
  EXPECT_THAT(controls_of(run), ElementsAre("BM_copy/8", "BM_new/8"));
}

TEST(NameControls, NamesThePatternThatIsNone) {
  fusegate::baselines::Run run = test_run({});
  EXPECT_THAT(
      [&] { name_controls({"copy["}, run); },
      ThrowsMessage<InputError>(HasSubstr("--control: \"copy[\" is not a regular expression")));
}

TEST(RequireFitting, NamesThePatternThatFitsNothing) {
  const fusegate::baselines::Run baseline = test_run({test_series("BM_copy/8", {1})});
  const fusegate::baselines::Run candidate = test_run({test_series("BM_new/8", {1})});
  require_fitting({"copy", "^BM_new"}, {&baseline, &candidate});
  EXPECT_THAT(
      [&] {
        require_fitting({"copy", "^copy"}, {&baseline, &candidate});
      },
      ThrowsMessage<InputError>(HasSubstr("--control: \"^copy\" matches no benchmark")));
}

}  // namespace
}  // namespace fusegate::baselines
