// Compiles without a GPU; pointwise_gpu_test.cc tests what the kernels compute.
#include "kernels/cuda/pointwise/specialized_gated.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/activations/activations.h"
#include "kernels/cuda/device/known_gpus.h"
#include "kernels/cuda/pointwise/nvrtc_compile.h"

namespace fusegate::kernels {
namespace {

bool is_elf(const std::vector<char>& code) {
  return code.size() > 4 && std::string_view(code.data(), 4) ==
                                "\x7f"
                                "ELF";
}

TEST(SpecializedGated, CompilesForEveryFormatShapeAndArchitecture) {
  for (const char* architecture : {"sm_80", "sm_90"}) {
    for (const Dtype dtype : {Dtype::kBf16, Dtype::kFp16}) {
      for (const auto& [rows, cols] : {std::pair{1, 7}, {128, 3072}, {33, 3073}, {8192, 3072}}) {
        const GatedShape shape{kActivationOf<GeluTanh>, rows, cols, dtype};
        const unsigned threads = specialized_threads(shape, kH200.l2_bytes);
        EXPECT_TRUE(is_elf(compile_gated(shape, threads, architecture)))
            << architecture << ' ' << dtype_name(dtype) << ' ' << rows << 'x' << cols;
      }
    }
  }
}

TEST(SpecializedGated, CompilesEveryActivation) {
  for (const Activation& activation : kActivations) {
    EXPECT_TRUE(is_elf(compile_gated({activation, 33, 3073, Dtype::kBf16}, 256, "sm_90")))
        << activation.name;
  }
}

// Machine code without bounds and tail is the shorter.
TEST(SpecializedGated, AsksForNoBoundsWhereTheElementsFillTheGrid) {
  const Activation& gelu = kActivationOf<GeluTanh>;
  const GatedShape whole{gelu, 8192, 3072, Dtype::kBf16}, ragged{gelu, 8191, 3073, Dtype::kBf16};
  EXPECT_LT(compile_gated(whole, 256, "sm_90").size(), compile_gated(ragged, 256, "sm_90").size());
}

TEST(SpecializedGated, TakesTheLargestBlockThatTheElementsFill) {
  const auto threads = [](std::int64_t rows, std::int64_t cols, const GpuLimits& gpu = kH200) {
    return specialized_threads({kActivationOf<GeluTanh>, rows, cols, Dtype::kBf16}, gpu.l2_bytes);
  };
  EXPECT_EQ(threads(1, 3072), 128u) << "384 packs are a block and a half of 256";
  EXPECT_EQ(threads(128, 3072), 256u);
  EXPECT_EQ(threads(4096, 3072), 256u) << "24 MiB";
  EXPECT_EQ(threads(4096, 3072, kA100), 1024u) << "which with g and u is past an A100's L2";
  EXPECT_EQ(threads(8192, 3072), 1024u) << "48 MiB";
  EXPECT_EQ(threads(8192, 3073), 1024u);
  EXPECT_EQ(threads(8191, 3073), 256u) << "nothing fills it without rest";
  EXPECT_EQ(threads(8, 3073), 256u) << "nothing fills it without rest";
}

TEST(NvrtcCompile, SaysWhatTheCompilerSays) {
  const auto compile = [](NamedText source, const char* architecture) {
    return [=] {
      nvrtc_compile({.source = source, .headers = {}, .macros = {}, .architecture = architecture});
    };
  };
  EXPECT_THAT(compile({"broken.cu", "__global__ void broken() { undeclared(); }"}, "sm_90"),
              testing::ThrowsMessage<DeviceError>(
                  testing::AllOf(testing::HasSubstr("broken.cu for sm_90"),
                                 testing::HasSubstr("\"undeclared\" is undefined"))));
  EXPECT_THAT(compile({"empty.cu", ""}, "sm_1"),
              testing::ThrowsMessage<DeviceError>(
                  testing::HasSubstr("invalid value for --gpu-architecture")));
}

}  // namespace
}  // namespace fusegate::kernels
