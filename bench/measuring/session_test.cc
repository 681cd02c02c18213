// The protocol, watched through a meter that keeps its own time.
#include "bench/measuring/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "bench/meters/fake_meter.h"
#include "kernels/onednn/onednn_device.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::bench {
namespace {

class SessionTest : public testing::Test {
 protected:
  Session verified() {
    context_.emplace(SessionContext{*device_, meter_, ballast_, protocol_, 1});
    Session session(*context_, benchmark_);
    session.verify(verifier_);
    return session;
  }

  FakeMeter meter_{100'000};
  std::unique_ptr<kernels::Device> device_ = kernels::open_device("cpu");
  kernels::Verifier verifier_{*device_, 1};
  Ballast ballast_{*device_, 1};
  std::optional<SessionContext> context_;
  Protocol protocol_{.samples = 12, .idle = std::chrono::nanoseconds(0), .layouts = 4};
  kernels::Implementation implementation_ = kernels::find_implementation("geglu", "fused", "cpu");
  PlannedBenchmark benchmark_{&implementation_,
                              kernels::ladder_problem(1, 4, 1, 16, kernels::Dtype::kFp32)};
};

// Records the choices that are pinned when a kernel is prepared.
class ChoosingDevice : public kernels::OnednnDevice {
 public:
  void pin_choices(const kernels::PinnedChoices& choices) override { kept = choices; }

  kernels::PinnedChoices kept;
};

TEST_F(SessionTest, KeepsChoicesWhereTheKernelIsPreparedFirst) {
  ChoosingDevice device;
  std::vector<kernels::PinnedChoices> seen;
  kernels::Implementation choosing = implementation_;
  choosing.prepare = [&](kernels::Device& any, const kernels::Problem& problem,
                         std::span<const kernels::Tensor> in, const kernels::Tensor& out) {
    seen.push_back(device.kept);
    return implementation_.prepare(any, problem, in, out);
  };
  const PlannedBenchmark kept{&choosing, benchmark_.problem, {{{"geglu", "candidate 2"}}, true}};
  const PlannedBenchmark anew{&choosing, benchmark_.problem};
  const SessionContext context{device, meter_, ballast_, protocol_, 1};
  kernels::Verifier verifier(device, 1);
  Session(context, kept).verify(verifier);
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.front().choices, kept.pinned_choices.choices);
  EXPECT_TRUE(seen.front().required);
  seen.clear();
  Session(context, anew).verify(verifier);
  EXPECT_TRUE(seen.front().choices.empty()) << "those of the benchmark before";
  EXPECT_FALSE(seen.front().required);
}

TEST_F(SessionTest, MakesBatchesLongEnough) {
  for (const double call_ns : {2000.0, 50'000.0, 1e6, 5e6}) {
    meter_.call_ns = call_ns;
    Session session = verified();
    const auto layout = session.enter(0);
    const Sample sample = session.run_sample(*layout);
    EXPECT_GE(sample.batch_ns, 1.5e6) << call_ns;
    EXPECT_LE(sample.batch_ns, 1.5e6 * 1.1 + call_ns) << call_ns;
    EXPECT_TRUE(layout->record.warnings.empty());
  }
}

TEST_F(SessionTest, WarnsOfABatchThatStaysShort) {
  meter_.call_ns = 1;  // so short that the longest batch is not enough
  Session session = verified();
  const auto layout = session.enter(0);
  session.run_sample(*layout);
  EXPECT_THAT(layout->record.warnings, testing::ElementsAre(baselines::Warning::kShortBatch));
}

TEST_F(SessionTest, SizesAndDescribesAtTheFirstPlaceAlone) {
  Session session = verified();
  session.enter(4);  // whichever is the first: a resumed run file has some already
  const int calls = session.record().calls, records = meter_.records, runs = meter_.runs;
  meter_.call_ns *= 2;
  for (int layout = 5; layout < 8; ++layout) {
    session.enter(layout);
    EXPECT_EQ(session.record().calls, calls);
  }
  EXPECT_EQ(meter_.records - records, 3);
  EXPECT_EQ(meter_.runs - runs, 3) << "one warm-up a layout";
  EXPECT_EQ(meter_.annotated.size(), 1u);
}

// Numbered layouts on a CPU: the number alone, and whether the layout before is gone by then.
class NumberedDevice : public kernels::OnednnDevice {
 public:
  bool lay_out(std::uint64_t number) override {
    EXPECT_EQ(in_use_, 0);
    numbers.push_back(number);
    return true;
  }
  kernels::Memory allocate(std::size_t bytes) override {
    ++in_use_;
    memory_.push_back(kernels::OnednnDevice::allocate(bytes));
    return kernels::Memory(memory_.back().data(), bytes, [this](void*) { --in_use_; });
  }
  std::vector<std::uint64_t> numbers;

 private:
  std::vector<kernels::Memory> memory_;
  int in_use_ = 0;
};

TEST_F(SessionTest, MakesEveryLayoutByItsNumber) {
  NumberedDevice device;
  protocol_.layout_kind = LayoutKind::kNumbered;
  Ballast ballast(device, 1);
  const SessionContext context{device, meter_, ballast, protocol_, 1};
  Session session(context, benchmark_);
  {
    kernels::Verifier verifier(device, 1);
    session.verify(verifier);
  }
  for (const int layout : {0, 1, 5}) session.enter(layout);
  EXPECT_EQ(device.numbers, (std::vector<std::uint64_t>{0, 1, 5}));
}

TEST_F(SessionTest, GivesEveryLayoutInputsOfItsOwn) {
  Session session = verified();
  const auto first_input = [&](int layout) {
    return *static_cast<const float*>(session.enter(layout)->workspace.inputs()[0].data);
  };
  EXPECT_EQ(first_input(1), first_input(1));
  EXPECT_NE(first_input(1), first_input(2));
}

TEST_F(SessionTest, DescribesTheBenchmark) {
  protocol_.l2 = L2State::kFlushed;
  Session session = verified();
  session.enter(0);
  EXPECT_EQ(session.record().launches.kernels, 3);
  EXPECT_EQ(session.record().host_ns, 42);
  EXPECT_EQ(session.record().host_graph_ns, 7);
  EXPECT_EQ(session.record().flops, 10 * 64);
  EXPECT_EQ(session.record().min_bytes, 3 * 64 * 4);
  EXPECT_EQ(session.record().memory_bytes, 3 * 64 * 4) << "it takes no scratch memory";
  EXPECT_FALSE(session.record().kept_bytes);
  ASSERT_EQ(session.record().stages.size(), 1u);
  EXPECT_EQ(session.record().stages[0].name, "gelu_mul");
  ASSERT_EQ(session.record().stages[0].kernels.size(), 1u);
  EXPECT_EQ(session.record().stages[0].kernels[0].name, "gelu_mul_kernel");
  EXPECT_THAT(meter_.annotated, testing::ElementsAre(benchmark_.name()));
  EXPECT_EQ(meter_.last_options.l2, L2State::kFlushed);
}

TEST_F(SessionTest, WarmsUpForAsLongAsTheProtocolSays) {
  Session session = verified();
  session.enter(0);
  protocol_.warm = std::chrono::milliseconds(20);
  const int before = meter_.runs;
  const auto start = std::chrono::steady_clock::now();
  session.enter(1);
  EXPECT_GE(std::chrono::steady_clock::now() - start, protocol_.warm);
  EXPECT_GT(meter_.runs - before, 1) << "back to back";
}

TEST_F(SessionTest, IdlesBeforeEverySample) {
  protocol_.idle = std::chrono::milliseconds(3);
  Session session = verified();
  const auto layout = session.enter(0);
  const auto start = std::chrono::steady_clock::now();
  for (int sample = 0; sample < 4; ++sample) session.run_sample(*layout);
  EXPECT_GE(std::chrono::steady_clock::now() - start, 4 * protocol_.idle);
}

TEST_F(SessionTest, NeverTimesAWrongKernel) {
  implementation_.prepare = [](kernels::Device&, const kernels::Problem&,
                               std::span<const kernels::Tensor>,
                               const kernels::Tensor&) { return kernels::PreparedKernel{}; };
  EXPECT_THROW(verified(), std::runtime_error);
  Session unchecked(*context_, benchmark_);
  EXPECT_THROW(unchecked.enter(0), std::logic_error);
  EXPECT_THROW(unchecked.trace(TraceSchedule(), {}), std::logic_error);
  EXPECT_EQ(meter_.records, 0);
}

TEST_F(SessionTest, TimesWhatCannotBeCapturedWithoutAGraphAndSaysSo) {
  meter_.uncapturable = "it waits for the device";
  Session session = verified();
  const auto layout = session.enter(0);
  EXPECT_FALSE(meter_.last_options.captured);
  EXPECT_THAT(layout->record.warnings, testing::Contains(baselines::Warning::kNotCapturable));
  EXPECT_EQ(session.record().not_capturable, "it waits for the device");
  EXPECT_EQ(session.record().launches.kernels, 0) << "nobody counted them";
  EXPECT_TRUE(std::isnan(session.record().host_graph_ns));
  EXPECT_THAT(session.enter(1)->record.warnings,
              testing::Contains(baselines::Warning::kNotCapturable));
  meter_.attempt.identity = baselines::CallIdentity{.launches = {{.kernel = "k", .code = "0a"}}};
  EXPECT_EQ(session.profile().identity->unknown, "it cannot be captured: it waits for the device");
  EXPECT_FALSE(meter_.last_profile_captured);
}

TEST_F(SessionTest, CapturesWhatCanBe) {
  Session session = verified();
  const auto layout = session.enter(0);
  EXPECT_TRUE(meter_.last_options.captured);
  EXPECT_TRUE(layout->record.warnings.empty());
}

// geglu/fused where it is checked, and something else in the layouts.
class OtherLayoutsTest : public SessionTest {
 protected:
  using Prepare =
      std::function<kernels::PreparedKernel(kernels::Inputs, const kernels::Tensor& out)>;
  Session verified_before(Prepare prepare) {
    implementation_.prepare = [=, this, is_checked = false](kernels::Device&,
                                                            const kernels::Problem&,
                                                            std::span<const kernels::Tensor> in,
                                                            const kernels::Tensor& out) mutable {
      return std::exchange(is_checked, true) ? prepare(in, out) : fused(in, out);
    };
    return verified();
  }
  kernels::PreparedKernel fused(kernels::Inputs in, const kernels::Tensor& out) {
    return fused_.prepare(*device_, benchmark_.problem, in, out);
  }
  // With another stage behind it.
  Session verified_before_adding(std::function<void(const kernels::Tensor& out)> stage) {
    return verified_before([=, this](kernels::Inputs in, const kernels::Tensor& out) {
      kernels::PreparedKernel kernel = fused(in, out);
      kernel.stages.push_back({.name = "more", .launch = [=] { stage(out); }});
      return kernel;
    });
  }
  // In the second layout, the first still being there.
  static std::string failure_of(Session session) {
    const auto first = session.enter(0);
    try {
      session.enter(1);
      return "";
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  }
  static float& first_of(const kernels::Tensor& tensor) {
    return *static_cast<float*>(tensor.data);
  }

  const kernels::Implementation fused_ = implementation_;
};

constexpr const char* kUnwritten =
    "writes nothing to its output 'out' in another memory layout: it keeps the address of an "
    "earlier one";

TEST_F(OtherLayoutsTest, FailWhereTheCallKeepsAnEarlierOutput) {
  std::optional<kernels::Tensor> kept;
  EXPECT_EQ(failure_of(verified_before([&](kernels::Inputs in, const kernels::Tensor& out) {
              if (!kept) kept = out;
              first_of(out) = 1;  // as autotuning may
              return fused(in, *kept);
            })),
            kUnwritten);
}

TEST_F(OtherLayoutsTest, CollectResultsBeforeTheyAreExamined) {
  std::optional<kernels::Tensor> kept;
  std::vector<float> own(64);
  const auto prepare = [&](bool is_stale) {
    return [&, is_stale](kernels::Inputs in, const kernels::Tensor& out) {
      if (!kept) kept = out;
      kernels::Tensor result = out;
      result.data = own.data();
      kernels::PreparedKernel kernel = fused(in, result);
      kernel.collect = [&own, to = is_stale ? *kept : out] {
        std::memcpy(to.data, own.data(), to.bytes());
      };
      return kernel;
    };
  };
  EXPECT_EQ(failure_of(verified_before(prepare(false))), "");
  kept.reset();
  EXPECT_EQ(failure_of(verified_before(prepare(true))), kUnwritten);
}

TEST_F(OtherLayoutsTest, PassWhereResultsLookLikePoison) {
  EXPECT_EQ(failure_of(verified_before_adding(
                [](const kernels::Tensor& out) { std::memset(out.data, 0xff, out.bytes()); })),
            "");
}

TEST_F(OtherLayoutsTest, FailWhereTheCallWorksInMemoryOfAnEarlierOne) {
  std::vector<float> earlier(3);
  meter_.stale = {.kernel = "gelu",
                  .memory = {reinterpret_cast<std::uint64_t>(earlier.data()), 12}};
  const auto entered = [&](std::function<void(const kernels::Tensor& out)> stage) {
    earlier = {1, 2, 3};
    verified_before_adding(std::move(stage)).enter(0);
  };
  const auto reads = [&](const kernels::Tensor& out) { first_of(out) = earlier[2]; };
  const auto writes = [&](const kernels::Tensor&) { ++earlier[1]; };
  const auto fails = testing::ThrowsMessage<std::runtime_error>(
      "gelu works in memory of an earlier memory layout: the call keeps an address of that");
  EXPECT_THAT([&] { entered(reads); }, fails);
  EXPECT_THAT([&] { entered(writes); }, fails);
  EXPECT_NO_THROW(entered([](const kernels::Tensor&) {})) << "the address alone";
  EXPECT_NO_THROW(entered([last = 0](const kernels::Tensor& out) mutable {
    first_of(out) = static_cast<float>(++last);
  })) << "its results differ without that";
  meter_.uncapturable = "it waits for the device";
  EXPECT_NO_THROW(entered(reads)) << "nobody knows the arguments";
}

TEST_F(SessionTest, TakesTheEnergyOfCallsAloneAndReadsNoClocks) {
  protocol_.spin = std::chrono::microseconds(100);
  Session session = verified();
  session.enter(0);
  const int runs = meter_.runs;
  // A batch takes a nanosecond and a joule.
  const EnergySource source{
      .counter_mj = [&] { return 1000 * static_cast<std::uint64_t>(meter_.launches); },
      .now = [&] { return std::chrono::nanoseconds(meter_.launches); }};
  const auto energy = session.call_energy(source, std::chrono::nanoseconds(2));
  ASSERT_TRUE(energy.has_value());
  EXPECT_GT(energy->joules, 0);
  EXPECT_GT(energy->power_w, 0);
  EXPECT_EQ(meter_.last_options.spin.count(), 0);
  EXPECT_EQ(meter_.last_options.calls, session.record().calls);
  EXPECT_GT(meter_.launches, 0);
  EXPECT_EQ(meter_.runs, runs);
}

TEST_F(SessionTest, RefusesWhatDoesNotFitIntoMemory) {
  benchmark_.problem = kernels::ladder_problem(kernels::kLargestAxis, 256, 1, kernels::kLargestAxis,
                                               kernels::Dtype::kFp32);
  EXPECT_THAT([&] { verified(); },
              testing::ThrowsMessage<kernels::DeviceError>(testing::HasSubstr("GB free")));
}

}  // namespace
}  // namespace fusegate::bench
