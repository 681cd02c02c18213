// The gated units' backward passes in one kernel: what it writes, to the bit, where rows lie apart,
// where no pack starts or ends, in place, and against the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "kernels/cuda/device/cuda.h"
#include "kernels/cuda/device/gpu_test_fixture.h"
#include "kernels/cuda/pointwise/pointwise.h"

namespace fusegate::kernels {
namespace {

// Where operands lie: g and u one after the other or side by side, and dg and du too.
struct Lie {
  bool in_packed = false, out_packed = false;
  std::size_t late = 0;  // bytes behind an address that a pack may start at
  bool in_place = false;
  bool writes_h = true;
};

class GatedBackwardOnGpu : public GpuTest {
 protected:
  static constexpr double kScale = 3.0;  // activations bend within it
  static constexpr std::size_t kTail = 512;

  // [rows, cols] in new memory with a tail behind it, all of it poison.
  Tensor with_tail(std::int64_t rows, std::int64_t cols, Dtype dtype, std::size_t late) {
    Tensor result{nullptr, {rows, cols}, dtype};
    memory_.push_back(device_->allocate(result.bytes() + late + kTail));
    device_->poison(
        {memory_.back().data(), {static_cast<std::int64_t>(memory_.back().bytes())}, Dtype::kInt8});
    result.data = static_cast<std::byte*>(memory_.back().data()) + late;
    return result;
  }

  // Two [rows, cols], and the stride of their rows.
  struct Pair {
    Tensor both, first, second;
    std::int64_t stride = 0;
  };
  Pair pair(std::int64_t rows, std::int64_t cols, Dtype dtype, bool is_packed, std::size_t late) {
    const Tensor both = with_tail(rows, 2 * cols, dtype, late);
    const std::int64_t second =
        (is_packed ? cols : rows * cols) * static_cast<std::int64_t>(dtype_bytes(dtype));
    return {.both = both,
            .first = {both.data, {rows, cols}, dtype},
            .second = {static_cast<std::byte*>(both.data) + second, {rows, cols}, dtype},
            .stride = is_packed ? 2 * cols : 0};
  }

  // A copy whose rows lie one after the other.
  Tensor gathered(const Tensor& from, std::int64_t stride) {
    const Tensor result = tensor(from.rows(), from.cols(), from.dtype);
    const std::size_t size = dtype_bytes(from.dtype);
    const std::size_t width = static_cast<std::size_t>(from.cols()) * size;
    const std::size_t pitch = stride > 0 ? static_cast<std::size_t>(stride) * size : width;
    FUSEGATE_CUDA(cudaMemcpy2DAsync(result.data, width, from.data, pitch, width,
                                    static_cast<std::size_t>(from.rows()), cudaMemcpyDeviceToDevice,
                                    device_->stream()));
    return result;
  }

  void expect_tail(const Tensor& tensor, const char* what) {
    Bytes tail(kTail);
    device_->copy_to_host(static_cast<std::byte*>(tensor.data) + tensor.bytes(), tail);
    EXPECT_TRUE(std::ranges::all_of(tail, [](std::byte b) { return b == kGuard; }))
        << "writes past the end of " << what;
  }

  void expect_close(const Tensor& out, const double* expected, const char* what) {
    const ErrorNorms norms = device_->reference_math().compare(out, expected);
    EXPECT_EQ(norms.not_finite, 0) << what;
    EXPECT_LE(norms.relative(), std::max(1e-5, 1.01 * unit_roundoff(out.dtype))) << what;
  }

  // Against the reference; rounds once, so that an element is off by at most the unit roundoff.
  void expect_right(const Activation& activation, std::int64_t rows, std::int64_t cols, Dtype dtype,
                    const Lie& lie) {
    const Pair in = pair(rows, cols, dtype, lie.in_packed, lie.late);
    const Tensor dh = with_tail(rows, cols, dtype, lie.late);
    device_->fill(in.both, Fill::uniform(kScale), 1);
    device_->fill(dh, Fill::uniform(1), 2);
    const Tensor g = gathered(in.first, in.stride), u = gathered(in.second, in.stride);
    double *const wide_g = widened(g), *const wide_u = widened(u), *const wide_dh = widened(dh);
    double *const dg = doubles(g.count()), *const du = doubles(g.count());
    double* const h = doubles(g.count());
    ReferenceMath& math = device_->reference_math();
    math.gate_backward(activation, {.g = wide_g, .u = wide_u, .dh = wide_dh, .dg = dg, .du = du},
                       g.count());
    math.gate(activation, wide_g, wide_u, h, g.count());
    const Pair out = lie.in_place ? in : pair(rows, cols, dtype, lie.out_packed, lie.late);
    std::optional<Tensor> h_out;
    if (lie.writes_h) h_out = lie.in_place ? dh : with_tail(rows, cols, dtype, lie.late);
    enqueue_gated_backward(activation,
                           {.g = in.first,
                            .u = in.second,
                            .dh = dh,
                            .dg = out.first,
                            .du = out.second,
                            .h = h_out,
                            .in_stride = in.stride,
                            .out_stride = out.stride},
                           device_->stream());
    expect_close(gathered(out.first, out.stride), dg, "dg");
    expect_close(gathered(out.second, out.stride), du, "du");
    expect_tail(out.both, "dg and du");
    if (h_out) {
      expect_close(*h_out, h, "h");
      expect_tail(*h_out, "h");
    }
    memory_.clear();
  }
};

const std::vector<Lie> kLies{{},
                             {.writes_h = false},
                             {.in_place = true},
                             {.out_packed = true},
                             {.in_packed = true, .out_packed = true},
                             {.in_packed = true, .out_packed = true, .in_place = true},
                             {.in_packed = true, .writes_h = false}};

TEST_F(GatedBackwardOnGpu, AgreesWithTheReferenceWhereverOperandsLie) {
  for (const Dtype dtype : {Dtype::kBf16, Dtype::kFp16}) {
    for (const std::int64_t rows : edges({1, 2, 3, 129})) {
      for (const std::int64_t cols : edges({1, 7, 8, 40, 1000, 1024, 1032, 3073})) {
        for (Lie lie : kLies) {
          for (const std::size_t late : {std::size_t{0}, dtype_bytes(dtype)}) {
            lie.late = late;
            SCOPED_TRACE(testing::Message()
                         << dtype_name(dtype) << ", " << rows << " x " << cols << ", in packed "
                         << lie.in_packed << ", out packed " << lie.out_packed << ", in place "
                         << lie.in_place << ", " << late << " bytes late");
            expect_right(kActivationOf<GeluTanh>, rows, cols, dtype, lie);
          }
        }
      }
    }
  }
}

TEST_F(GatedBackwardOnGpu, TakesEveryActivation) {
  for (const Activation& activation : kActivations) {
    SCOPED_TRACE(activation.name);
    expect_right(activation, 64, 1031, Dtype::kBf16, {});
    expect_right(activation, 64, 1032, Dtype::kFp16, {.out_packed = true});
  }
}

TEST_F(GatedBackwardOnGpu, GoesBeyondTheRowsOfAGrid) {
  expect_right(kActivationOf<Silu>, 2 * 65535 + 3, 16, Dtype::kBf16,
               {.in_packed = true, .out_packed = true});
}

// Rows that lie apart change no bit.
TEST_F(GatedBackwardOnGpu, WritesTheSameBitsPacked) {
  constexpr std::int64_t kRows = 33, kCols = 1032;
  const Activation& activation = kActivationOf<GeluTanh>;
  const Pair in = pair(kRows, kCols, Dtype::kBf16, true, 0);
  device_->fill(in.both, Fill::uniform(kScale), 1);
  const Tensor dh = random(kRows, kCols, Dtype::kBf16, 1, 2);
  const Pair packed = pair(kRows, kCols, Dtype::kBf16, true, 0);
  enqueue_gated_backward(activation,
                         {.g = in.first,
                          .u = in.second,
                          .dh = dh,
                          .dg = packed.first,
                          .du = packed.second,
                          .in_stride = in.stride,
                          .out_stride = packed.stride},
                         device_->stream());
  const Pair apart = pair(kRows, kCols, Dtype::kBf16, false, 0);
  enqueue_gated_backward(activation,
                         {.g = gathered(in.first, in.stride),
                          .u = gathered(in.second, in.stride),
                          .dh = dh,
                          .dg = apart.first,
                          .du = apart.second},
                         device_->stream());
  EXPECT_EQ(bytes(gathered(packed.first, packed.stride)), bytes(apart.first));
  EXPECT_EQ(bytes(gathered(packed.second, packed.stride)), bytes(apart.second));
}

// The derivative alone, of sizes and addresses that no pack divides; out may be either operand.
TEST_F(GatedBackwardOnGpu, MultipliesByTheDerivative) {
  for (const Activation& activation : kActivations) {
    for (const std::int64_t cols : edges({1, 7, 8, 1031, 4096})) {
      const Tensor g = random(3, cols, Dtype::kBf16, kScale, 1);
      const Tensor d = random(3, cols, Dtype::kBf16, 1, 2);
      const Tensor one = random(3, cols, Dtype::kBf16, 1, 3);
      double *const dg = doubles(g.count()), *const du = doubles(g.count());
      const Tensor ones = tensor(3, cols, Dtype::kBf16);
      device_->fill(ones, Fill::constant(1), 0);
      device_->reference_math().gate_backward(
          activation, {.g = widened(g), .u = widened(ones), .dh = widened(d), .dg = dg, .du = du},
          g.count());
      enqueue_activation_backward(activation, g, d, one, device_->stream());
      expect_close(one, dg, activation.name.data());
      enqueue_activation_backward(activation, g, d, g, device_->stream());
      EXPECT_EQ(bytes(g), bytes(one));
      memory_.clear();
    }
  }
}

}  // namespace
}  // namespace fusegate::kernels
