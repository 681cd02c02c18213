// For tests: a made-up year of nights with what was planted in it, always the same. Its figures are
// no measurements.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ci/site/site.h"

namespace fusegate::ci {

// Of scatter: -1 to 1, without a generator's state.
inline double made_up_noise(std::size_t night, std::size_t benchmark) {
  const double x =
      std::sin(12.9898 * static_cast<double>(night) + 78.233 * static_cast<double>(benchmark)) *
      43758.5453;
  return 2 * (x - std::floor(x)) - 1;
}

inline std::string made_up_name(std::size_t i) {
  const char* operations[] = {"geglu", "geglu_mlp", "swiglu_mlp", "linear"};
  const char* implementations[] = {"unfused", "fused_pointwise", "fused_epilogue_sm90",
                                   "fused_few_rows"};
  const char* dtypes[] = {"bf16", "fp16"};
  return fmt::format("{}/{}/{}/batch:{}/seq:128/dim:768/hidden:3072", operations[i % 4],
                     implementations[i / 4 % 4], dtypes[i / 16 % 2], 1 + i / 32);
}

// The planted nights of a year.
inline constexpr std::size_t kStepNight = 120, kDriverNight = 200, kMissingWeek = 260,
                             kCreepFrom = 280;

inline baselines::NightBenchmark made_up_benchmark(std::size_t night, std::size_t i) {
  double log_ns =
      std::log(3000.0 + 150.0 * static_cast<double>(i)) + 0.003 * made_up_noise(night, i);
  const bool is_new_code = i % 16 == 9 && night >= kStepNight;
  if (is_new_code) log_ns += 0.021;
  if (night >= kDriverNight) log_ns -= 0.008;
  if (i == 6 && night >= kCreepFrom) log_ns += 1e-4 * static_cast<double>(night - kCreepFrom);
  const std::string name = made_up_name(i);
  return {.name = name,
          .operation = name.substr(0, name.find('/')),
          .processes = 5,
          .log_equal_clock = log_ns,
          .process_variance = 4e-6,
          .ns = std::exp(log_ns),
          .identity = is_new_code ? "9be1b2a3c4d5e6f7" : "33fa537826f4e778",
          .kernels = {fmt::format("void cutlass::device_kernel<sm90_xmma_gemm_bf16bf16_bf16f32_"
                                  "f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1>(Params)|{}",
                                  is_new_code ? "9be1b2a3c4d5e6f7" : "33fa537826f4e778"),
                      "void fusegate::gelu_mul<__nv_bfloat16>(float const*, float*)|0a1b2c3d4e5f"}};
}

inline baselines::Night made_up_night(std::size_t night, std::size_t benchmarks) {
  const bool is_later = night >= kDriverNight;
  baselines::Night made{.session = fmt::format("night-{:03}", night),
                        .unix_s = 1'735'700'000 + 86'400 * static_cast<std::int64_t>(night),
                        .commit = fmt::format("{:07x}c0ffee0decade", 0x1000000 + night / 2),
                        .device = "NVIDIA H200",
                        .card = fmt::format("GPU-{:08x}-0a75-fe17-1f74-dfc584017386",
                                            0x59b384ea + 0x1357 * (night % 8)),
                        .machine = "h200",
                        .driver = is_later ? "580.159.04" : "570.124.06",
                        .cuda = "13.0",
                        .cublas = "13.1.0",
                        .suite = "nightly",
                        .method = "77c1"};
  for (std::size_t i = 0; i < benchmarks; ++i)
    made.benchmarks.push_back(made_up_benchmark(night, i));
  std::ranges::sort(made.benchmarks, {}, &baselines::NightBenchmark::name);
  return made;
}

inline std::vector<baselines::ChangePoint> made_up_changes(std::size_t benchmarks,
                                                           std::size_t nights) {
  const auto session = [](std::size_t night) { return fmt::format("night-{:03}", night); };
  std::vector<std::string> stepped;
  for (std::size_t i = 9; i < benchmarks; i += 16) stepped.push_back(made_up_name(i));
  return {{.subject = "kernel cutlass::device_kernel",
           .benchmarks = stepped,
           .first_session = session(kStepNight),
           .last_session_before = session(kStepNight - 1),
           .alarm_session = session(kStepNight + 1),
           .effect = 0.0212,
           .low = 0.0195,
           .high = 0.0229,
           .of_class = baselines::ChangeClass::kCode,
           .reason = "commit 100003b..100003c",
           .confirmation = baselines::Confirmation::kConfirmed,
           .is_true = true},
          {.subject = "everything",
           .benchmarks = {},
           .first_session = session(kDriverNight),
           .last_session_before = session(kDriverNight - 1),
           .alarm_session = session(kDriverNight),
           .effect = -0.008,
           .low = -0.0084,
           .high = -0.0076,
           .of_class = baselines::ChangeClass::kLibrary,
           .reason = "driver 570.124.06 -> 580.159.04",
           .is_true = false},
          {.subject = made_up_name(6),
           .benchmarks = {made_up_name(6)},
           .first_session = session(kCreepFrom),
           .last_session_before = session(kCreepFrom - 1),
           .alarm_session = session(nights - 1),
           .effect = 0.0041,
           .low = 0.0028,
           .high = 0.0054,
           .of_class = baselines::ChangeClass::kUnexplained,
           .reason = "no commit, driver or card explains it",
           .confirmation = baselines::Confirmation::kAsked}};
}

inline Site made_up_year(std::size_t benchmarks, std::size_t nights) {
  Site site{.changes = made_up_changes(benchmarks, nights)};
  for (std::size_t i = 0; i < nights; ++i) {
    if (i < kMissingWeek || i >= kMissingWeek + 7)
      site.nights.push_back(made_up_night(i, benchmarks));
  }
  site.missing = {{.what = "nights",
                   .since = fmt::format("night-{:03}", kMissingWeek - 1),
                   .text = "No night for a week.",
                   .until = fmt::format("night-{:03}", kMissingWeek + 7)},
                  {.what = "machine h200-2",
                   .since = fmt::format("night-{:03}", nights - 10),
                   .text = "It has not reported for nine days."}};
  for (std::size_t i = 0; i < benchmarks; ++i) {
    const std::string name = made_up_name(i);
    site.owners[name] = name.starts_with("linear") ? "@org/linear" : "@org/mlp";
  }
  return site;
}

}  // namespace fusegate::ci
