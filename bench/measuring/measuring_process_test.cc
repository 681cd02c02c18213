// The process without Google Benchmark, through a meter that keeps its own time.
#include "bench/measuring/measuring_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/scratch_folder.h"
#include "bench/meters/fake_meter.h"
#include "kernels/onednn/cpu_device.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::bench {
namespace {

class MeasuringProcessTest : public testing::Test {
 protected:
  MeasuringProcessTest() {
    wrong_.name = "wrong";
    wrong_.prepare = [](kernels::Device&, const kernels::Problem&, std::span<const kernels::Tensor>,
                        const kernels::Tensor&) { return kernels::PreparedKernel{}; };
    const kernels::Problem problem = kernels::ladder_problem(1, 4, 1, 16, kernels::Dtype::kFp32);
    plan_.benchmarks = {{&wrong_, problem}, {&right_, problem}};
    options_.info.protocol = {.samples = 5, .idle = std::chrono::nanoseconds(0), .layouts = 2};
    options_.out = folder_.path() / "1.json";
  }

  // Every benchmark checked and ready to be measured.
  std::unique_ptr<MeasuringProcess> start() {
    auto process = std::make_unique<MeasuringProcess>(*device_, meter_, plan_, probe_, options_);
    for (std::size_t i = 0; i < plan_.benchmarks.size(); ++i) process->recorder().select(i);
    process->start({});
    return process;
  }

  static void measure_layout(MeasuringProcess& process, std::size_t benchmark) {
    const auto layout = process.enter(benchmark);
    EXPECT_GT(process.take_samples(benchmark, *layout), 0);
    process.record(benchmark, layout->record);
  }

  std::unique_ptr<kernels::Device> device_ = kernels::open_device("cpu");
  EnvironmentProbe probe_{*device_};
  FakeMeter meter_{100'000};
  kernels::Implementation right_ = kernels::find_implementation("geglu", "fused", "cpu"),
                          wrong_ = right_;
  Plan plan_;
  baselines::ScratchFolder folder_;
  ProcessOptions options_;
};

TEST_F(MeasuringProcessTest, ChecksEverythingBeforeAnythingIsTimed) {
  const auto process = start();
  EXPECT_EQ(meter_.records, 0);
  EXPECT_TRUE(process->recorder().has_failed(0));
  EXPECT_FALSE(process->recorder().is_complete(1));
  EXPECT_THROW(process->enter(0), std::runtime_error) << "asked for all the same";
}

TEST_F(MeasuringProcessTest, MeasuresLayoutByLayout) {
  const auto process = start();
  measure_layout(*process, 1);
  EXPECT_FALSE(process->recorder().is_complete(1));
  EXPECT_EQ(process->calls_per_layout(1) % 3, 0) << "two samples, then three";
  measure_layout(*process, 1);
  EXPECT_TRUE(process->recorder().is_everything_complete());
  EXPECT_EQ(process->finish(), Outcome::kFailures);
  const baselines::RunFile file = baselines::read_run_file(*options_.out);
  ASSERT_EQ(file.benchmarks.size(), 2u);
  EXPECT_THAT(file.benchmarks[0].failure, testing::HasSubstr("wrong result"));
  EXPECT_EQ(file.benchmarks[1].summary.samples, 5);
  EXPECT_EQ(file.benchmarks[1].counters.at("host_ns"), 42);
}

TEST_F(MeasuringProcessTest, LeavesOutTheEnergyWhereNothingCountsIt) {
  options_.energy = std::chrono::milliseconds(1);
  const auto process = start();
  for (int layout = 0; layout < 2; ++layout) measure_layout(*process, 1);
  EXPECT_EQ(process->finish(), Outcome::kFailures);
  const baselines::RunFile file = baselines::read_run_file(*options_.out);
  EXPECT_FALSE(file.benchmarks[1].counters.contains(baselines::kEnergyPerCall));
}

baselines::CallProfile profile_of_one_kernel() {
  baselines::CallProfile profile;
  profile.kernels.push_back(
      {.name = "gelu_mul", .span = {.stage = "gelu_mul", .duration_ns = 2e3}});
  return profile;
}

// Two benchmarks, both right, measured to their end.
class ProfileTest : public MeasuringProcessTest {
 protected:
  ProfileTest() {
    wrong_ = right_;
    wrong_.name = "right_too";
  }

  Outcome measure_all() {
    const auto process = start();
    for (const std::size_t benchmark : {0u, 1u, 1u, 0u}) {
      EXPECT_EQ(meter_.profiles, 0) << "nothing may be timed after a profile";
      measure_layout(*process, benchmark);
    }
    return process->finish();
  }
  nlohmann::json entries() const {
    return nlohmann::json::parse(baselines::read_file(*options_.out)).at("benchmarks");
  }
};

TEST_F(ProfileTest, IsTakenOfEveryBenchmarkAfterTheLastSample) {
  meter_.attempt.profile = profile_of_one_kernel();
  EXPECT_EQ(measure_all(), Outcome::kComplete);
  EXPECT_EQ(meter_.profiles, 2);
  int found = 0;
  for (const auto& entry : entries()) {
    const auto details = entry.value("details", nlohmann::json::object());
    if (!details.contains("profile")) continue;
    ++found;
    EXPECT_EQ(entry.at("repetition_index"), 0);
    EXPECT_TRUE(details.contains("stages")) << "what the entry had is kept";
    EXPECT_EQ(details.at("profile"), baselines::call_profile_json(profile_of_one_kernel()));
  }
  EXPECT_EQ(found, 2);
}

TEST_F(ProfileTest, IsHeldAgainstWhatTheImplementationDeclares) {
  right_.expects = {{.stages = {{.name = "geglu", .kernels = {{"GeGLU", "gelu_mul"}}}}}};
  meter_.attempt.profile = profile_of_one_kernel();
  measure_all();
  std::vector<baselines::TraceExpectation> found;
  for (const baselines::BenchmarkResult& result :
       baselines::read_run_file(*options_.out).benchmarks) {
    if (result.expectation) found.push_back(*result.expectation);
  }
  ASSERT_EQ(found.size(), 1u) << "the other declares nothing";
  EXPECT_FALSE(found[0].met()) << "it has other stages";
}

TEST_F(ProfileTest, IsNotTakenWhereNobodyAsksForIt) {
  options_.profile = false;
  measure_all();
  EXPECT_EQ(meter_.profiles, 0);
}

TEST_F(ProfileTest, IsWrittenWithWhatABenchmarkTook) {
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  options_.info.protocol.idle = std::chrono::milliseconds(2);
  const Seconds idle = 5 * options_.info.protocol.idle;  // of five samples
  for (const bool is_taken : {true, false}) {
    options_.profile = is_taken;
    options_.out = folder_.path() / (is_taken ? "with.json" : "without.json");
    const auto begin = Clock::now();
    measure_all();
    const Seconds whole = Clock::now() - begin;
    double sum_s = 0;
    for (const auto& result : baselines::read_run_file(*options_.out).benchmarks) {
      const double elapsed_s = result.counters.at(baselines::kElapsed);
      EXPECT_GE(elapsed_s, idle.count()) << result.name;
      sum_s += elapsed_s;
    }
    EXPECT_LE(sum_s, whole.count());
    meter_.profiles = 0;
  }
}

TEST_F(ProfileTest, IsARecordedWarningWhereTheProfilerIsRefused) {
  meter_.attempt.warning = baselines::Warning::kProfilerRefused;
  EXPECT_EQ(measure_all(), Outcome::kComplete);
  EXPECT_EQ(meter_.profiles, 1) << "the others would be refused too";
  const baselines::RunFile file = baselines::read_run_file(*options_.out);
  EXPECT_THAT(file.warnings, testing::Contains(baselines::Warning::kProfilerRefused));
  EXPECT_EQ(file.benchmarks.at(1).summary.samples, 5);
}

TEST_F(ProfileTest, OfOneBenchmarkThatFailsCostsNoOther) {
  meter_.attempt.warning = baselines::Warning::kProfileFailed;
  EXPECT_EQ(measure_all(), Outcome::kComplete);
  EXPECT_EQ(meter_.profiles, 2);
  EXPECT_THAT(baselines::read_run_file(*options_.out).warnings,
              testing::Contains(baselines::Warning::kProfileFailed));
}

TEST_F(MeasuringProcessTest, SpinsOnlyWhereTheMeterCan) {
  options_.info.protocol.spin = std::chrono::microseconds(100);
  options_.info.suite = "mine";
  const auto process = start();
  measure_layout(*process, 1);
  EXPECT_EQ(meter_.last_options.spin, std::chrono::microseconds(100));
  meter_.spins = false;
  EXPECT_THAT([&] { start(); }, testing::ThrowsMessage<baselines::InputError>(
                                    testing::HasSubstr("mine: protocol.spin_us: ")));
}

// A device with numbered layouts, and one without.
class LayoutDevice : public kernels::CpuDevice {
 public:
  bool lay_out(std::uint64_t number) override {
    numbers.push_back(number);
    return true;
  }
  std::vector<std::uint64_t> numbers;
};

TEST(ChooseLayout, IsNumberedWhereTheDeviceCan) {
  LayoutDevice device;
  ProcessInfo info;
  choose_layout_kind(device, info);
  EXPECT_EQ(info.protocol.layout_kind, LayoutKind::kNumbered);
  info.protocol.layout_kind = LayoutKind::kDriver;
  device.numbers.clear();
  choose_layout_kind(device, info);
  EXPECT_EQ(info.protocol.layout_kind, LayoutKind::kDriver);
  EXPECT_TRUE(device.numbers.empty()) << "it is left alone";
}

TEST(ChooseLayout, IsTheDriversElsewhere) {
  kernels::CpuDevice device;
  ProcessInfo info;
  choose_layout_kind(device, info);
  EXPECT_EQ(info.protocol.layout_kind, LayoutKind::kDriver);
  info.protocol.layout_kind = LayoutKind::kNumbered;
  EXPECT_THROW(choose_layout_kind(device, info), baselines::InputError);
}

}  // namespace
}  // namespace fusegate::bench
