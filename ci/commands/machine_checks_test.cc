#include "ci/commands/machine_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"

namespace fusegate::ci {
namespace {

using ::testing::HasSubstr;

const Check* find_check(const std::vector<Check>& checks, const std::string& name) {
  for (const Check& check : checks) {
    if (check.name == name) return &check;
  }
  return nullptr;
}

std::vector<std::string> warnings(const std::vector<Check>& checks) {
  std::vector<std::string> names;
  for (const Check& check : checks) {
    if (!check.ok) names.push_back(check.name);
    EXPECT_EQ(check.ok, check.advice.empty()) << check.name;  // every warning says what to do
    EXPECT_FALSE(check.finding.empty()) << check.name;
  }
  return names;
}

HostFacts good_host() {
  return {0.1,  4,    {"performance"}, std::uintmax_t{100} << 30, true, true, true, "python3",
          true, false};
}

TEST(NoProgram, IsAWarningThatSaysHowToNameOne) {
  EXPECT_EQ(warnings({no_program_check()}), std::vector<std::string>{"benchmark program"});
  EXPECT_THAT(no_program_check().advice, ::testing::HasSubstr("--program"));
}

TEST(CheckDevice, FindsNothingAtAQuietGpu) {
  const auto checks = check_device({true, "NVIDIA H200", true, {}});
  EXPECT_THAT(warnings(checks), ::testing::IsEmpty());
  EXPECT_EQ(find_check(checks, "GPU")->finding, "NVIDIA H200");
}

TEST(CheckDevice, WarnsOfEverythingThatSpoilsAGpusTimes) {
  const auto checks =
      check_device({true,
                    "NVIDIA H200",
                    false,
                    {baselines::Doubt::kOtherGpuProcess, baselines::Doubt::kThrottled,
                     baselines::Doubt::kUnlockedClocks, baselines::Doubt::kDebugLibrary,
                     baselines::Doubt::kDirtyTree}});
  EXPECT_THAT(warnings(checks),
              ::testing::ElementsAre("other GPU processes", "throttling", "clocks",
                                     "persistence mode", "build", "source tree"));
}

TEST(CheckDevice, ShowsWhatAnAdministratorSets) {
  DeviceFacts device{true, "NVIDIA H200", true, {}, true, false, 700.0};
  auto checks = check_device(device);
  EXPECT_THAT(warnings(checks), ::testing::IsEmpty());
  EXPECT_EQ(find_check(checks, "power limit")->finding, "700 W");
  EXPECT_EQ(find_check(checks, "ECC")->finding, "on");
  EXPECT_EQ(find_check(checks, "MIG")->finding, "off");
  device.mig = true;
  device.doubts = {baselines::Doubt::kMigSlice};
  checks = check_device(device);
  EXPECT_THAT(warnings(checks), ::testing::ElementsAre("MIG"));
  EXPECT_THAT(find_check(checks, "MIG")->finding, HasSubstr("slice of a GPU"));
}

TEST(CheckDevice, DoesNotClaimWhatNobodyChecked) {
  const auto checks =
      check_device({true, "NVIDIA H200", std::nullopt, {baselines::Doubt::kNvmlMissing}});
  EXPECT_THAT(warnings(checks), ::testing::ElementsAre("NVML"));
  EXPECT_EQ(find_check(checks, "throttling"), nullptr);
  EXPECT_EQ(find_check(checks, "other GPU processes"), nullptr);
  for (const char* unknown : {"power limit", "ECC", "MIG"}) {
    EXPECT_EQ(find_check(checks, unknown), nullptr) << unknown;
  }
}

TEST(CheckDevice, SaysThatThereIsNoGpu) {
  const auto checks = check_device({false, "Some CPU", std::nullopt, {}});
  EXPECT_THAT(warnings(checks), ::testing::ElementsAre("GPU"));
  EXPECT_THAT(find_check(checks, "GPU")->finding, HasSubstr("Some CPU"));
}

TEST(CheckHost, FindsNothingAtAGoodHost) {
  EXPECT_THAT(warnings(check_host(good_host(), true)), ::testing::IsEmpty());
}

TEST(CheckHost, WarnsOfEachFact) {
  HostFacts host = good_host();
  host.load = 2.5;
  EXPECT_THAT(warnings(check_host(host, true)), ::testing::ElementsAre("host load"));
  host = good_host();
  host.governors = {"performance", "powersave"};
  EXPECT_THAT(warnings(check_host(host, true)), ::testing::ElementsAre("CPU governor"));
  host = good_host();
  host.free_bytes = 1'000'000;
  EXPECT_THAT(warnings(check_host(host, true)), ::testing::ElementsAre("disk"));
  host = good_host();
  host.has_python_packages = false;
  EXPECT_THAT(warnings(check_host(host, true)), ::testing::ElementsAre("HTML report"));
  host = good_host();
  host.has_mps = true;
  EXPECT_THAT(warnings(check_host(host, true)), ::testing::ElementsAre("MPS"));
  EXPECT_THAT(warnings(check_host(host, false)), ::testing::IsEmpty());
  host = good_host();
  host.has_git = host.has_nvidia_smi = host.has_ncu = false;
  EXPECT_THAT(warnings(check_host(host, true)), ::testing::ElementsAre("git", "nvidia-smi", "ncu"));
  EXPECT_THAT(warnings(check_host(host, false)), ::testing::ElementsAre("git"));
}

TEST(ParseDeviceFacts, ReadsWhatTheProgramPrints) {
  const DeviceFacts facts = parse_device_facts("bench", nlohmann::json::parse(R"({
      "device_kind": "cuda", "environment": {"device": "NVIDIA H200", "ecc": true, "mig": false, "power_limit_w": 650.5},
      "machine": {"persistence": false}, "doubts": ["throttled"]})"));
  EXPECT_TRUE(facts.is_gpu);
  EXPECT_EQ(facts.device, "NVIDIA H200");
  EXPECT_EQ(facts.persistence, false);
  EXPECT_EQ(facts.ecc, true);
  EXPECT_EQ(facts.mig, false);
  EXPECT_EQ(facts.power_limit_w, 650.5);
  EXPECT_THAT(facts.doubts, ::testing::ElementsAre(baselines::Doubt::kThrottled));
}

TEST(ParseDeviceFacts, NamesTheFieldThatIsWrong) {
  const auto problem_of = [](const char* text) -> std::string {
    try {
      parse_device_facts("bench", nlohmann::json::parse(text));
    } catch (const baselines::InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(problem_of("[]"), HasSubstr("bench: --environment"));
  EXPECT_THAT(problem_of(R"({"environment": {}, "doubts": []})"), HasSubstr("device_kind"));
  EXPECT_THAT(problem_of(R"({"device_kind": "cpu", "doubts": []})"), HasSubstr("environment"));
  EXPECT_THAT(problem_of(R"({"device_kind": "cpu", "environment": {}})"), HasSubstr("doubts"));
  EXPECT_THAT(problem_of(R"({"device_kind": "cpu", "environment": {}, "doubts": ["odd"]})"),
              HasSubstr("odd"));
}

}  // namespace
}  // namespace fusegate::ci
