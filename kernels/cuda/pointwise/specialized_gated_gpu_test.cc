// The kernel compiled for a device, on the device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/cuda/pointwise/gated_test_fixture.h"
#include "kernels/cuda/pointwise/specialized_gated.h"

namespace fusegate::kernels {
namespace {

class SpecializedGatedOnGpu : public GatedGpuTest {};

TEST_F(SpecializedGatedOnGpu, WritesTheBitsOfTheGeneralKernel) {
  expect_same_bits("fused_specialized", "fused");
}

TEST_F(SpecializedGatedOnGpu, IsCompiledOnceForTheDeviceAndLaunchedEarlyWhereItCanBe) {
  const cudaDeviceProp& properties = device_->properties();
  const SpecializedGated& made =
      specialized_gated({kActivationOf<GeluTanh>, 8, 3072, Dtype::kBf16}, properties);
  EXPECT_THAT(made.choice, testing::HasSubstr("8x3072, sm_"));
  EXPECT_GT(made.compile_ms, 0);
  EXPECT_EQ(made.launch.early, properties.major >= 9);
  EXPECT_EQ(&specialized_gated({kActivationOf<GeluTanh>, 8, 3072, Dtype::kBf16}, properties),
            &made);
  EXPECT_NE(&specialized_gated({kActivationOf<GeluTanh>, 3072, 8, Dtype::kBf16}, properties),
            &made);
}

}  // namespace
}  // namespace fusegate::kernels
