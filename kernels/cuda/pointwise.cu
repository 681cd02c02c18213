#include <algorithm>
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

// What holds a kernel up before it writes: nothing, but in a build that slows one.
struct NotSlowed {
  template <typename T>
  __device__ T held_up(T value) const {
    return value;
  }
};

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
template <typename T, int kVec, typename Op, typename Slowdown, typename... In>
__global__ void __launch_bounds__(kThreads)
    pointwise_kernel(Slowdown slowdown, Op op, T* out, std::int64_t packs, const In*... in) {
  using P = Pack<T, kVec>;
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
  if (i >= packs) return;
  P result = apply<T, kVec>(op, load(reinterpret_cast<const P*>(in) + i)...);
  result.values[kVec - 1] = slowdown.held_up(result.values[kVec - 1]);
  reinterpret_cast<P*>(out)[i] = result;
}

// The bias repeats every n elements; packs_per_row packs make a row.
template <typename T, int kVec, typename Slowdown>
__global__ void __launch_bounds__(kThreads)
    bias_add_kernel(Slowdown slowdown, const T* x, const T* bias, T* out, std::int64_t packs,
                    std::int64_t packs_per_row) {
  using P = Pack<T, kVec>;
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
  if (i >= packs) return;
  const P addend = load(reinterpret_cast<const P*>(bias) + i % packs_per_row);
  P result = apply<T, kVec>(Add{}, load(reinterpret_cast<const P*>(x) + i), addend);
  result.values[kVec - 1] = slowdown.held_up(result.values[kVec - 1]);
  reinterpret_cast<P*>(out)[i] = result;
}

// A block of the packed kernel: that many packs of that many rows, which leaves no thread idle
// where a row is a multiple of 128 packs (1024 elements) long.
constexpr unsigned kPackedCols = 128, kPackedRows = kThreads / kPackedCols;

// gu's rows are twice as long as out's. Threads know their row from the grid, lest each divide by a
// length that only the host knows.
template <typename T, int kVec, typename Slowdown>
__global__ void __launch_bounds__(kThreads)
    packed_gelu_mul_kernel(Slowdown slowdown, const T* gu, T* out, std::int64_t rows,
                           std::int64_t packs_per_row) {
  using P = Pack<T, kVec>;
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(kPackedCols) + threadIdx.x;
  if (i >= packs_per_row) return;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.y) * kPackedRows;
  for (std::int64_t row = blockIdx.y * kPackedRows + threadIdx.y; row < rows; row += stride) {
    const P* const g = reinterpret_cast<const P*>(gu) + 2 * row * packs_per_row + i;
    P result = apply<T, kVec>(GeluMul{}, load(g), load(g + packs_per_row));
    result.values[kVec - 1] = slowdown.held_up(result.values[kVec - 1]);
    reinterpret_cast<P*>(out)[row * packs_per_row + i] = result;
  }
}

template <typename... Pointers>
bool aligned_to_16(Pointers... pointers) {
  return ((reinterpret_cast<std::uintptr_t>(pointers) % 16 == 0) && ...);
}

unsigned blocks_for(std::int64_t packs) {
  return static_cast<unsigned>((packs + kThreads - 1) / kThreads);
}

// kernel_of(slowdown) is the kernel that is held up so; args are what it takes besides. A build
// that slows it writes to out while it finds out how.
template <typename Op, typename KernelOf, typename... Args>
void launch_grid(dim3 grid, dim3 block, KernelOf kernel_of, [[maybe_unused]] const Tensor& out,
                 cudaStream_t stream, Args... args) {
  const auto enqueue = [&](auto slowdown) {
    kernel_of(slowdown)<<<grid, block, 0, stream>>>(slowdown, args...);
  };
#ifdef FUSEGATE_SLOW_OP
  if constexpr (std::is_same_v<Op, FUSEGATE_SLOW_OP>) {
    static const unsigned resident =
        resident_blocks(reinterpret_cast<const void*>(kernel_of(LastWaveSteps{})), kThreads);
    return launch_slowed(enqueue, grid.x * grid.y, resident, out, stream);
  }
#endif
  enqueue(NotSlowed{});
}

template <typename Op, int kVec, typename KernelOf, typename... Args>
void launch(KernelOf kernel_of, const Tensor& out, cudaStream_t stream, Args... args) {
  launch_grid<Op>(blocks_for(out.count() / kVec), kThreads, kernel_of, out, stream, args...);
}

// One T for every tensor of a pack.
template <typename T, typename>
using Element = T;

template <typename T, int kVec, typename Op, typename... In>
void launch_pointwise(Op op, const Tensor& out, cudaStream_t stream, const In&... in) {
  const std::int64_t packs = out.count() / kVec;
  const auto kernel_of = []<typename Slowdown>(Slowdown) {
    return pointwise_kernel<T, kVec, Op, Slowdown, Element<T, In>...>;
  };
  launch<Op, kVec>(kernel_of, out, stream, op, static_cast<T*>(out.data), packs,
                   static_cast<const T*>(in.data)...);
}

template <typename Op, typename... In>
void enqueue_pointwise(Op op, const Tensor& out, cudaStream_t stream, const In&... in) {
  if (out.count() == 0) return;
  dispatch_dtype(out.dtype, [&]<typename T>() {
    constexpr int kVec = 16 / sizeof(T);
    if (out.count() % kVec == 0 && aligned_to_16(out.data, in.data...)) {
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
  const auto kernel_of = []<typename Slowdown>(Slowdown) {
    return bias_add_kernel<T, kVec, Slowdown>;
  };
  launch<Add, kVec>(kernel_of, out, stream, static_cast<const T*>(x.data),
                    static_cast<const T*>(bias.data), static_cast<T*>(out.data), packs,
                    out.cols / kVec);
}

template <typename T, int kVec>
void launch_packed_gelu_mul(const Tensor& gu, const Tensor& out, cudaStream_t stream) {
  constexpr std::int64_t kMostGridRows = 65535;  // what CUDA allows
  const std::int64_t packs_per_row = out.cols / kVec;
  const auto blocks = [](std::int64_t count, unsigned of) { return (count + of - 1) / of; };
  const dim3 grid(static_cast<unsigned>(blocks(packs_per_row, kPackedCols)),
                  static_cast<unsigned>(std::min(blocks(out.rows, kPackedRows), kMostGridRows)));
  const auto kernel_of = []<typename Slowdown>(Slowdown) {
    return packed_gelu_mul_kernel<T, kVec, Slowdown>;
  };
  launch_grid<GeluMul>(grid, dim3(kPackedCols, kPackedRows), kernel_of, out, stream,
                       static_cast<const T*>(gu.data), static_cast<T*>(out.data), out.rows,
                       packs_per_row);
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

void enqueue_packed_gelu_mul(const Tensor& gu, const Tensor& out, cudaStream_t stream) {
  if (out.count() == 0) return;
  dispatch_dtype(out.dtype, [&]<typename T>() {
    constexpr int kVec = 16 / sizeof(T);
    if (out.cols % kVec == 0 && aligned_to_16(gu.data, out.data)) {
      launch_packed_gelu_mul<T, kVec>(gu, out, stream);
    } else {
      launch_packed_gelu_mul<T, 1>(gu, out, stream);
    }
  });
  FUSEGATE_CUDA(cudaGetLastError());
}

}  // namespace fusegate
