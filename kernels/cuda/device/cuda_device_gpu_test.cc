// Numbered memory layouts on the GPU.
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "kernels/cuda/device/gpu_test_fixture.h"

namespace fusegate::kernels {
namespace {

class LayoutOnGpu : public GpuTest {};

// Distances of three tensors of that layout from the first.
std::vector<std::ptrdiff_t> distances(Device& device, std::uint64_t number) {
  EXPECT_TRUE(device.lay_out(number));
  std::vector<Memory> memory;
  std::vector<std::ptrdiff_t> result;
  for (const std::size_t bytes : {5u << 20, 3000u, 70u << 20}) {
    memory.push_back(device.allocate(bytes));
    result.push_back(static_cast<std::byte*>(memory.back().data()) -
                     static_cast<std::byte*>(memory.front().data()));
  }
  return result;
}

TEST_F(LayoutOnGpu, IsTheNumbers) {
  const auto first = distances(*device_, 3);
  EXPECT_EQ(distances(*device_, 3), first);
  EXPECT_NE(distances(*device_, 4), first);
  CudaDevice other;
  EXPECT_EQ(distances(other, 3), first);
}

TEST_F(LayoutOnGpu, HoldsWhatIsWritten) {
  device_->lay_out(7);
  std::vector<Memory> memory;
  std::vector<Tensor> tensors;
  for (int i = 0; i < 4; ++i) {
    tensors.push_back(allocate_tensor(*device_, {1000, 3001}, Dtype::kBf16, memory));
    device_->fill(tensors.back(), Fill::uniform(1.0), static_cast<std::uint64_t>(i));
  }
  device_->poison(tensors[2]);  // its neighbours must not change
  for (const int i : {0, 1, 3}) {
    std::vector<std::byte> seen(tensors[0].bytes()), expected(tensors[0].bytes());
    device_->copy_to_host(tensors[static_cast<std::size_t>(i)].data, seen);
    device_->fill(tensors[2], Fill::uniform(1.0), static_cast<std::uint64_t>(i));
    device_->copy_to_host(tensors[2].data, expected);
    EXPECT_EQ(seen, expected) << i;
  }
}

TEST_F(LayoutOnGpu, TakesWhatDoesNotFitFromTheDriver) {
  device_->lay_out(1);
  const Memory large = device_->allocate(std::size_t{3} << 30);  // more than a block
  EXPECT_NE(large.data(), nullptr);
  EXPECT_NO_THROW(device_->lay_out(2)) << "it is not of the layout";
  const Memory small = device_->allocate(1);
  EXPECT_THROW(device_->lay_out(2), std::logic_error);
}

class DigestOnGpu : public GpuTest {};

// As of a rank that has no address of an earlier layout, where another one has.
TEST_F(DigestOnGpu, IsZeroOfNothing) {
  const Tensor nothing{nullptr, {0}, Dtype::kInt8};
  device_->fill(nothing, Fill::constant(0), 0);
  EXPECT_EQ(device_->digest(nothing), 0U);
}

}  // namespace
}  // namespace fusegate::kernels
