#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "baselines/io/error.h"
#include "baselines/launches/kernel_profile.h"
#include "baselines/launches/test_profile.h"
#include "baselines/record/baseline.h"
#include "baselines/record/run_file.h"
#include "baselines/record/run_merger.h"
#include "baselines/record/test_run.h"

namespace fusegate::baselines {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

KernelProfile read(const json& profile) {
  return kernel_profile(parse_call_profile(JsonField(profile, "1.json", "profile")));
}

TEST(KernelProfile, HasKernelsInOrderOfStartAndWhatLiesBetween) {
  json profile = test_profile_json({{"a", "gate_proj", 100, 7}, {"b", "gelu", 50, 3}});
  std::swap(profile["kernels"][0], profile["kernels"][1]);
  const KernelProfile read_profile = read(profile);
  ASSERT_EQ(read_profile.kernels.size(), 2u);
  EXPECT_EQ(read_profile.kernels[0].name, "a");
  EXPECT_EQ(read_profile.kernels[0].stage, "gate_proj");
  EXPECT_EQ(read_profile.kernels[0].gap_ns, 0);
  EXPECT_EQ(read_profile.kernels[1].duration_ns, 50);
  EXPECT_EQ(read_profile.kernels[1].gap_ns, 3);
  EXPECT_THAT(read_profile.gaps_ns, ElementsAre(3));
  EXPECT_THAT(read_profile.leads_ns, ElementsAre(7));
}

TEST(KernelProfile, CountsMemoryOperationsAsWork) {
  const KernelProfile profile =
      read(test_profile_json({{"a", "", 100}, {"", "", 40, 3}, {"b", "", 50, 4}}));
  EXPECT_EQ(profile.memory_operations, 1);
  EXPECT_EQ(profile.memory_ns, 40);
  EXPECT_EQ(profile.kernels[1].gap_ns, 7);
  EXPECT_THAT(profile.gaps_ns, ElementsAre(7));
}

TEST(KernelProfile, AKernelThatStartsEarlyHasAGapBelowZero) {
  const KernelProfile profile = read(test_profile_json({{"a", "", 100}, {"b", "", 50, -5}}));
  EXPECT_EQ(profile.kernels[1].gap_ns, -5);
}

TEST(KernelProfile, NamesFileAndField) {
  const auto expect_error = [](const char* path, const json& value, const std::string& message) {
    json profile = test_profile_json({{"a", "gelu", 100}, {"", "", 40}});
    profile[json::json_pointer(path)] = value;
    EXPECT_THAT([&] { read(profile); },
                ThrowsMessage<InputError>(HasSubstr("1.json: profile" + message)));
  };
  expect_error("", json::array(), ": must be an object");
  expect_error("/kernels", nullptr, ".kernels: is missing");
  expect_error("/kernels", "none", ".kernels: must be an array");
  expect_error("/kernels/0/name", 1, ".kernels[0].name: must be a string");
  expect_error("/kernels/0/stage", 1, ".kernels[0].stage: must be a string");
  expect_error("/kernels/0/duration_ns", "long", ".kernels[0].duration_ns: must be a number");
  expect_error("/kernels/0/duration_ns", -1, ".kernels[0].duration_ns: must not be negative");
  expect_error("/kernels/0/duration_ns", 1e300, ".kernels[0].duration_ns: is too large");
  expect_error("/kernels/0/start_ns", nullptr, ".kernels[0].start_ns: is missing");
  expect_error("/memory_operations/0/kind", nullptr, ".memory_operations[0].kind: is missing");
  expect_error("/memory_operations", 0, ".memory_operations: must be an array");
}

TEST(MergeProfiles, TakesMediansOverProcesses) {
  const KernelProfile merged = merge_profiles({read(test_profile_json({{"a", "s", 100, 1}})),
                                               read(test_profile_json({{"a", "s", 120, 2}})),
                                               read(test_profile_json({{"a", "s", 90, 3}}))});
  ASSERT_EQ(merged.kernels.size(), 1u);
  EXPECT_EQ(merged.kernels[0].duration_ns, 100);
  EXPECT_THAT(merged.leads_ns, ElementsAre(1, 2, 3));
  EXPECT_EQ(merged.processes, 3);
}

TEST(MergeProfiles, KeepsTheKernelsThatMostProcessesLaunched) {
  const KernelProfile merged = merge_profiles({read(test_profile_json({{"other", "s", 1}})),
                                               read(test_profile_json({{"a", "s", 100}})),
                                               read(test_profile_json({{"a", "s", 200}}))});
  EXPECT_EQ(merged.kernels[0].name, "a");
  EXPECT_EQ(merged.kernels[0].duration_ns, 150);
  EXPECT_EQ(merged.gaps_ns.size(), 2u);
  EXPECT_EQ(merged.processes, 3);
}

TEST(StoredProfile, ReadsBackWhatWasStored) {
  const KernelProfile profile =
      test_profile({{"a", "gelu", 100.25}, {"", "", 40}, {"b", "mul", 50}});
  const json stored = stored_profile_json(profile);
  const KernelProfile back = read_stored_profile(JsonField(stored, "b.json", "profile"));
  EXPECT_EQ(back.kernels[0].duration_ns, 100.3);
  EXPECT_EQ(back.kernels[1].name, "b");
  EXPECT_EQ(back.kernels[1].stage, "mul");
  EXPECT_EQ(back.kernels[1].gap_ns, profile.kernels[1].gap_ns);
  EXPECT_EQ(back.memory_operations, 1);
  EXPECT_EQ(back.memory_ns, 40);
  EXPECT_EQ(back.gaps_ns, profile.gaps_ns);
  EXPECT_EQ(back.leads_ns, profile.leads_ns);
  EXPECT_EQ(back.processes, 5);
}

TEST(StoredProfile, ReadsBackTheLargestNumber) {
  json stored = stored_profile_json(test_profile({{"a", "gelu", 100}}));
  stored["kernels"][0]["duration_ns"] = std::numeric_limits<double>::max();
  const KernelProfile profile = read_stored_profile(JsonField(stored, "b.json", "profile"));
  EXPECT_EQ(stored_profile_json(profile), stored);
}

TEST(StoredProfile, NamesFileAndField) {
  const auto expect_error = [](const char* path, const json& value, const std::string& message) {
    json stored = stored_profile_json(test_profile({{"a", "gelu", 100}}));
    stored[json::json_pointer(path)] = value;
    EXPECT_THAT([&] { read_stored_profile(JsonField(stored, "b.json", "profile")); },
                ThrowsMessage<InputError>(HasSubstr("b.json: profile" + message)));
  };
  expect_error("/kernels/0/name", nullptr, ".kernels[0].name: is missing");
  expect_error("/kernels/0/gap_ns", "x", ".kernels[0].gap_ns: must be a number");
  expect_error("/memory_operations", json::array(), ".memory_operations: must be");
  expect_error("/gaps_ns", json::array(), ".gaps_ns: must not be empty");
  expect_error("/leads_ns", json::array(), ".leads_ns: must have as many elements as gaps_ns");
}

// From the run file, over the run, into the baseline and back.
TEST(Profile, ReachesTheBaseline) {
  const auto file_text = [](double duration_ns) {
    const json entry{{"name", "a"},
                     {"iterations", 1},
                     {"real_time", 5},
                     {"time_unit", "us"},
                     {"details", {{"profile", test_profile_json({{"k", "s", duration_ns}})}}}};
    return json{{"context", json::object()}, {"benchmarks", {entry}}}.dump();
  };
  RunMerger merger;
  merger.add(parse_run_file(file_text(100), "1.json"), "1.json", {});
  merger.add(parse_run_file(file_text(300), "2.json"), "2.json", {});
  Baseline baseline;
  baseline.run = merger.take();
  const Baseline read_baseline = parse_baseline(baseline_text(baseline), "b.json");
  ASSERT_TRUE(read_baseline.run.benchmarks[0].profile.has_value());
  EXPECT_EQ(read_baseline.run.benchmarks[0].profile->kernels[0].duration_ns, 200);
}

TEST(Profile, IsAbsentWhereNothingWasProfiled) {
  Baseline baseline;
  baseline.run = test_run({test_series("a", {1000, 1001})});
  const std::string text = baseline_text(baseline);
  EXPECT_EQ(text.find("profile"), std::string::npos);
  EXPECT_FALSE(parse_baseline(text, "b.json").run.benchmarks[0].profile.has_value());
}

}  // namespace
}  // namespace fusegate::baselines
