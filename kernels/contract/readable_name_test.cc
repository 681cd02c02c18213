#include "kernels/contract/readable_name.h"

#include <gtest/gtest.h>

namespace fusegate::kernels {
namespace {

TEST(ReadableName, IsCppsWhereItIsMangled) {
  EXPECT_EQ(readable_name("_ZN8fusegate4geluEPfi"), "fusegate::gelu(float*, int)");
  EXPECT_EQ(readable_name("nvjet_tst_128x160_64x4"), "nvjet_tst_128x160_64x4");
}

// As nvcc names the kernels of pointwise.cu and of planted/slowdown.cuh.
constexpr char kGeluMul[] =
    "_ZN8fusegate7kernels45_GLOBAL__N__f6c64225_12_pointwise_cu_740b4e73L16pointwise_kernelINS1_"
    "9PointwiseINS0_4Bf16ENS0_5GatedINS0_8GeluTanhEEELj1024EEEJPvjjS9_S9_EEEvDpT0_";
constexpr char kInLastWave[] =
    "_ZN8fusegate7kernels7plantedL16pointwise_kernelINS0_45_GLOBAL__N__f6c64225_12_pointwise_cu_"
    "740b4e739PointwiseINS0_4Bf16ENS0_5GatedINS0_8GeluTanhEEELj1024EEENS1_13LastWaveStepsEJPvjjSB_"
    "SB_EEEvT0_DpT1_";
constexpr char kInEveryThread[] =
    "_ZN8fusegate7kernels7plantedL16pointwise_kernelINS0_45_GLOBAL__N__f6c64225_12_pointwise_cu_"
    "740b4e739PointwiseINS0_4Bf16ENS0_5GatedINS0_8GeluTanhEEELj1024EEENS1_"
    "16EveryThreadStepsILj5EEEJPvjjSC_SC_EEEvT0_DpT1_";

TEST(ReadableName, OfAKernelSlowedOnPurposeIsItsOriginals) {
  EXPECT_TRUE(readable_name(kGeluMul).starts_with("void fusegate::kernels::(anonymous namespace)"));
  EXPECT_EQ(readable_name(kInLastWave), readable_name(kGeluMul));
  EXPECT_EQ(readable_name(kInEveryThread), readable_name(kGeluMul));
}

}  // namespace
}  // namespace fusegate::kernels
