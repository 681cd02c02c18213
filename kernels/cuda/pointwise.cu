#include <cstdint>
#include <type_traits>

#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/pointwise.h"

#ifdef FUSEGATE_SLOW_OP
#include "kernels/cuda/slowdown.cuh"
#endif

namespace fusegate {
namespace {

// As many elements as 16 bytes hold, moved in one access.
template <typename T, int kCount>
struct alignas(sizeof(T) * kCount) Pack {
  T values[kCount];
};

// gelu_tanh through the logistic function: 0.5 (1 + tanh(y)) = 1 / (1 + exp(-2 y)). One exponential
// and one reciprocal, and no branch; exp's overflow to infinity gives the right limit, zero.
__device__ inline float gelu_tanh(float x) {
  constexpr float kTwoSqrtTwoOverPi = 1.5957691216f;
  const float y = kTwoSqrtTwoOverPi * (x + 0.044715f * x * x * x);
  return x * __frcp_rn(1.0f + __expf(-y));
}

struct Gelu {
  __device__ float operator()(float x) const { return gelu_tanh(x); }
};
struct Mul {
  __device__ float operator()(float a, float b) const { return a * b; }
};
struct GeluMul {
  __device__ float operator()(float g, float u) const { return gelu_tanh(g) * u; }
};
struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
};

struct NotSlowed {
  __device__ void wait_after(float) const {}
};
#ifdef FUSEGATE_SLOW_OP
template <typename Op>
using Slowdown = std::conditional_t<std::is_same_v<Op, FUSEGATE_SLOW_OP>, Slowed, NotSlowed>;
#else
template <typename Op>
using Slowdown = NotSlowed;
#endif

template <typename T, int kVec, typename Op, typename... Packs>
__device__ Pack<T, kVec> apply(Op op, const Packs&... in) {
  Pack<T, kVec> result;
#pragma unroll
  for (int i = 0; i < kVec; ++i) result.values[i] = from_float<T>(op(to_float(in.values[i])...));
  return result;
}

// One pack a thread.
template <typename T, int kVec, typename Op, typename... In>
__global__ void __launch_bounds__(kThreads)
    pointwise_kernel(Op op, T* out, std::int64_t packs, const In*... in) {
  using P = Pack<T, kVec>;
  const Slowdown<Op> slowdown;
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
  if (i >= packs) return;
  const P result = apply<T, kVec>(op, reinterpret_cast<const P*>(in)[i]...);
  slowdown.wait_after(to_float(result.values[kVec - 1]));
  reinterpret_cast<P*>(out)[i] = result;
}

// The bias repeats every n elements; packs_per_row packs make a row.
template <typename T, int kVec>
__global__ void __launch_bounds__(kThreads)
    bias_add_kernel(const T* x, const T* bias, T* out, std::int64_t packs,
                    std::int64_t packs_per_row) {
  using P = Pack<T, kVec>;
  const Slowdown<Add> slowdown;
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
  if (i >= packs) return;
  const P addend = reinterpret_cast<const P*>(bias)[i % packs_per_row];
  const P result = apply<T, kVec>(Add{}, reinterpret_cast<const P*>(x)[i], addend);
  slowdown.wait_after(to_float(result.values[kVec - 1]));
  reinterpret_cast<P*>(out)[i] = result;
}

template <typename... Pointers>
bool aligned_to_16(Pointers... pointers) {
  return ((reinterpret_cast<std::uintptr_t>(pointers) % 16 == 0) && ...);
}

unsigned blocks_for(std::int64_t packs) {
  return static_cast<unsigned>((packs + kThreads - 1) / kThreads);
}

template <typename Op, typename... In>
void enqueue_pointwise(Op op, const Tensor& out, cudaStream_t stream, const In&... in) {
  if (out.count() == 0) return;
  dispatch_dtype(out.dtype, [&]<typename T>() {
    constexpr int kVec = 16 / sizeof(T);
    auto* const to = static_cast<T*>(out.data);
    if (out.count() % kVec == 0 && aligned_to_16(out.data, in.data...)) {
      const std::int64_t packs = out.count() / kVec;
      pointwise_kernel<T, kVec><<<blocks_for(packs), kThreads, 0, stream>>>(
          op, to, packs, static_cast<const T*>(in.data)...);
    } else {
      pointwise_kernel<T, 1><<<blocks_for(out.count()), kThreads, 0, stream>>>(
          op, to, out.count(), static_cast<const T*>(in.data)...);
    }
  });
  FUSEGATE_CUDA(cudaGetLastError());
}

}  // namespace

void enqueue_bias_add(const Tensor& x, const Tensor& bias, const Tensor& out, cudaStream_t stream) {
  if (out.count() == 0) return;
  dispatch_dtype(out.dtype, [&]<typename T>() {
    constexpr int kVec = 16 / sizeof(T);
    const auto* const from = static_cast<const T*>(x.data);
    const auto* const addend = static_cast<const T*>(bias.data);
    auto* const to = static_cast<T*>(out.data);
    if (out.cols % kVec == 0 && aligned_to_16(from, addend, to)) {
      const std::int64_t packs = out.count() / kVec;
      bias_add_kernel<T, kVec>
          <<<blocks_for(packs), kThreads, 0, stream>>>(from, addend, to, packs, out.cols / kVec);
    } else {
      bias_add_kernel<T, 1><<<blocks_for(out.count()), kThreads, 0, stream>>>(
          from, addend, to, out.count(), out.cols);
    }
  });
  FUSEGATE_CUDA(cudaGetLastError());
}

void enqueue_gelu(const Tensor& x, const Tensor& out, cudaStream_t stream) {
  enqueue_pointwise(Gelu{}, out, stream, x);
}

void enqueue_mul(const Tensor& a, const Tensor& b, const Tensor& out, cudaStream_t stream) {
  enqueue_pointwise(Mul{}, out, stream, a, b);
}

void enqueue_gelu_mul(const Tensor& g, const Tensor& u, const Tensor& out, cudaStream_t stream) {
  enqueue_pointwise(GeluMul{}, out, stream, g, u);
}

}  // namespace fusegate
