// What becomes of a GPU while it is measured, by a fake NVML.
#include "bench/machine/environment_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "bench/machine/fake_nvml.h"

namespace fusegate::bench {
namespace {

using baselines::Warning;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A GPU by its name and id alone.
class NamedGpu : public kernels::Device {
 public:
  std::string_view kind() const override { return "cuda"; }
  std::string name() const override { return "NVIDIA H200"; }
  std::string uuid() const override { return "GPU-11112222"; }
  std::map<std::string, std::string> versions() const override { return {}; }
  std::size_t available_bytes() const override { return 0; }
  kernels::Memory allocate(std::size_t) override { throw kernels::DeviceError("no memory"); }
  bool lay_out(std::uint64_t) override { return false; }
  void fill(const kernels::Tensor&, const kernels::Fill&, std::uint64_t) override {}
  void copy_to_device(std::span<const std::byte>, void*) override {}
  std::uint64_t digest(const kernels::Tensor&) override { return 0; }
  void poison(const kernels::Tensor&) override {}
  void copy(const void*, void*, std::size_t) override {}
  void copy_to_host(const void*, std::span<std::byte>) override {}
  void synchronize() override {}
  kernels::ReferenceMath& reference_math() override { throw kernels::DeviceError("no math"); }
};

class EnvironmentProbeTest : public testing::Test {
 protected:
  // What a process notes that looks once more when this has come.
  std::set<Warning> after(const char* script, const char* before = "") {
    fusegate_fake_nvml_pretend(before);
    probe_.emplace(gpu_);
    at_start_ = noted();
    fusegate_fake_nvml_pretend(script);
    probe_->probe();
    return noted();
  }
  // Without what a build notes of itself.
  std::set<Warning> noted() const {
    std::set<Warning> warnings = probe_->warnings();
    warnings.erase(Warning::kDebugLibrary);
    warnings.erase(Warning::kDirtyTree);
    return warnings;
  }

  NamedGpu gpu_;
  std::optional<EnvironmentProbe> probe_;
  std::set<Warning> at_start_;
};

TEST_F(EnvironmentProbeTest, NotesNothingWhereNothingHappens) {
  EXPECT_THAT(after("energy_mj=1000500,temperature_c=60,sm_clock_mhz=1500"), IsEmpty());
  const baselines::Environment environment = probe_->environment();
  EXPECT_EQ(environment.at("power_limit_w"), 700);
  EXPECT_EQ(environment.at("mig"), false);
}

TEST_F(EnvironmentProbeTest, NamesTheMachineThatHostTimesAreOf) {
  after("");
  const nlohmann::json machine = probe_->machine();
  EXPECT_NE(machine.at("host"), "");
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::stringstream text;
  text << cpuinfo.rdbuf();
  const bool is_named = text.str().find("model name") != std::string::npos;
  ASSERT_EQ(machine.contains("cpu"), is_named);
  if (is_named) {
    EXPECT_THAT(text.str(), HasSubstr(": " + machine.at("cpu").get<std::string>() + "\n"));
  }
}

TEST_F(EnvironmentProbeTest, NotesWhatSomebodyChanged) {
  for (const char* change : {"power_limit_mw=500000", "application_clock_mhz=1500", "ecc=0",
                             "mig=1", "max_sm_clock_mhz=1500", "clock_reasons=2"}) {
    EXPECT_THAT(after(change), ElementsAre(Warning::kLimitsChanged)) << change;
    EXPECT_THAT(at_start_, IsEmpty());
    EXPECT_EQ(probe_->environment().at("power_limit_w"), 700) << "as it was at the start";
  }
}

TEST_F(EnvironmentProbeTest, ClocksThatAreHeldAllTheTimeAreNoChange) {
  EXPECT_THAT(after("clock_reasons=2", "clock_reasons=2"), IsEmpty());
  EXPECT_THAT(after("clock_reasons=2", "clock_reasons=1"), IsEmpty()) << "idle at first";
}

TEST_F(EnvironmentProbeTest, NotesThatTheGpuIsGoneOrWasReset) {
  EXPECT_THAT(after("lost=1"), ElementsAre(Warning::kGpuLost));
  EXPECT_THAT(after("mute=1"), ElementsAre(Warning::kGpuLost));
  EXPECT_THAT(after("energy_mj=10"), ElementsAre(Warning::kGpuLost)) << "counters began anew";
  EXPECT_THAT(after("", "lost=1"), ElementsAre(Warning::kNvmlMissing)) << "never seen";
}

TEST_F(EnvironmentProbeTest, NotesErrorsOfTheCard) {
  EXPECT_THAT(after("corrected=5", "corrected=4"), ElementsAre(Warning::kEccErrors));
  EXPECT_THAT(after("uncorrected=1"), ElementsAre(Warning::kEccErrors));
  EXPECT_THAT(after("corrected=4", "corrected=4"), IsEmpty()) << "counted before this process";
  EXPECT_THAT(after("xid=31"), ElementsAre(Warning::kXid));
  EXPECT_THAT(probe_->xids(), ElementsAre(31u));
}

TEST_F(EnvironmentProbeTest, NotesOtherProcessesAndSlowdowns) {
  EXPECT_THAT(after("processes=2"), ElementsAre(Warning::kOtherGpuProcess));
  EXPECT_THAT(after("clock_reasons=64"), ElementsAre(Warning::kThrottled));
  EXPECT_THAT(probe_->throttle_reasons(), ElementsAre("hw_thermal_slowdown"));
  EXPECT_THAT(after("clock_reasons=4"), IsEmpty()) << "a power cap is the usual state";
}

TEST_F(EnvironmentProbeTest, KnowsASliceByTheIdThatCudaGivesIt) {
  const std::set<Warning> warnings = after("slice=1,mig=1", "slice=1,mig=1");
  EXPECT_THAT(warnings, ElementsAre(Warning::kMigSlice));
  EXPECT_EQ(probe_->environment().at("mig"), true);
}

}  // namespace
}  // namespace fusegate::bench
