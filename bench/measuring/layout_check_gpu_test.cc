// Calls that keep addresses of an earlier memory layout, on a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/measuring/layout_check.h"
#include "bench/measuring/session.h"
#include "bench/meters/meter_test_fixture.h"
#include "kernels/cuda/device/cuda.h"

namespace fusegate::bench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class LayoutCheckTest : public MeterTest {
 protected:
  void SetUp() override {
    MeterTest::SetUp();
    if (IsSkipped()) return;
    if (!device_->lay_out(0)) GTEST_SKIP() << "no memory for numbered layouts";
    protocol_.layout_kind = LayoutKind::kNumbered;
    ballast_.emplace(*device_, 1);
    context_.emplace(SessionContext{*device_, *meter_, *ballast_, protocol_, 1});
  }

  using Tensors = std::vector<kernels::Tensor>;
  // geglu/fused on what the function makes of a layout's tensors and of those of the first.
  void pretend(std::function<void(const Tensors& first, Tensors& now)> change) {
    pretending_.prepare = [=, this, prepared = 0](
                              kernels::Device& device, const kernels::Problem& problem,
                              kernels::Inputs in, const kernels::Tensor& out) mutable {
      Tensors now(in.begin(), in.end());
      now.push_back(out);
      if (++prepared == 2) first_ = now;  // the first is that of the check
      if (prepared > 2) change(first_, now);
      const kernels::Tensor result = now.back();
      now.pop_back();
      return fused_.prepare(device, problem, now, result);
    };
  }
  // In the second layout, whose tensors lie where the first has none.
  std::string failure() {
    Session session(*context_, planned_);
    {
      kernels::Verifier verifier(*device_, 1);
      session.verify(verifier);
    }
    session.enter(0);
    try {
      session.enter(1);
      return "";
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  }

  Protocol protocol_{.samples = 1, .idle = std::chrono::nanoseconds(0), .layouts = 2};
  std::optional<Ballast> ballast_;
  std::optional<SessionContext> context_;
  const kernels::Problem problem_ =
      kernels::ladder_problem(1, 128, 768, 3072, kernels::Dtype::kBf16);
  kernels::Implementation fused_, pretending_;
  PlannedBenchmark planned_{&pretending_, problem_};
  Tensors first_;
};

class KeptAddressTest : public LayoutCheckTest {
 protected:
  void SetUp() override {
    LayoutCheckTest::SetUp();
    if (IsSkipped()) return;
    fused_ = pretending_ = implementation("geglu", "fused");
  }
};

constexpr const char* kWhy =
    "works in memory of an earlier memory layout: the call keeps an address of that";

TEST_F(KeptAddressTest, PassesWhereNothingIsKept) {
  pretend([](const Tensors&, Tensors&) {});
  EXPECT_EQ(failure(), "");
}

TEST_F(KeptAddressTest, FailsWhereAnInputIs) {
  pretend([](const Tensors& first, Tensors& now) { now.front() = first.front(); });
  EXPECT_THAT(failure(), AllOf(HasSubstr("fusegate::"), HasSubstr(kWhy)));
}

TEST_F(KeptAddressTest, FailsWhereTheOutputIs) {
  pretend([](const Tensors& first, Tensors& now) { now.back() = first.back(); });
  EXPECT_THAT(failure(), AllOf(HasSubstr("fusegate::"), HasSubstr(kWhy)));
}

// Where the driver lays out memory, nobody knows which addresses are old.
TEST_F(KeptAddressTest, FailsWhereOnlyTheOutputShowsIt) {
  kernels::Memory kept;
  pretend([&](const Tensors&, Tensors& now) {
    kept = device_->allocate(now.back().bytes());
    now.back().data = kept.data();
  });
  EXPECT_THAT(failure(), StartsWith("writes nothing to its output"));
}

TEST_F(LayoutCheckTest, PassesAllImplementationsInLittleTime) {
  using Clock = std::chrono::steady_clock;
  int checked = 0;
  for (const kernels::Implementation& implementation : kernels::implementations()) {
    if (!kernels::refusal(implementation, *device_, problem_).empty()) continue;
    if (implementation.expects.empty()) continue;
    SCOPED_TRACE(implementation.operation + "/" + implementation.name);
    LayoutCheck check(*device_, *meter_);
    auto fastest = Clock::duration::max();
    for (const std::uint64_t layout : {0, 1, 2}) {
      ASSERT_TRUE(device_->lay_out(layout));
      Prepared prepared = prepare(implementation, problem_);
      prepared.kernel.launch();  // some may not be captured at first
      const auto batch = meter_->record(prepared.kernel, {.calls = 2});
      check.poison_outputs(*prepared.workspace);
      batch->run();
      const auto start = Clock::now();
      EXPECT_NO_THROW(check.require_current_arguments(*prepared.workspace, prepared.kernel));
      EXPECT_NO_THROW(check.require_written_outputs(*prepared.workspace, prepared.kernel, *batch));
      fastest = std::min(fastest, Clock::now() - start);
    }
    EXPECT_LT(fastest, std::chrono::milliseconds(2));
    ++checked;
  }
  EXPECT_GT(checked, 0);
}

}  // namespace
}  // namespace fusegate::bench
