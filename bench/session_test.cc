// The protocol, watched through a meter that keeps its own time.
#include "bench/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

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
  Session make(FakeMeter& meter) {
    return Session(*device_, meter, verifier_, protocol_, benchmark_, 1);
  }

  std::unique_ptr<Device> device_ = open_device("cpu");
  Verifier verifier_{*device_, 1};
  Protocol protocol_{.samples = 12, .idle = std::chrono::nanoseconds(0), .places = 4};
  Implementation implementation_ = geglu_fused();
  PlannedBenchmark benchmark_{&implementation_, {1, 4, 1, 16, Dtype::kFp32}};
};

TEST_F(SessionTest, MakesBatchesLongEnough) {
  for (const double call_ns : {2000.0, 50'000.0, 1e6, 5e6}) {
    FakeMeter meter(call_ns);
    Session session = make(meter);
    session.prepare_sample(0);
    const Sample sample = session.run_sample();
    EXPECT_GE(sample.batch_ns, 1.5e6) << call_ns;
    EXPECT_LE(sample.batch_ns, 1.5e6 * 1.1 + call_ns) << call_ns;
    EXPECT_TRUE(session.record().doubts.empty());
  }
}

TEST_F(SessionTest, DoubtsABatchThatStaysShort) {
  FakeMeter meter(1);  // so short that the longest batch is not enough
  Session session = make(meter);
  session.run_sample();
  EXPECT_THAT(session.record().doubts, testing::ElementsAre(Doubt::kShortBatch));
}

TEST_F(SessionTest, SpreadsSamplesOverThePlaces) {
  FakeMeter meter(100'000);
  Session session = make(meter);
  const int before = meter.records;
  std::set<int> moves;
  for (int sample = 0; sample < protocol_.samples; ++sample) {
    session.prepare_sample(sample);
    session.run_sample();
    moves.insert(meter.records);
  }
  EXPECT_EQ(moves.size(), static_cast<std::size_t>(protocol_.places));
  EXPECT_EQ(meter.records - before, protocol_.places - 1) << "the first place is there already";
}

TEST_F(SessionTest, DescribesTheBenchmark) {
  FakeMeter meter(100'000);
  protocol_.l2 = L2State::kFlushed;
  const Session session = make(meter);
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
  EXPECT_THROW(make(meter), std::runtime_error);
  EXPECT_EQ(meter.records, 0);
}

TEST_F(SessionTest, RefusesWhatDoesNotFitIntoMemory) {
  benchmark_.problem = {kLargestAxis, kLargestAxis, 1, kLargestAxis, Dtype::kFp32};
  FakeMeter meter(100'000);
  try {
    make(meter);
    FAIL();
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("GB free"));
  }
}

}  // namespace
}  // namespace fusegate
