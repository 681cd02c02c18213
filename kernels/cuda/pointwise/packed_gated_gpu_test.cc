// The element-wise kernel with operands side by side, against the one with separate operands.
#include <gtest/gtest.h>

#include "kernels/cuda/device/cuda.h"
#include "kernels/cuda/device/gpu_test_fixture.h"
#include "kernels/cuda/pointwise/pointwise.h"

namespace fusegate::kernels {
namespace {

class PackedGated : public GpuTest {
 protected:
  // In new memory, offset by some bytes, with kTail bytes after it.
  Tensor with_tail(std::int64_t rows, std::int64_t cols, Dtype dtype, std::size_t late = 0) {
    Tensor result{nullptr, {rows, cols}, dtype};
    memory_.push_back(device_->allocate(result.bytes() + late + kTail));
    device_->poison(
        {memory_.back().data(), {static_cast<std::int64_t>(memory_.back().bytes())}, Dtype::kInt8});
    result.data = static_cast<std::byte*>(memory_.back().data()) + late;
    return result;
  }

  // One half of every row, side 0 or 1.
  Tensor half(const Tensor& packed, int side) {
    const Tensor result = with_tail(packed.rows(), packed.cols() / 2, packed.dtype);
    const std::size_t width = packed.bytes() / static_cast<std::size_t>(packed.rows()) / 2;
    FUSEGATE_CUDA(cudaMemcpy2DAsync(
        result.data, width,
        static_cast<std::byte*>(packed.data) + static_cast<std::size_t>(side) * width, 2 * width,
        width, static_cast<std::size_t>(packed.rows()), cudaMemcpyDeviceToDevice,
        device_->stream()));
    return result;
  }

  // With what follows it.
  Bytes bytes_and_tail(const Tensor& tensor) {
    Bytes result(tensor.bytes() + kTail);
    device_->copy_to_host(tensor.data, result);
    return result;
  }

  void expect_like_unpacked(std::int64_t rows, std::int64_t cols, Dtype dtype, std::size_t late) {
    const Tensor gu = with_tail(rows, 2 * cols, dtype, late);
    device_->fill(gu, Fill::uniform(4.0), 1);
    const Tensor out = with_tail(rows, cols, dtype, late), expected = with_tail(rows, cols, dtype);
    for (const Activation& activation : kActivations) {
      enqueue_packed_gated(activation, gu, out, device_->stream());
      enqueue_gated(activation, half(gu, 0), half(gu, 1), expected, device_->stream());
      EXPECT_EQ(bytes_and_tail(out), bytes_and_tail(expected))
          << activation.name << ' ' << rows << " x " << cols << " " << dtype_name(dtype) << ", "
          << late << " bytes late";
    }
    memory_.clear();
  }

  static constexpr std::size_t kTail = 512;
};

TEST_F(PackedGated, AgreesWithTheUnpackedKernelToTheBit) {
  for (const Dtype dtype : {Dtype::kBf16, Dtype::kFp16}) {
    for (const std::int64_t rows : {1, 2, 3, 129}) {
      for (const std::int64_t cols : {1, 7, 8, 40, 1000, 1024, 1032, 3072, 3073}) {
        for (const std::size_t late : {std::size_t{0}, dtype_bytes(dtype)}) {
          expect_like_unpacked(rows, cols, dtype, late);
        }
      }
    }
  }
}

TEST_F(PackedGated, GoesBeyondTheRowsOfAGrid) {
  expect_like_unpacked(2 * 65535 + 3, 16, Dtype::kBf16, 0);
}

}  // namespace
}  // namespace fusegate::kernels
