// The protocol, watched through a meter that keeps its own time.
#include "bench/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

namespace fusegate {
namespace {

// Calls take call_ns each and a batch a fixed overhead more; nothing is launched.
class FakeMeter : public Meter {
 public:
  explicit FakeMeter(double call_ns) : call_ns(call_ns) {}

  std::unique_ptr<Batch> record(const PreparedKernel&, int calls, L2State l2) override {
    struct FakeBatch : Batch {
      FakeBatch(FakeMeter& meter, int calls) : meter(meter), calls(calls) {}
      Sample run() override {
        ++meter.runs;
        return {.batch_ns = meter.overhead_ns + calls * meter.call_ns,
                .sm_clock_hz = meter.clock_hz};
      }
      FakeMeter& meter;
      int calls;
    };
    last_l2 = l2;
    ++records;
    return std::make_unique<FakeBatch>(*this, calls);
  }
  LaunchCount count_launches(const PreparedKernel&) override { return {.kernels = 3}; }
  double host_ns(const PreparedKernel&) override { return 42; }
  void annotate(const PreparedKernel&, const std::string& benchmark) override {
    annotated.push_back(benchmark);
  }

  double call_ns;
  double overhead_ns = 1000;
  double clock_hz = 1e9;
  int runs = 0;
  int records = 0;
  L2State last_l2 = L2State::kWarm;
  std::vector<std::string> annotated;
};

const Implementation& geglu_fused() {
  for (const Implementation& i : implementations()) {
    if (i.operation == "geglu" && i.name == "fused" && i.device == "cpu") return i;
  }
  throw std::out_of_range("geglu/fused");
}

class SessionTest : public testing::Test {
 protected:
  Session verified(FakeMeter& meter) {
    context_.emplace(SessionContext{*device_, meter, ballast_, protocol_, 1});
    Session session(*context_, benchmark_);
    session.verify(verifier_);
    return session;
  }

  std::unique_ptr<Device> device_ = open_device("cpu");
  Verifier verifier_{*device_, 1};
  Ballast ballast_{*device_, 1};
  std::optional<SessionContext> context_;
  Protocol protocol_{.samples = 12, .idle = std::chrono::nanoseconds(0), .places = 4};
  Implementation implementation_ = geglu_fused();
  PlannedBenchmark benchmark_{&implementation_, {1, 4, 1, 16, Dtype::kFp32}};
};

TEST_F(SessionTest, MakesBatchesLongEnough) {
  for (const double call_ns : {2000.0, 50'000.0, 1e6, 5e6}) {
    FakeMeter meter(call_ns);
    Session session = verified(meter);
    const auto place = session.enter(0);
    const Sample sample = session.run_sample(*place);
    EXPECT_GE(sample.batch_ns, 1.5e6) << call_ns;
    EXPECT_LE(sample.batch_ns, 1.5e6 * 1.1 + call_ns) << call_ns;
    EXPECT_TRUE(place->doubts.empty());
  }
}

TEST_F(SessionTest, DoubtsABatchThatStaysShort) {
  FakeMeter meter(1);  // so short that the longest batch is not enough
  Session session = verified(meter);
  const auto place = session.enter(0);
  session.run_sample(*place);
  EXPECT_THAT(place->doubts, testing::ElementsAre(Doubt::kShortBatch));
}

TEST_F(SessionTest, SizesAndDescribesAtTheFirstPlaceAlone) {
  FakeMeter meter(100'000);
  Session session = verified(meter);
  session.enter(4);  // whichever is the first: a resumed run file has some already
  const int calls = session.calls(), records = meter.records, runs = meter.runs;
  meter.call_ns *= 2;
  for (int place = 5; place < 8; ++place) {
    session.enter(place);
    EXPECT_EQ(session.calls(), calls);
  }
  EXPECT_EQ(meter.records - records, 3);
  EXPECT_EQ(meter.runs - runs, 3) << "one warm-up a place";
  EXPECT_EQ(meter.annotated.size(), 1u);
}

TEST_F(SessionTest, GivesEveryPlaceInputsOfItsOwn) {
  FakeMeter meter(100'000);
  Session session = verified(meter);
  const auto first_input = [&](int place) {
    return *static_cast<const float*>(session.enter(place)->workspace.inputs()[0].data);
  };
  EXPECT_EQ(first_input(1), first_input(1));
  EXPECT_NE(first_input(1), first_input(2));
}

TEST_F(SessionTest, DescribesTheBenchmark) {
  FakeMeter meter(100'000);
  protocol_.l2 = L2State::kFlushed;
  Session session = verified(meter);
  session.enter(0);
  EXPECT_EQ(session.record().launches.kernels, 3);
  EXPECT_EQ(session.record().host_ns, 42);
  EXPECT_EQ(session.record().flops, 10 * 64);
  EXPECT_EQ(session.record().min_bytes, 3 * 64 * 4);
  ASSERT_EQ(session.record().stages.size(), 1u);
  EXPECT_EQ(session.record().stages[0].name, "gelu_mul");
  EXPECT_THAT(meter.annotated, testing::ElementsAre(benchmark_.name()));
  EXPECT_EQ(meter.last_l2, L2State::kFlushed);
}

TEST_F(SessionTest, NeverTimesAWrongKernel) {
  implementation_.prepare = [](Device&, const Problem&, std::span<const Tensor>, const Tensor&) {
    return PreparedKernel{};
  };
  FakeMeter meter(100'000);
  EXPECT_THROW(verified(meter), std::runtime_error);
  Session unchecked(*context_, benchmark_);
  EXPECT_THROW(unchecked.enter(0), std::logic_error);
  EXPECT_EQ(meter.records, 0);
}

TEST_F(SessionTest, RefusesWhatDoesNotFitIntoMemory) {
  benchmark_.problem = {kLargestAxis, kLargestAxis, 1, kLargestAxis, Dtype::kFp32};
  FakeMeter meter(100'000);
  try {
    verified(meter);
    FAIL();
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("GB free"));
  }
}

}  // namespace
}  // namespace fusegate
