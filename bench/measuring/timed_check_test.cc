// Kernels that are fast where they are timed and right where they are checked, on the CPU. On a
// GPU: cheats_gpu_test.cu.
#include "bench/measuring/timed_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/measuring/cheat_test.h"
#include "bench/meters/fake_meter.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::bench {
namespace {

using kernels::Tensor;
using testing::HasSubstr;

class TimedCheckTest : public CheatTest {
 protected:
  // What launches in place of geglu/fused, which it may call.
  using Cheat = std::function<void(const std::function<void()>& honest, kernels::Inputs in,
                                   const Tensor& out)>;

  void SetUp() override {
    open("cpu", kernels::ladder_problem(1, 64, 1, 1024, kernels::Dtype::kFp32));
  }

  std::string refusal(const Cheat& cheat, int checked = 1) {
    kernels::Implementation implementation = fused_;
    implementation.prepare = [&](kernels::Device& device, const kernels::Problem& problem,
                                 kernels::Inputs in, const Tensor& out) {
      auto honest =
          std::make_shared<kernels::PreparedKernel>(fused_.prepare(device, problem, in, out));
      kernels::PreparedKernel kernel;
      kernel.stages.push_back(
          {.name = "cheat", .launch = [=, &cheat] { cheat([&] { honest->launch(); }, in, out); }});
      return kernel;
    };
    return refusal_of(implementation, checked);
  }

  const kernels::Implementation fused_ = kernels::find_implementation("geglu", "fused", "cpu");
};

// What a call computed, by where it was to be written.
struct Remembered {
  std::vector<std::byte> bytes;
  void keep(const Tensor& out) {
    bytes.resize(out.bytes());
    std::memcpy(bytes.data(), out.data, out.bytes());
  }
  void put(const Tensor& out) const { std::memcpy(out.data, bytes.data(), bytes.size()); }
};

TEST_F(TimedCheckTest, PassesAnHonestKernel) {
  for (const int checked : {0, 1, 3}) {
    EXPECT_EQ(refusal([](const auto& honest, auto, const auto&) { honest(); }, checked), "");
  }
}

TEST_F(TimedCheckTest, RefusesResultsKeptByAddress) {
  std::map<void*, Remembered> kept;
  int calls = 0;
  EXPECT_THAT(refusal([&](const auto& honest, auto, const Tensor& out) {
                if (++calls > 2 && kept.contains(out.data)) return kept[out.data].put(out);
                honest();
                kept[out.data].keep(out);
              }),
              HasSubstr(kWrongWhereTimed));
}

TEST_F(TimedCheckTest, RefusesWhatReadsItsOwnLastOutput) {
  EXPECT_THAT(refusal([&](const auto& honest, auto, const Tensor& out) {
                float first = 0;
                std::memcpy(&first, out.data, sizeof(first));
                if (std::isnan(first)) honest();
              }),
              HasSubstr(kStale));
}

TEST_F(TimedCheckTest, RefusesResultsKeptByAFewOfTheInputs) {
  std::map<std::uint32_t, Remembered> kept;
  EXPECT_THAT(refusal([&](const auto& honest, kernels::Inputs in, const Tensor& out) {
                std::uint32_t first = 0;
                std::memcpy(&first, in[0].data, sizeof(first));
                if (kept.contains(first)) return kept[first].put(out);
                honest();
                kept[first].keep(out);
              }),
              HasSubstr(kWrongWhereTimed));
}

// All of the inputs' numbers are read, so that the results are right; to read them is less work.
// Times of cores that are busy with other work show nothing, and nothing honest may be refused by
// them; so not every process finds it, and a run has several.
TEST_F(TimedCheckTest, RefusesResultsKeptByAllOfTheInputs) {
  std::string refused;
  for (int process = 0; process < 5 && refused.empty(); ++process) {
    std::map<std::uint64_t, Remembered> kept;
    refused = refusal([&](const auto& honest, kernels::Inputs in, const Tensor& out) {
      std::uint64_t key = 0;
      for (const Tensor& input : in) key = 31 * key + device_->digest(input);
      if (kept.contains(key)) return kept[key].put(out);
      for (int times = 0; times < 300; ++times) honest();
      kept[key].keep(out);
    });
  }
  EXPECT_THAT(refused, HasSubstr("keeps results: "));
}

// A neighbour that leaves a core alone for a moment, where inputs happen to stay, is no cheat; what
// is faster each time is.
TEST_F(TimedCheckTest, HoldsALoneFastRunAgainstNobody) {
  constexpr int kBefore = 8;  // changing runs for their results, before any for their time
  for (const bool is_lone : {true, false}) {
    auto meter = std::make_unique<FakeMeter>(30'000);
    meter->changing_ns = [is_lone, run = -kBefore](double ns) mutable {
      const int number = run++;
      const bool stays = number >= 0 && number % 3 != 1;
      return stays && (number == 0 || !is_lone) ? ns / 2 : ns;
    };
    meter_ = std::move(meter);
    const std::string refused = refusal_of(fused_, 1);
    const char* const expected = is_lone ? "" : "keeps results: 6 calls take 180 us";
    EXPECT_THAT(refused, testing::StartsWith(expected));
    EXPECT_EQ(refused.empty(), is_lone) << refused;
  }
}

// Where the checked layout's sample was held up, a short call is not taken for a long one.
TEST_F(TimedCheckTest, ChecksShortCallsAsOftenWhereASampleIsLong) {
  constexpr int kOfShortCalls = 8;
  int runs = 0;
  auto meter = std::make_unique<FakeMeter>(30'000);
  meter->changing_ns = [&](double ns) { return ++runs, ns; };
  before_sample_ = [meter = meter.get()](int layout) {
    meter->call_ns = layout == 1 ? 3e6 : 30'000;
  };
  meter_ = std::move(meter);
  EXPECT_EQ(refusal_of(fused_, 1), "");
  EXPECT_GE(runs, kOfShortCalls);
}

TEST_F(TimedCheckTest, RefusesWhatComputesOneCallInTen) {
  int calls = 0;
  EXPECT_THAT(refusal([&](const auto& honest, auto, const Tensor&) {
                if (++calls < 3 || calls % 10 == 0) honest();
              }),
              testing::AnyOf(HasSubstr(kStale), HasSubstr(kWrongWhereTimed)));
}

TEST_F(TimedCheckTest, RefusesWhatIsRightUntilItWasChecked) {
  int calls = 0;
  EXPECT_THAT(refusal([&](const auto& honest, auto, const Tensor& out) {
                if (++calls <= 2) return honest();
                std::memset(out.data, 0, out.bytes());
              }),
              HasSubstr(kWrongWhereTimed));
}

// A call asks a thread, which works later.
TEST_F(TimedCheckTest, RefusesWhatWritesLazily) {
  struct Worker {
    std::atomic<bool> is_asked = false;
    std::jthread thread;
  };
  kernels::Implementation lazy = fused_;
  int calls = 0;
  lazy.prepare = [&](kernels::Device& device, const kernels::Problem& problem, kernels::Inputs in,
                     const Tensor& out) {
    auto honest =
        std::make_shared<kernels::PreparedKernel>(fused_.prepare(device, problem, in, out));
    auto worker = std::make_shared<Worker>();
    worker->thread = std::jthread([honest, self = worker.get()](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        if (self->is_asked.exchange(false)) honest->launch();
      }
    });
    kernels::PreparedKernel kernel;
    kernel.stages.push_back({.name = "cheat", .launch = [=, &calls] {
                               if (++calls <= 2) return honest->launch();
                               worker->is_asked = true;
                             }});
    return kernel;
  };
  // As it happens, nothing is written yet in the layout's warm-up or where results are compared.
  EXPECT_THAT(refusal_of(lazy, 1),
              testing::AnyOf(HasSubstr("is written after its calls have ended"),
                             HasSubstr("writes nothing to its output"), HasSubstr(kStale),
                             HasSubstr(kWrongWhereTimed)));
}

TEST_F(TimedCheckTest, RefusesWhatIsComputedWhenItIsPrepared) {
  kernels::Implementation early = fused_;
  early.prepare = [&](kernels::Device& device, const kernels::Problem& problem, kernels::Inputs in,
                      const Tensor& out) {
    const auto honest = fused_.prepare(device, problem, in, out);
    honest.launch();
    auto result = std::make_shared<Remembered>();
    result->keep(out);
    kernels::PreparedKernel kernel;
    kernel.stages.push_back({.name = "cheat", .launch = [=] { result->put(out); }});
    return kernel;
  };
  EXPECT_THAT(refusal_of(early, 1), HasSubstr(kWrongWhereTimed));
}

}  // namespace
}  // namespace fusegate::bench
