// NCCL's collectives with one rank, which leave what they are given. Those of several ranks are
// checked where implementations are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/cuda/device/gpu_test_fixture.h"
#include "kernels/cuda/device/nccl.h"

namespace fusegate::kernels {
namespace {

// Needs no GPU.
TEST(Nccl, IsFoundOrSaysWhatToInstall) {
  if (const std::string why = refuses_nccl(); !why.empty()) {
    EXPECT_THAT(why, testing::HasSubstr("install"));
    EXPECT_THROW(nccl_version(), DeviceError);
  } else {
    EXPECT_THAT(nccl_version(), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  }
}

class NcclOnGpu : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    if (const std::string why = refuses_nccl(); !why.empty()) GTEST_SKIP() << why;
  }
};

TEST_F(NcclOnGpu, OneRankKeepsWhatItHas) {
  const Tensor x = random(33, 40, Dtype::kBf16, 1, 1);
  const Tensor gathered = tensor(33, 40, Dtype::kBf16), reduced = tensor(33, 40, Dtype::kBf16);
  const Bytes before = bytes(x);
  const auto nccl = NcclRanks::of(*device_);
  EXPECT_EQ(nccl, NcclRanks::of(*device_));
  nccl->all_reduce(x, x);
  nccl->all_gather(x, gathered);
  nccl->reduce_scatter(x, reduced);
  EXPECT_EQ(bytes(x), before);
  EXPECT_EQ(bytes(gathered), before);
  EXPECT_EQ(bytes(reduced), before);
}

}  // namespace
}  // namespace fusegate::kernels
