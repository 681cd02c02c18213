// What CUPTI reports about calls on a GPU, and whether implementations launch what they declare.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/meters/meter_test_fixture.h"
#include "bench/profiling/launch_check.h"
#include "kernels/contract/stage_marks.h"
#include "kernels/cuda/device/cuda.h"

namespace fusegate::bench {
namespace {

class ProfileGpuTest : public MeterTest {
 protected:
  // Nothing where CUPTI cannot be used here, which the test then skips for.
  std::optional<baselines::CallProfile> profile(const Prepared& prepared) {
    ProfileAttempt attempt = meter_->profile(prepared.kernel, prepared.workspace->tensors(), true);
    if (attempt.warning) why_ = baselines::warning_sentence(*attempt.warning);
    EXPECT_NE(attempt.warning, baselines::Warning::kProfileFailed);
    EXPECT_NE(attempt.warning.has_value(), attempt.profile.has_value());
    return attempt.profile;
  }

  // The same from a capture of each stage, which no profiler takes part in. Knows no calls.
  SeenTrace captured(const kernels::PreparedKernel& kernel) {
    SeenTrace trace;
    for (const kernels::Stage& stage : kernel.stages) {
      kernels::PreparedKernel alone;
      alone.stages = {stage};
      SeenStage seen{.name = stage.name, .choice = stage.choice};
      for (const kernels::KernelResources& of : meter_->kernels(stage))
        seen.kernels.push_back(of.name);
      seen.memory_operations = static_cast<int>(meter_->count_launches(alone).memory_operations);
      trace.stages.push_back(std::move(seen));
    }
    return trace;
  }

  void expect_met(const kernels::Implementation& implementation, const SeenTrace& seen) {
    const auto checked = check_trace(implementation, seen);
    ASSERT_TRUE(checked.has_value());
    EXPECT_THAT(baselines::unmet_lines(*checked), testing::IsEmpty());
  }

  std::string why_;
  std::vector<kernels::Memory> own_;
};

TEST_F(ProfileGpuTest, HasTheKernelsOfACallInTheirStages) {
  const Prepared prepared = prepare("geglu_mlp", "unfused");
  const auto seen = profile(prepared);
  if (!seen) GTEST_SKIP() << why_;
  const SeenTrace by_profile = seen_trace(*seen, prepared.kernel.stages);
  const SeenTrace by_capture = captured(prepared.kernel);
  EXPECT_THAT(by_profile.stray_kernels, testing::IsEmpty());
  ASSERT_EQ(by_profile.stages.size(), 5u);
  for (std::size_t i = 0; i < by_profile.stages.size(); ++i) {
    EXPECT_EQ(by_profile.stages[i].kernels, by_capture.stages[i].kernels);
    EXPECT_EQ(by_profile.stages[i].memory_operations, by_capture.stages[i].memory_operations);
  }
}

// As a library's or another language's launch does.
TEST_F(ProfileGpuTest, GivesKernelsTheStagesThatALaunchMarks) {
  Prepared prepared = prepare("geglu", "unfused");
  const std::vector<kernels::Stage> parts = std::move(prepared.kernel.stages);
  ASSERT_EQ(parts.size(), 2u);
  const auto launch = [&parts] {
    {
      const kernels::StageMark outer("outer");
      const kernels::StageMark inner("inner");
      parts[0].launch();
    }
    parts[1].launch();
  };
  prepared.kernel.stages = {{.name = "whole", .launch = launch}, {.name = "inner"}};
  meter_->annotate(prepared.kernel, "annotated");
  const auto seen = profile(prepared);
  if (!seen) GTEST_SKIP() << why_;
  ASSERT_EQ(seen->kernels.size(), 2u);
  EXPECT_EQ(seen->kernels[0].span.stage, "inner");
  EXPECT_EQ(seen->kernels[1].span.stage, "whole");
  EXPECT_EQ(meter_->count_launches(prepared.kernel).kernels, 2);
  EXPECT_TRUE(meter_->kernels(prepared.kernel.stages[1]).empty());
}

TEST_F(ProfileGpuTest, ReportsWhatAKernelTakesAndWhenItRan) {
  const Prepared prepared = prepare("geglu", "unfused");
  const auto seen = profile(prepared);
  if (!seen) GTEST_SKIP() << why_;
  ASSERT_EQ(seen->kernels.size(), 2u);
  double last_start_ns = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const baselines::LaunchedKernel& kernel = seen->kernels[i];
    const kernels::KernelResources captured = meter_->kernels(prepared.kernel.stages[i]).at(0);
    EXPECT_EQ(kernel.name, captured.name);
    EXPECT_EQ(kernel.grid[0] * kernel.grid[1] * kernel.grid[2], captured.blocks);
    EXPECT_EQ(kernel.block[0] * kernel.block[1] * kernel.block[2], captured.threads_per_block);
    EXPECT_EQ(kernel.registers, captured.registers);
    EXPECT_GT(kernel.span.duration_ns, 500) << "no kernel is as short";
    EXPECT_LT(kernel.span.duration_ns, 1e6);
    EXPECT_GT(kernel.span.start_ns, last_start_ns) << "after the call began, one after the other";
    last_start_ns = kernel.span.start_ns;
  }
}

TEST_F(ProfileGpuTest, JoinsEveryKernelToTheCallThatLaunchedIt) {
  const Prepared prepared = prepare("geglu_mlp", "fused_pointwise");
  const auto seen = profile(prepared);
  if (!seen) GTEST_SKIP() << why_;
  for (const baselines::LaunchedKernel& kernel : seen->kernels) {
    const auto call = std::ranges::find_if(seen->calls, [&](const baselines::ApiCall& one) {
      return one.span.correlation == kernel.span.correlation;
    });
    ASSERT_NE(call, seen->calls.end()) << kernel.name;
    EXPECT_THAT(call->name, testing::HasSubstr("LaunchKernel"));
    EXPECT_EQ(call->span.stage, kernel.span.stage);
    EXPECT_GT(call->span.duration_ns, 0);
    EXPECT_LT(call->span.start_ns, kernel.span.start_ns) << "the clocks of host and GPU agree";
  }
}

TEST_F(ProfileGpuTest, ReportsMemoryOperations) {
  const Prepared prepared = prepare("control_copy", "memcpy");
  const auto seen = profile(prepared);
  if (!seen) GTEST_SKIP() << why_;
  EXPECT_TRUE(seen->kernels.empty());
  ASSERT_EQ(seen->memory_operations.size(), 1u);
  const baselines::LaunchedMemoryOperation& copy = seen->memory_operations[0];
  EXPECT_EQ(copy.kind, "memcpy");
  EXPECT_EQ(copy.span.stage, "copy");
  EXPECT_EQ(copy.bytes, static_cast<std::int64_t>(prepared.workspace->outputs()[0].bytes()));
  EXPECT_GT(copy.span.duration_ns, 0);
}

TEST_F(ProfileGpuTest, CanBeTakenAgain) {
  const Prepared prepared = prepare("linear", "addmm");
  const auto first = profile(prepared);
  if (!first) GTEST_SKIP() << why_;
  const auto second = profile(prepared);
  ASSERT_TRUE(second.has_value());
  ASSERT_EQ(first->kernels.size(), second->kernels.size());
  EXPECT_EQ(first->kernels.at(0).name, second->kernels.at(0).name);
  EXPECT_EQ(first->calls.size(), second->calls.size());
}

TEST_F(ProfileGpuTest, LeavesNothingAttachedWhereAStageThrows) {
  Prepared prepared = prepare("geglu", "fused");
  Prepared broken = prepare("geglu", "fused");
  broken.kernel.stages[0].launch = [] { throw kernels::DeviceError("on purpose"); };
  EXPECT_THROW(meter_->profile(broken.kernel, {}, true), kernels::DeviceError);
  const auto seen = profile(prepared);
  if (!seen) GTEST_SKIP() << why_;
  EXPECT_EQ(seen->kernels.size(), 1u);
}

// For many rows and few, where a product is split, and where nothing is aligned.
const std::vector<kernels::Problem> kProblems{
    kernels::ladder_problem(1, 1, 768, 3072, kernels::Dtype::kBf16),
    kernels::ladder_problem(64, 1, 768, 3072, kernels::Dtype::kBf16),
    kernels::ladder_problem(1, 128, 768, 3072, kernels::Dtype::kBf16),
    kernels::ladder_problem(64, 128, 768, 3072, kernels::Dtype::kBf16),
    kernels::ladder_problem(1, 33, 31, 129, kernels::Dtype::kBf16)};

TEST_F(ProfileGpuTest, FindsThatEveryImplementationLaunchesWhatItDeclares) {
  int checked = 0;
  for (const kernels::Problem& problem : kProblems) {
    for (const kernels::Implementation& implementation : kernels::implementations()) {
      if (!kernels::refusal(implementation, *device_, problem).empty()) continue;
      SCOPED_TRACE(kernels::benchmark_name(implementation, problem));
      const Prepared prepared = prepare(implementation, problem);
      prepared.kernel.launch();  // some may not be captured at first
      device_->synchronize();
      expect_met(implementation, captured(prepared.kernel));
      if (const auto seen = profile(prepared)) {
        expect_met(implementation, seen_trace(*seen, prepared.kernel.stages));
      }
      ++checked;
    }
  }
  EXPECT_GT(checked, 0);
}

// Also that every implementation's identity is known: none of them points elsewhere.
TEST_F(ProfileGpuTest, AnIdentityIsTheSameWhereverTheMemoryLies) {
  const kernels::Problem problem =
      kernels::ladder_problem(1, 128, 768, 3072, kernels::Dtype::kBf16);
  for (const kernels::Implementation& implementation : kernels::implementations()) {
    if (implementation.device != "cuda" || implementation.expects.empty()) continue;
    if (!kernels::refusal(implementation, *device_, problem).empty()) continue;
    std::vector<baselines::CallIdentity> seen;
    for (const std::uint64_t layout : {0, 1, 2}) {
      ASSERT_TRUE(device_->lay_out(layout));
      const Prepared prepared = prepare(implementation, problem);
      const ProfileAttempt attempt =
          meter_->profile(prepared.kernel, prepared.workspace->tensors(), true);
      if (attempt.warning) GTEST_SKIP() << baselines::warning_sentence(*attempt.warning);
      seen.push_back(attempt.identity.value());
      EXPECT_EQ(seen.back().unknown, "") << implementation.operation << '/' << implementation.name;
      EXPECT_TRUE(baselines::identical_code(seen.front(), seen.back()))
          << implementation.operation << '/' << implementation.name << ", layout " << layout;
    }
  }
}

// As PyTorch's: the same code allocates in the same order.
TEST_F(ProfileGpuTest, AnIdentityKnowsTheProgramsOwnMemoryByItsOrder) {
  const auto identity = [this](bool allocates, std::size_t offset) {
    Prepared prepared = prepare("geglu", "fused");
    prepared.kernel.allocates = allocates;
    const kernels::Tensor out = prepared.workspace->outputs()[0];
    void* own = nullptr;
    FUSEGATE_CUDA(cudaMalloc(&own, out.bytes() + 4096));
    const auto* const from = static_cast<const std::byte*>(own) + offset;
    prepared.kernel.stages.push_back(
        {"copy", 0, 0, [=, this] {
           FUSEGATE_CUDA(cudaMemcpyAsync(out.data, from, out.bytes(), cudaMemcpyDeviceToDevice,
                                         kernels::cuda_stream(*device_)));
         }});
    ProfileAttempt attempt = meter_->profile(prepared.kernel, prepared.workspace->tensors(), true);
    own_.emplace_back(own, 1, [](void* memory) { cudaFree(memory); });  // the next lies elsewhere
    if (attempt.warning) why_ = baselines::warning_sentence(*attempt.warning);
    return attempt.identity.value_or(baselines::CallIdentity{});
  };
  const baselines::CallIdentity one = identity(true, 0);
  if (!why_.empty()) GTEST_SKIP() << why_;
  EXPECT_EQ(one.unknown, "");
  EXPECT_TRUE(baselines::identical_code(one, identity(true, 0)));
  EXPECT_FALSE(baselines::identical_code(one, identity(true, 256)));
  EXPECT_EQ(identity(false, 0).unknown,
            "a memory operation reaches outside of the benchmark's memory");
}

// As cuBLASMp's products of several GPUs do, whose benchmarks failed with an unknown error.
TEST_F(ProfileGpuTest, AnIdentityIsUnknownWhereTheStreamWritesAWord) {
  Prepared prepared = prepare("geglu", "fused");
  const kernels::Memory word = device_->allocate(16);
  prepared.kernel.stages.push_back(
      {"write", 0, 0, [&] { write_word(kernels::cuda_stream(*device_), word.data()); }});
  const ProfileAttempt attempt =
      meter_->profile(prepared.kernel, prepared.workspace->tensors(), true);
  if (attempt.warning) GTEST_SKIP() << baselines::warning_sentence(*attempt.warning);
  EXPECT_EQ(
      attempt.identity.value().unknown,
      "the call does more than kernels, copies and fills: its stream writes or waits for a word");
  EXPECT_EQ(meter_->count_launches(prepared.kernel).kernels, 1);
}

TEST_F(ProfileGpuTest, AnIdentityReportsAnAddressOfAnEarlierLayout) {
  if (!device_->lay_out(0)) GTEST_SKIP() << "no memory for numbered layouts";
  const kernels::Problem problem =
      kernels::ladder_problem(1, 128, 768, 3072, kernels::Dtype::kBf16);
  const std::vector<kernels::Tensor> earlier = prepare("geglu", "fused").workspace->inputs();
  ASSERT_TRUE(device_->lay_out(1));
  Prepared prepared = prepare("geglu", "fused");
  const kernels::Tensor out = prepared.workspace->outputs()[0];
  for (const bool allocates : {false, true}) {
    prepared.kernel = implementation("geglu", "fused").prepare(*device_, problem, earlier, out);
    prepared.kernel.allocates = allocates;
    const ProfileAttempt attempt =
        meter_->profile(prepared.kernel, prepared.workspace->tensors(), true);
    if (attempt.warning) GTEST_SKIP() << baselines::warning_sentence(*attempt.warning);
    EXPECT_THAT(attempt.identity.value().unknown,
                testing::StartsWith("an argument points into memory of an earlier layout: "));
  }
}

// Each problem's kernel is a module of its own, all with a kernel of one name, as Triton's are.
TEST_F(ProfileGpuTest, AnIdentityIsOfTheCodeThatTheCallLaunches) {
  const auto identity = [this](std::int64_t hidden) {
    const Prepared prepared =
        prepare(implementation("geglu", "fused_specialized"),
                kernels::ladder_problem(1, 128, 768, hidden, kernels::Dtype::kBf16));
    ProfileAttempt attempt = meter_->profile(prepared.kernel, prepared.workspace->tensors(), true);
    if (attempt.warning) why_ = baselines::warning_sentence(*attempt.warning);
    return attempt.identity.value_or(baselines::CallIdentity{});
  };
  const baselines::CallIdentity before = identity(3072);
  if (!why_.empty()) GTEST_SKIP() << why_;
  ASSERT_EQ(before.unknown, "");
  const baselines::CallIdentity other = identity(3073);
  EXPECT_NE(before.launches.at(0).code, other.launches.at(0).code);
  EXPECT_TRUE(baselines::identical_code(before, identity(3072)))
      << "another module with a kernel of that name was launched in between";
}

TEST_F(ProfileGpuTest, AnIdentityGoesByTheProblem) {
  std::vector<baselines::CallIdentity> seen;
  for (const std::int64_t rows : {256, 512}) {
    const Prepared prepared =
        prepare(implementation("geglu_mlp", "unfused"),
                kernels::ladder_problem(1, rows, 768, 3072, kernels::Dtype::kBf16));
    const ProfileAttempt attempt =
        meter_->profile(prepared.kernel, prepared.workspace->tensors(), true);
    if (attempt.warning) GTEST_SKIP() << baselines::warning_sentence(*attempt.warning);
    seen.push_back(attempt.identity.value());
  }
  EXPECT_FALSE(baselines::identical_code(seen[0], seen[1]));
}

}  // namespace
}  // namespace fusegate::bench
