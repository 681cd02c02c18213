#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/device/dependent_launch.h"
#include "kernels/cuda/pointwise/pointwise.h"
#include "kernels/cuda/pointwise/pointwise_body.cuh"
#include "kernels/cuda/pointwise/pointwise_plan.h"

#ifdef FUSEGATE_SLOW_OP
#include "kernels/cuda/planted/slowdown.cuh"
#endif

namespace fusegate::kernels {
namespace {

constexpr unsigned kThreads = 256, kLargeThreads = 1024;  // of a block
// Past kLargeOutput, where gelu and mul are one: a gelu alone, 64 x 128 x 3072, took 28.2 us by
// large blocks and takes 25.9 (profiled calls in geglu_mlp/unfused on H200s, driver 580.159.04).
template <typename Op>
constexpr bool kHasLargeBlocks = std::is_same_v<Op, GeluMul> || std::is_same_v<Op, RoundedGeluMul>;

// In: each input's address.
template <typename Format, typename Op, typename Slowdown, typename... In>
__global__ void __launch_bounds__(kThreads)
    pointwise_kernel(Slowdown slowdown, void* out, unsigned packs, unsigned tail, In... in) {
  pointwise<Format, Op, kThreads>(slowdown, out, packs, tail, in...);
}

// A kernel by another name, as their times differ.
template <typename Format, typename Op, typename Slowdown, typename... In>
__global__ void __launch_bounds__(kLargeThreads)
    large_pointwise_kernel(Slowdown slowdown, void* out, unsigned packs, unsigned tail, In... in) {
  pointwise<Format, Op, kLargeThreads>(slowdown, out, packs, tail, in...);
}

// The bias repeats every row, which is so many packs or, where not kPacked, elements of the items.
template <typename Format, bool kPacked, typename Slowdown>
__global__ void __launch_bounds__(kThreads)
    bias_add_kernel(Slowdown slowdown, void* out, const void* x, const void* bias, unsigned items,
                    unsigned items_a_row) {
  wait_for_kernel_before();
  const unsigned i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= items) return;
  const unsigned column = i % items_a_row;
  if constexpr (kPacked) {
    write_pack<Format, Add>(slowdown, out, i, load_pack(x, i), load_pack(bias, column));
  } else {
    write_element<Format, Add>(slowdown, out, i, load_element<Format>(x, i),
                               load_element<Format>(bias, column));
  }
}

// A block of the packed kernel: that many items of that many rows, which leaves no thread idle
// where a row is a multiple of 128 packs (1024 elements) long.
constexpr unsigned kPackedCols = 128, kPackedRows = 2;

// gu's rows are twice as long as out's. Threads know their row from the grid, lest each divide by a
// length that only the host knows.
template <typename Format, bool kPacked, typename Slowdown>
__global__ void __launch_bounds__(kPackedCols* kPackedRows)
    packed_gelu_mul_kernel(Slowdown slowdown, void* out, const void* gu, unsigned rows,
                           unsigned items_a_row) {
  wait_for_kernel_before();
  const unsigned column = blockIdx.x * kPackedCols + threadIdx.x;
  if (column >= items_a_row) return;
  for (unsigned row = blockIdx.y * kPackedRows + threadIdx.y; row < rows;
       row += gridDim.y * kPackedRows) {
    const unsigned to = row * items_a_row + column, g = to + row * items_a_row;
    if constexpr (kPacked) {
      write_pack<Format, GeluMul>(slowdown, out, to, load_pack(gu, g),
                                  load_pack(gu, g + items_a_row));
    } else {
      write_element<Format, GeluMul>(slowdown, out, to, load_element<Format>(gu, g),
                                     load_element<Format>(gu, g + items_a_row));
    }
  }
}

// Calls f.template operator()<Format>() with the format of dtype.
template <typename F>
void dispatch_format(Dtype dtype, F&& f) {
  switch (dtype) {
    case Dtype::kBf16:
      return f.template operator()<Bf16>();
    case Dtype::kFp16:
      return f.template operator()<Fp16>();
    case Dtype::kFp32:
      return f.template operator()<Fp32>();
  }
}

template <typename... Pointers>
bool aligned_to_16(Pointers... pointers) {
  return ((reinterpret_cast<std::uintptr_t>(pointers) % 16 == 0) && ...);
}

// kernel_of(slowdown) is the kernel that is held up so; args are what it takes besides.
template <typename Op, typename KernelOf, typename... Args>
void launch(KernelOf kernel_of, dim3 blocks, dim3 threads, [[maybe_unused]] const Tensor& out,
            cudaStream_t stream, Args... args) {
  const auto enqueue = [&](auto slowdown) {
    const auto kernel = kernel_of(slowdown);
    static const bool early = can_launch_early(reinterpret_cast<const void*>(kernel));
    launch_kernel(kernel, {.blocks = blocks, .threads = threads, .early = early}, stream, slowdown,
                  args...);
  };
#ifdef FUSEGATE_SLOW_OP
  if constexpr (std::is_same_v<Op, FUSEGATE_SLOW_OP>) {
    static const unsigned resident =
        resident_blocks(reinterpret_cast<const void*>(kernel_of(LastWaveSteps{})),
                        static_cast<int>(threads.x * threads.y));
    return launch_slowed(enqueue, blocks.x * blocks.y, resident, out, stream);
  }
#endif
  enqueue(NotSlowed{});
}

template <typename Op, typename... In>
void enqueue_pointwise(const Tensor& out, cudaStream_t stream, const In&... in) {
  if (out.count() == 0) return;
  dispatch_format(out.dtype, [&]<typename Format>() {
    const bool large = kHasLargeBlocks<Op> && out.bytes() >= kLargeOutput;
    const unsigned threads = large ? kLargeThreads : kThreads;
    const bool aligned = aligned_to_16(out.data, in.data...);
    const PointwisePlan plan = plan_pointwise(out.count(), kInAPack<Format>, aligned, threads);
    const auto enqueue = [&](auto kernel_of) {
      launch<Op>(kernel_of, plan.blocks, threads, out, stream, out.data, plan.packs, plan.tail,
                 in.data...);
    };
    if constexpr (kHasLargeBlocks<Op>) {
      if (large) {
        return enqueue([]<typename Slowdown>(Slowdown) {
          return large_pointwise_kernel<Format, Op, Slowdown, decltype(In::data)...>;
        });
      }
    }
    enqueue([]<typename Slowdown>(Slowdown) {
      return pointwise_kernel<Format, Op, Slowdown, decltype(In::data)...>;
    });
  });
}

template <typename Format, bool kPacked>
void launch_bias_add(const Tensor& x, const Tensor& bias, const Tensor& out, cudaStream_t stream) {
  constexpr int kInAnItem = kPacked ? kInAPack<Format> : 1;
  const PointwisePlan plan = plan_pointwise(out.count(), kInAnItem, true, kThreads);
  const auto kernel_of = []<typename Slowdown>(Slowdown) {
    return bias_add_kernel<Format, kPacked, Slowdown>;
  };
  launch<Add>(kernel_of, plan.blocks, kThreads, out, stream, out.data, x.data, bias.data,
              plan.packs, static_cast<unsigned>(out.cols / kInAnItem));
}

// Indices of 32 bits: gu has fewer than 2^32 items, 64 GiB of packs.
template <typename Format, bool kPacked>
void launch_packed_gelu_mul(const Tensor& gu, const Tensor& out, cudaStream_t stream) {
  constexpr unsigned kMostGridRows = 65535;  // what CUDA allows
  const auto items = static_cast<unsigned>(out.cols / (kPacked ? kInAPack<Format> : 1));
  const auto rows = static_cast<unsigned>(out.rows);
  const dim3 blocks((items + kPackedCols - 1) / kPackedCols,
                    std::min((rows + kPackedRows - 1) / kPackedRows, kMostGridRows));
  const auto kernel_of = []<typename Slowdown>(Slowdown) {
    return packed_gelu_mul_kernel<Format, kPacked, Slowdown>;
  };
  launch<GeluMul>(kernel_of, blocks, dim3(kPackedCols, kPackedRows), out, stream, out.data, gu.data,
                  rows, items);
}

}  // namespace

void enqueue_bias_add(const Tensor& x, const Tensor& bias, const Tensor& out, cudaStream_t stream) {
  if (out.count() == 0) return;
  dispatch_format(out.dtype, [&]<typename Format>() {
    if (out.cols % kInAPack<Format> == 0 && aligned_to_16(x.data, bias.data, out.data)) {
      launch_bias_add<Format, true>(x, bias, out, stream);
    } else {
      launch_bias_add<Format, false>(x, bias, out, stream);
    }
  });
}

void enqueue_gelu(const Tensor& x, const Tensor& out, cudaStream_t stream) {
  enqueue_pointwise<Gelu>(out, stream, x);
}

void enqueue_mul(const Tensor& a, const Tensor& b, const Tensor& out, cudaStream_t stream) {
  enqueue_pointwise<Mul>(out, stream, a, b);
}

void enqueue_gelu_mul(const Tensor& g, const Tensor& u, const Tensor& out, cudaStream_t stream) {
  enqueue_pointwise<GeluMul>(out, stream, g, u);
}

void enqueue_packed_gelu_mul(const Tensor& gu, const Tensor& out, cudaStream_t stream) {
  if (out.count() == 0) return;
  dispatch_format(out.dtype, [&]<typename Format>() {
    if (out.cols % kInAPack<Format> == 0 && aligned_to_16(gu.data, out.data)) {
      launch_packed_gelu_mul<Format, true>(gu, out, stream);
    } else {
      launch_packed_gelu_mul<Format, false>(gu, out, stream);
    }
  });
}

void enqueue_rounded_gelu_mul(const Tensor& g, const Tensor& u, const Tensor& out,
                              cudaStream_t stream) {
  enqueue_pointwise<RoundedGeluMul>(out, stream, g, u);
}

}  // namespace fusegate::kernels
