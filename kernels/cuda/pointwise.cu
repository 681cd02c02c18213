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

// What a kernel of this operation is held up by, and how it is launched: by nothing, but in a build
// that slows one.
struct NotSlowed {
  __device__ bool lets_pass(float) const { return true; }

  template <typename Launch>
  static void launch(Launch launch, const void*, std::int64_t, unsigned, cudaStream_t) {
    launch(NotSlowed{});
  }
};
#ifdef FUSEGATE_SLOW_OP
template <typename Op>
using Slowdown = std::conditional_t<std::is_same_v<Op, FUSEGATE_SLOW_OP>, Slowed, NotSlowed>;
#else
template <typename Op>
using Slowdown = NotSlowed;
#endif

// One access of the pack's whole width, which the compiler does not make of the elements' own.
template <typename P>
__device__ P load(const P* from) {
  if constexpr (sizeof(P) == sizeof(uint4)) {
    const uint4 raw = *reinterpret_cast<const uint4*>(from);
    P pack;
    memcpy(&pack, &raw, sizeof(P));
    return pack;
  } else {
    return *from;
  }
}

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
    pointwise_kernel(Op op, Slowdown<Op> slowdown, T* out, std::int64_t packs, const In*... in) {
  using P = Pack<T, kVec>;
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
  if (i >= packs) return;
  const P result = apply<T, kVec>(op, load(reinterpret_cast<const P*>(in) + i)...);
  if (!slowdown.lets_pass(to_float(result.values[kVec - 1]))) return;
  reinterpret_cast<P*>(out)[i] = result;
}

// The bias repeats every n elements; packs_per_row packs make a row.
template <typename T, int kVec>
__global__ void __launch_bounds__(kThreads)
    bias_add_kernel(Slowdown<Add> slowdown, const T* x, const T* bias, T* out, std::int64_t packs,
                    std::int64_t packs_per_row) {
  using P = Pack<T, kVec>;
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
  if (i >= packs) return;
  const P addend = load(reinterpret_cast<const P*>(bias) + i % packs_per_row);
  const P result = apply<T, kVec>(Add{}, load(reinterpret_cast<const P*>(x) + i), addend);
  if (!slowdown.lets_pass(to_float(result.values[kVec - 1]))) return;
  reinterpret_cast<P*>(out)[i] = result;
}

template <typename... Pointers>
bool aligned_to_16(Pointers... pointers) {
  return ((reinterpret_cast<std::uintptr_t>(pointers) % 16 == 0) && ...);
}

unsigned blocks_for(std::int64_t packs) {
  return static_cast<unsigned>((packs + kThreads - 1) / kThreads);
}

// One T for every tensor of a pack.
template <typename T, typename>
using Element = T;

template <typename T, int kVec, typename Op, typename... In>
void launch_pointwise(Op op, const Tensor& out, cudaStream_t stream, const In&... in) {
  const std::int64_t packs = out.count() / kVec;
  const unsigned blocks = blocks_for(packs);
  const auto kernel = pointwise_kernel<T, kVec, Op, Element<T, In>...>;
  Slowdown<Op>::launch(
      [&](Slowdown<Op> slowdown) {
        kernel<<<blocks, kThreads, 0, stream>>>(op, slowdown, static_cast<T*>(out.data), packs,
                                                static_cast<const T*>(in.data)...);
      },
      reinterpret_cast<const void*>(kernel), packs, blocks, stream);
}

template <typename Op, typename... In>
void enqueue_pointwise(Op op, const Tensor& out, cudaStream_t stream, const In&... in) {
  if (out.count() == 0) return;
  dispatch_dtype(out.dtype, [&]<typename T>() {
    constexpr int kVec = 16 / sizeof(T);
    const bool in_packs = out.count() % kVec == 0 && aligned_to_16(out.data, in.data...);
    if (in_packs) {
      launch_pointwise<T, kVec>(op, out, stream, in...);
    } else {
      launch_pointwise<T, 1>(op, out, stream, in...);
    }
  });
  FUSEGATE_CUDA(cudaGetLastError());
}

template <typename T, int kVec>
void launch_bias_add(const Tensor& x, const Tensor& bias, const Tensor& out, cudaStream_t stream) {
  const std::int64_t packs = out.count() / kVec;
  const unsigned blocks = blocks_for(packs);
  const auto kernel = bias_add_kernel<T, kVec>;
  Slowdown<Add>::launch(
      [&](Slowdown<Add> slowdown) {
        kernel<<<blocks, kThreads, 0, stream>>>(
            slowdown, static_cast<const T*>(x.data), static_cast<const T*>(bias.data),
            static_cast<T*>(out.data), packs, out.cols / kVec);
      },
      reinterpret_cast<const void*>(kernel), packs, blocks, stream);
}

}  // namespace

void enqueue_bias_add(const Tensor& x, const Tensor& bias, const Tensor& out, cudaStream_t stream) {
  if (out.count() == 0) return;
  dispatch_dtype(out.dtype, [&]<typename T>() {
    constexpr int kVec = 16 / sizeof(T);
    if (out.cols % kVec == 0 && aligned_to_16(x.data, bias.data, out.data)) {
      launch_bias_add<T, kVec>(x, bias, out, stream);
    } else {
      launch_bias_add<T, 1>(x, bias, out, stream);
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
