// For tests on a GPU: the device, memory, and products in double precision.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <vector>

#include "kernels/activations/activations.h"
#include "kernels/contract/verify.h"
#include "kernels/cuda/device/cublas_device.h"
#include "kernels/cuda/device/gated_operands.h"
#include "kernels/cuda/gemm/gated_gemm_plan.h"

namespace fusegate::kernels {

// All sizes around a kernel's edges; only the first and the last where FUSEGATE_FEW_SHAPES is set,
// as under compute-sanitizer (ci/pipelines/sanitize_kernels.py), where all would take hours.
inline std::vector<int> edges(std::initializer_list<int> all) {
  if (std::getenv("FUSEGATE_FEW_SHAPES") == nullptr) return all;
  return {*all.begin(), *std::prev(all.end())};
}

inline constexpr std::byte kGuard{0xff};  // all bits one, as poison writes: NaN where it is read
inline constexpr std::size_t kGuardBytes = 4096;

// A tensor between guard zones, which show writes outside it and poison reads.
class GuardedTensor {
 public:
  GuardedTensor(Device& device, std::int64_t rows, std::int64_t cols, Dtype dtype)
      : device_(device),
        bytes_(static_cast<std::size_t>(rows * cols) * dtype_bytes(dtype)),
        memory_(device.allocate(bytes_ + 2 * kGuardBytes)) {
    tensor = {static_cast<std::byte*>(memory_.data()) + kGuardBytes, {rows, cols}, dtype};
    device.poison({memory_.data(), {static_cast<std::int64_t>(memory_.bytes())}, Dtype::kInt8});
  }

  bool guards_are_whole() const {
    std::vector<std::byte> seen(memory_.bytes());
    device_.copy_to_host(memory_.data(), seen);
    const auto is_guard = [](std::byte byte) { return byte == kGuard; };
    return std::all_of(seen.begin(), seen.begin() + kGuardBytes, is_guard) &&
           std::all_of(seen.end() - kGuardBytes, seen.end(), is_guard);
  }

  Tensor tensor;

 private:
  Device& device_;
  std::size_t bytes_;
  Memory memory_;
};

// Skips without a GPU. A derived SetUp must check IsSkipped().
class GpuTest : public testing::Test {
 protected:
  using Bytes = std::vector<std::byte>;

  void SetUp() override {
    try {
      device_ = std::make_unique<CublasDevice>();
    } catch (const DeviceError& error) {
      GTEST_SKIP() << error.what();
    }
  }

  // Allocates in memory_, as doubles() does.
  Tensor tensor(std::int64_t rows, std::int64_t cols, Dtype dtype) {
    return allocate_tensor(*device_, {rows, cols}, dtype, memory_);
  }
  Tensor random(std::int64_t rows, std::int64_t cols, Dtype dtype, double scale,
                std::uint64_t seed) {
    const Tensor result = tensor(rows, cols, dtype);
    device_->fill(result, Fill::uniform(scale), seed);
    return result;
  }
  // Other numbers at each call.
  GuardedTensor guarded_random(std::int64_t rows, std::int64_t cols, Dtype dtype, double scale) {
    GuardedTensor result(*device_, rows, cols, dtype);
    device_->fill(result.tensor, Fill::uniform(scale), ++seed_);
    return result;
  }

  Bytes bytes(const Tensor& tensor) {
    Bytes result(tensor.bytes());
    device_->copy_to_host(tensor.data, result);
    return result;
  }

  double* doubles(std::int64_t count) {
    memory_.push_back(device_->allocate(static_cast<std::size_t>(count) * sizeof(double)));
    return static_cast<double*>(memory_.back().data());
  }
  double* widened(const Tensor& tensor) {
    double* const wide = doubles(tensor.count());
    device_->reference_math().widen(tensor, wide);
    return wide;
  }

  // x w^T, [x.rows(), w.rows()].
  double* product(const Tensor& x, const Tensor& w) {
    double* const out = doubles(x.rows() * w.rows());
    device_->reference_math().matmul(widened(x), widened(w), out, x.rows(), w.rows(), x.cols());
    return out;
  }
  // activation(x w_gate^T) * (x w_up^T), [x.rows(), w_gate.rows()].
  double* gated_of_products(const Activation& activation, const Tensor& x, const Tensor& w_gate,
                            const Tensor& w_up) {
    double* const out = product(x, w_gate);
    device_->reference_math().gate(activation, out, product(x, w_up), out,
                                   x.rows() * w_gate.rows());
    return out;
  }

  // Also checks the guard zones of out and of the inputs.
  void expect_agrees(const GuardedTensor& out, const double* expected,
                     std::initializer_list<const GuardedTensor*> inputs) {
    const ErrorNorms norms = device_->reference_math().compare(out.tensor, expected);
    EXPECT_LE(norms.relative(), error_bound(out.tensor.dtype));
    EXPECT_EQ(norms.not_finite, 0);
    EXPECT_TRUE(out.guards_are_whole());
    for (const GuardedTensor* const input : inputs) EXPECT_TRUE(input->guards_are_whole());
  }

  // One product of that size with a gated unit as its epilogue. compute enqueues it.
  void expect_gated(const Activation& activation, const GemmSize& size, Dtype dtype,
                    const std::function<void(const GatedOperands&)>& compute) {
    const GuardedTensor x = guarded_random(size.m, size.k, dtype, 2);
    const GuardedTensor w_gate = guarded_random(size.n, size.k, dtype, 0.5);
    const GuardedTensor w_up = guarded_random(size.n, size.k, dtype, 0.5);
    const GuardedTensor h(*device_, size.m, size.n, dtype);
    compute({x.tensor, w_gate.tensor, w_up.tensor, h.tensor});
    expect_agrees(h, gated_of_products(activation, x.tensor, w_gate.tensor, w_up.tensor),
                  {&x, &w_gate, &w_up});
    memory_.clear();
  }

  std::unique_ptr<CublasDevice> device_;
  std::vector<Memory> memory_;

 private:
  std::uint64_t seed_ = 0;
};

}  // namespace fusegate::kernels
