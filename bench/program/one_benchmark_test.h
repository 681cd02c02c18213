// For tests of what the program does with a plan: one benchmark on the CPU, and a meter that
// delivers what it is given.
#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>

#include "baselines/io/scratch_folder.h"
#include "bench/meters/fake_meter.h"
#include "bench/plan/plan.h"
#include "bench/ranks/interrupt.h"
#include "kernels/operations/ladder_problem.h"

namespace fusegate::bench {

class OneBenchmarkTest : public testing::Test {
 protected:
  explicit OneBenchmarkTest(std::string_view out) : out_(folder_.path() / out) {
    wrong_.name = "wrong";
    plan_.benchmarks = {{&right_, problem_}};
    info_.suite = "custom";
    info_.protocol.layout_kind = LayoutKind::kDriver;
  }

  baselines::ScratchFolder folder_;
  std::filesystem::path out_;
  std::unique_ptr<kernels::Device> device_ = kernels::open_device("cpu");
  EnvironmentProbe probe_{*device_};
  FakeMeter meter_{100'000};
  // wrong_: fails as a test has it.
  kernels::Implementation right_ = kernels::find_implementation("geglu", "fused", "cpu"),
                          wrong_ = right_;
  kernels::Problem problem_ = kernels::ladder_problem(1, 4, 1, 16, kernels::Dtype::kFp32);
  Plan plan_;
  ProcessInfo info_;
};

}  // namespace fusegate::bench
