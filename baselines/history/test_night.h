// For tests: nights made of numbers.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "baselines/history/night.h"

namespace fusegate::baselines {

// The session "night N", a day after night N - 1, of so many benchmarks "op/impl/N". Every tenth
// has new code each night.
inline Night test_night(int number, int benchmarks = 2) {
  Night night{.session = fmt::format("night {}", number),
              .unix_s = 1'764'000'000 + 86'400 * std::int64_t{number},
              .commit = fmt::format("c{}", number),
              .parent = fmt::format("c{}", number - 1),
              .device = "NVIDIA H200",
              .card = "GPU-4cf2cd58-0a75-fe17-1f74-dfc584017386",
              .machine = "h200",
              .driver = "580.159.04",
              .cuda = "13.0",
              .cublas = "13.1.0",
              .program = "5d0e",
              .suite = "nightly",
              .method = "77c1",
              .replayed = "c0"};
  for (int i = 0; i < benchmarks; ++i) {
    const std::string code = i % 10 == 0 ? fmt::format("{:016x}", number) : "33fa537826f4e778";
    const double log_ns = std::log(1000.0 + i) + 0.001 * std::sin(number * 7 + i);
    night.benchmarks.push_back(
        {.name = fmt::format("geglu_mlp/fused_pointwise/bf16/batch:64/seq:128/dim:768/n:{:05}", i),
         .operation = "geglu_mlp",
         .implementation = "fused_pointwise",
         .is_control = i % 50 == 1,
         .processes = 5,
         .log_equal_clock = log_ns,
         .process_variance = 1e-7 * std::exp(std::sin(number * 3 + i)),
         .ns = std::exp(log_ns),
         .cycles = 1.9 * std::exp(log_ns),
         .energy_j = 1e-3 * std::exp(log_ns),
         .host_ns = 5000 * std::exp(0.01 * std::cos(number + i)),
         .identity = fmt::format("{:016x}", i * 1000 + (i % 10 == 0 ? number : 0)),
         .kernels = {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm>(Params)|" + code,
                     "void fusegate::gelu_mul<float>(float const*, float*)|0a"},
         .choices = {{"gate_proj", fmt::format("cublaslt algo {} tile 20", i % 7)}},
         .over_replay = LogEffect{.value = 1e-3 * std::sin(number + i), .variance = 1e-7 / (i + 1)},
         .clock_ghz = 1.9755,
         .clock_share = 0.7 + 0.0001 * i});
  }
  return night;
}

}  // namespace fusegate::baselines
