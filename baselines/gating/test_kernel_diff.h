// For tests: two runs of an MLP that differ in what it launches, and the diff of that.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "baselines/gating/gate.h"
#include "baselines/launches/test_profile.h"
#include "baselines/record/test_run.h"

namespace fusegate::baselines {

inline constexpr const char* kBig = "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT";
inline constexpr const char* kSmall = "nvjet_sm90_tst_128x128_64x6_2x1_v_bz_TNT";
inline constexpr const char* kSplit = "nvjet_sm90_tst_128x128_64x6_2x1_v_bz_splitK_TNT";
inline constexpr const char* kReduce =
    "void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16>(int)";
inline constexpr const char* kGelu =
    "void fusegate::(anonymous namespace)::pointwise_kernel<fusegate::Bf16, fusegate::Gelu, "
    "void*>(void*)";

inline const std::vector<TestLaunch> kMlp{
    {kBig, "gate_proj", 50e3}, {kGelu, "gelu", 10e3}, {kBig, "down_proj", 40e3}};

// What a run's MLP launches and how long it takes.
struct Side {
  std::vector<TestLaunch> launches = kMlp;
  double slower = 0;
  double clock_ghz = 2;
  double host_ns = 9000;
  std::vector<LaunchIdentity> work{};  // empty: not known
};

// What kMlp's launches ask for.
inline std::vector<LaunchIdentity> work_of_mlp() {
  const auto launch = [](const char* kernel, const char* code) {
    return LaunchIdentity{
        .kernel = kernel,
        .code = code,
        .instructions = 1204,
        .launch = "grid 192x1x1, block 128x1x1, 0 + 10240 B shared, 166 registers, 0 B local",
        .arguments = "77c1"};
  };
  return {launch(kBig, "0a"), launch(kGelu, "0b"), launch(kBig, "0a")};
}

// "mlp" in five processes, and others beside it that stay as they are.
inline Run run_of(const Side& side) {
  const std::vector<double> times{102000, 102050, 101950, 102020, 101980};
  BenchmarkSeries mlp = test_series("mlp", scaled(times, 1 + side.slower), side.clock_ghz);
  mlp.profile = test_profile(side.launches);
  mlp.counters["host_ns"] = side.host_ns;
  if (!side.work.empty()) mlp.identity = CallIdentity{.launches = side.work, .order = "5d"};
  return on_still_machine(test_run({test_series("a", kQuiet), mlp}));
}

inline GateResult gate_of(const Side& candidate, const GateOptions& options = {}) {
  return gate(run_of({}), run_of(candidate), options);
}

// The same kernels, 2 % slower in time at a clock that is 2 % lower.
inline GateResult gate_of_another_clock() {
  Run baseline = run_of({});
  Run candidate = run_of({.slower = 0.02, .clock_ghz = 2 / 1.02});
  for (Run* run : {&baseline, &candidate}) {
    for (ProcessSummary& summary : run->benchmarks[1].processes) {
      summary.clock_fit = {
          .time_squares = 0.01, .clock_squares = 0.01, .products = -0.01, .degrees_of_freedom = 47};
    }
  }
  return gate(baseline, candidate, {});
}

inline KernelDiff diff_of(const Side& candidate, const Side& baseline = {}) {
  const GateResult result = gate(run_of(baseline), run_of(candidate), {});
  EXPECT_EQ(result.kernel_diffs.size(), 1u);
  return result.kernel_diffs.empty() ? KernelDiff() : result.kernel_diffs[0];
}

}  // namespace fusegate::baselines
