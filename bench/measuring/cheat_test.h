// For tests of kernels that are fast where they are timed and right where they are checked.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/measuring/session.h"
#include "bench/meters/make_meter.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::bench {

// How they are refused.
inline constexpr const char* kStale = "returns what it computed before";
inline constexpr const char* kWrongWhereTimed =
    "wrong result of what was timed, on inputs that it had not seen";

class CheatTest : public testing::Test {
 protected:
  // Throws DeviceError where there is no such device.
  void open(const char* device, kernels::Problem problem) {
    problem_ = std::move(problem);
    device_ = kernels::open_device(device);
    meter_ = make_meter(*device_);
    ballast_.emplace(*device_, 1);
    if (device_->lay_out(0)) protocol_.layout_kind = LayoutKind::kNumbered;
  }

  // Why a process refuses an implementation of geglu, where it checks what was timed in the layout
  // of that number; "".
  std::string refusal_of(const kernels::Implementation& implementation, int checked = 1) try {
    const PlannedBenchmark benchmark{&implementation, problem_};
    const SessionContext context{*device_, *meter_, *ballast_, protocol_, 1};
    Session session(context, benchmark);
    {
      kernels::Verifier verifier(*device_, 1);
      session.verify(verifier);
    }
    std::vector<kernels::Memory> outputs;
    for (int number = 0; number <= checked; ++number) {
      const auto layout = session.enter(number);
      before_sample_(number);
      last_sample_ = session.run_sample(*layout);
      if (number == checked) outputs = session.check_timed(*layout, kSeed, random_);
    }
    kernels::Verifier verifier(*device_, kSeed, true);
    last_record_ = session.record();
    const auto result = verifier.verify_timed(kernels::find_operation("geglu"), problem_, outputs);
    if (!result.passed()) return result.message();
    session.require_whole_times();
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }

  static constexpr std::uint64_t kSeed = 987654321;
  std::unique_ptr<kernels::Device> device_;
  std::unique_ptr<Meter> meter_;
  std::optional<Ballast> ballast_;
  std::mt19937_64 random_{1};
  Protocol protocol_{.samples = 4,
                     .batch = std::chrono::microseconds(300),
                     .idle = std::chrono::nanoseconds(0),
                     .layouts = 4};
  kernels::Problem problem_;
  std::function<void(int layout)> before_sample_ = [](int) {};
  Sample last_sample_;
  BenchmarkRecord last_record_;  // of what was not refused when it was timed
};

}  // namespace fusegate::bench
