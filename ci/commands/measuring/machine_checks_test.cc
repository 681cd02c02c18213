#include "ci/commands/measuring/machine_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "baselines/io/error.h"

namespace fusegate::ci {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Check* find_check(const std::vector<Check>& checks, const std::string& name) {
  const auto found = std::ranges::find(checks, name, &Check::name);
  return found == checks.end() ? nullptr : &*found;
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

TEST(NoProgram, IsAWarningThatSaysHowToNameOne) {
  EXPECT_EQ(warnings({no_program_check()}), std::vector<std::string>{"benchmark program"});
  EXPECT_THAT(no_program_check().advice, HasSubstr("--program"));
}

TEST(CheckDevice, FindsNothingAtAQuietGpu) {
  const auto checks = check_device({true, "NVIDIA H200", true, {}});
  EXPECT_THAT(warnings(checks), IsEmpty());
  EXPECT_EQ(find_check(checks, "GPU")->finding, "NVIDIA H200");
}

TEST(CheckDevice, WarnsOfEverythingThatSpoilsAGpusTimes) {
  const auto checks =
      check_device({true,
                    "NVIDIA H200",
                    false,
                    {baselines::Warning::kOtherGpuProcess, baselines::Warning::kThrottled,
                     baselines::Warning::kUnlockedClocks, baselines::Warning::kDebugLibrary,
                     baselines::Warning::kDirtyTree}});
  EXPECT_THAT(warnings(checks), ElementsAre("other GPU processes", "throttling", "clocks",
                                            "persistence mode", "build", "source tree"));
}

TEST(CheckDevice, ShowsWhatAnAdministratorSets) {
  DeviceFacts device{true, "NVIDIA H200", true, {}, true, false, 700.0};
  auto checks = check_device(device);
  EXPECT_THAT(warnings(checks), IsEmpty());
  EXPECT_EQ(find_check(checks, "power limit")->finding, "700 W");
  EXPECT_EQ(find_check(checks, "ECC")->finding, "on");
  EXPECT_EQ(find_check(checks, "MIG")->finding, "off");
  device.mig = true;
  device.warnings = {baselines::Warning::kMigSlice};
  checks = check_device(device);
  EXPECT_THAT(warnings(checks), ElementsAre("MIG"));
  EXPECT_THAT(find_check(checks, "MIG")->finding, HasSubstr("slice of a GPU"));
}

TEST(CheckDevice, DoesNotClaimWhatNobodyChecked) {
  const auto checks =
      check_device({true, "NVIDIA H200", std::nullopt, {baselines::Warning::kNvmlMissing}});
  EXPECT_THAT(warnings(checks), ElementsAre("NVML"));
  EXPECT_EQ(find_check(checks, "throttling"), nullptr);
  EXPECT_EQ(find_check(checks, "other GPU processes"), nullptr);
  for (const char* unknown : {"power limit", "ECC", "MIG"}) {
    EXPECT_EQ(find_check(checks, unknown), nullptr) << unknown;
  }
}

TEST(CheckDevice, SaysThatThereIsNoGpu) {
  const auto checks = check_device({false, "Some CPU", std::nullopt, {}});
  EXPECT_THAT(warnings(checks), ElementsAre("GPU"));
  EXPECT_THAT(find_check(checks, "GPU")->finding, HasSubstr("Some CPU"));
}

// What is warned of on a host that is good but for that.
std::vector<std::string> warnings_of(const std::function<void(HostFacts&)>& spoil,
                                     bool has_gpu = true) {
  HostFacts host{0.1, 4, {"performance"}, std::uintmax_t{100} << 30, true, true, true, false};
  spoil(host);
  return warnings(check_host(host, has_gpu));
}

TEST(CheckHost, WarnsOfEachFact) {
  EXPECT_THAT(warnings_of([](HostFacts&) {}), IsEmpty());
  EXPECT_THAT(warnings_of([](HostFacts& host) { host.load = 2.5; }), ElementsAre("host load"));
  EXPECT_THAT(warnings_of([](HostFacts& host) { host.governors.insert("powersave"); }),
              ElementsAre("CPU governor"));
  EXPECT_THAT(warnings_of([](HostFacts& host) { host.free_bytes = 1'000'000; }),
              ElementsAre("disk"));
  const auto mps = [](HostFacts& host) { host.has_mps = true; };
  EXPECT_THAT(warnings_of(mps), ElementsAre("MPS"));
  EXPECT_THAT(warnings_of(mps, false), IsEmpty());
  const auto no_tools = [](HostFacts& host) {
    host.has_git = host.has_nvidia_smi = host.has_ncu = false;
  };
  EXPECT_THAT(warnings_of(no_tools), ElementsAre("git", "nvidia-smi", "ncu"));
  EXPECT_THAT(warnings_of(no_tools, false), ElementsAre("git"));
}

TEST(ParseDeviceFacts, ReadsWhatTheProgramPrints) {
  const DeviceFacts facts = parse_device_facts("bench", nlohmann::json::parse(R"({
      "device_kind": "cuda", "environment": {"device": "NVIDIA H200", "ecc": true, "mig": false, "power_limit_w": 650.5},
      "machine": {"persistence": false}, "warnings": ["throttled"]})"));
  EXPECT_TRUE(facts.is_gpu);
  EXPECT_EQ(facts.device, "NVIDIA H200");
  EXPECT_EQ(facts.persistence, false);
  EXPECT_EQ(facts.ecc, true);
  EXPECT_EQ(facts.mig, false);
  EXPECT_EQ(facts.power_limit_w, 650.5);
  EXPECT_THAT(facts.warnings, ElementsAre(baselines::Warning::kThrottled));
}

TEST(ParseDeviceFacts, NamesTheFieldThatIsWrong) {
  for (const auto& [text, problem] : std::vector<std::pair<std::string, std::string>>{
           {"[]", "bench: --environment"},
           {R"({"environment": {}, "warnings": []})", "device_kind"},
           {R"({"device_kind": "cpu", "warnings": []})", "environment"},
           {R"({"device_kind": "cpu", "environment": {}, "warnings": ["odd"]})", "odd"}}) {
    EXPECT_THAT([&] { parse_device_facts("bench", nlohmann::json::parse(text)); },
                ::testing::ThrowsMessage<baselines::InputError>(HasSubstr(problem)));
  }
}

}  // namespace
}  // namespace fusegate::ci
