// GPUs and sizes for tests of plans. Shared memory: CUDA Programming Guide, "Technical
// Specifications per Compute Capability". SMs and L2: NVIDIA's white papers on GA100, GA102 and
// GH100; an H200's L2: its driver.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "kernels/cuda/device/gpu_limits.h"

namespace fusegate::kernels {

inline constexpr GpuLimits kA100{108, 163 << 10, 164 << 10, 40 << 20};
inline constexpr GpuLimits kA10{72, 99 << 10, 100 << 10, 6 << 20};
inline constexpr GpuLimits kH100{132, 227 << 10, 228 << 10, 50 << 20};
inline constexpr GpuLimits kH100Pcie{114, 227 << 10, 228 << 10, 50 << 20};
inline constexpr GpuLimits kH200{132, 227 << 10, 228 << 10, 60 << 20};

inline constexpr std::array<std::pair<const char*, GpuLimits>, 5> kKnownGpus{
    {{"A100", kA100}, {"A10", kA10}, {"H100", kH100}, {"H100 PCIe", kH100Pcie}, {"H200", kH200}}};

struct MlpSize {
  std::int64_t rows = 0;
  std::int64_t dim = 0;
  std::int64_t hidden = 0;
};

// The ladder's (bench/suites/ladder.json), then some with remainders and some far larger.
inline constexpr std::array<MlpSize, 20> kMlpSizes{{
    {1, 768, 3072},    {128, 768, 3072},    {512, 768, 3072},    {2048, 768, 3072},
    {8192, 768, 3072}, {32768, 768, 3072},  {1024, 1024, 4096},  {4096, 2048, 8192},
    {1, 4096, 14336},  {1024, 4096, 14336}, {8192, 4096, 11008}, {1, 8, 8},
    {7, 24, 40},       {33, 776, 3080},     {64, 8192, 28672},   {127, 72, 200},
    {129, 136, 264},   {2100, 200, 3080},   {8192, 8192, 28680}, {8200, 16384, 53248},
}};

}  // namespace fusegate::kernels
