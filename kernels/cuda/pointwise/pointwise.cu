#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernels/activations/activations.h"
#include "kernels/cuda/device/dependent_launch.h"
#include "kernels/cuda/planted/own_time.cuh"
#include "kernels/cuda/pointwise/pointwise.h"
#include "kernels/cuda/pointwise/pointwise_body.cuh"
#include "kernels/cuda/pointwise/pointwise_plan.h"

#ifdef FUSEGATE_SLOW_OP
#include "kernels/cuda/planted/slowdown.cuh"
#endif

namespace fusegate::kernels {
namespace {

constexpr unsigned kThreads = 256, kLargeThreads = 1024;  // of a block
// Where the output is large (is_large_output) and gelu and mul are one: a gelu alone, 64 x 128 x
// 3072, took 28.2 us by large blocks and takes 25.9 (profiled calls in geglu_mlp/unfused on H200s,
// driver 580.159.04).
template <typename Op>
constexpr bool kHasLargeBlocks = false;
template <typename Functor>
constexpr bool kHasLargeBlocks<Gated<Functor>> = true;
template <typename Functor>
constexpr bool kHasLargeBlocks<RoundedGated<Functor>> = true;

// What a kernel's threads do, apart from the kernel, so that builds can slow it
// (planted/slowdown.cuh).
template <typename Format, typename Op_, unsigned kThreads_>
struct Pointwise {
  using Op = Op_;
  static constexpr unsigned kThreads = kThreads_;

  template <typename Hold, typename... In>
  static __device__ void run(Hold hold, void* out, unsigned packs, unsigned tail, In... in) {
    pointwise<Format, Op, kThreads>(hold, out, packs, tail, in...);
  }
};

// Of a gated unit's backward pass, device addresses; h is written where kWritesH.
struct BackwardData {
  const void *g, *u, *dh;
  void *dg, *du, *h;
};

// Items are packs or, where not kPacked, elements: of g and u, of dh and h, and of dg and du.
struct BackwardItem {
  unsigned long long in, h, out;
};

// What it computes of g is shared, which the compiler finds.
template <typename Format, typename Functor, bool kWritesH, bool kPacked, typename Hold>
__device__ void write_backward(Hold hold, const BackwardData& data, const BackwardItem& at) {
  const auto load = [](const void* from, unsigned long long i) {
    if constexpr (kPacked) {
      return load_pack(from, static_cast<unsigned>(i));
    } else {
      return load_element(from, i);
    }
  };
  const auto write = [&]<typename Op>(void* out, unsigned long long i, const auto&... in) {
    if constexpr (kPacked) {
      write_pack<Format, Op>(hold, out, static_cast<unsigned>(i), in...);
    } else {
      write_element<Format, Op>(hold, out, i, in...);
    }
  };
  const auto g = load(data.g, at.in), u = load(data.u, at.in), dh = load(data.dh, at.h);
  write.template operator()<GateGradient<Functor>>(data.dg, at.out, g, u, dh);
  write.template operator()<Gated<Functor>>(data.du, at.out, g, dh);
  if constexpr (kWritesH) write.template operator()<Gated<Functor>>(data.h, at.h, g, u);
}

template <typename Format, typename Functor, bool kWritesH>
struct GatedBackward {
  using Op = GateGradient<Functor>;
  static constexpr unsigned kThreads = kernels::kThreads;

  template <typename Hold>
  static __device__ void run(Hold hold, BackwardData data, unsigned packs, unsigned tail) {
    wait_for_kernel_before();
    const unsigned i = blockIdx.x * kThreads + threadIdx.x;
    if (i < packs) {
      write_backward<Format, Functor, kWritesH, true>(hold, data, {i, i, i});
    } else if (i - packs < tail) {
      const unsigned long long at = packs * 1ull * kInAPack + (i - packs);
      write_backward<Format, Functor, kWritesH, false>(hold, data, {at, at, at});
    }
  }
};

// Items from a row to the next.
struct BackwardRows {
  unsigned rows, items, in_stride, out_stride;
};

// Rows of g and u, or of dg and du, are further apart. The grid gives threads their row.
template <typename Format, typename Functor, bool kWritesH, bool kPacked>
struct PackedGatedBackward {
  using Op = GateGradient<Functor>;
  static constexpr unsigned kCols = 128, kRows = 2, kThreads = kCols * kRows;

  template <typename Hold>
  static __device__ void run(Hold hold, BackwardData data, BackwardRows of) {
    wait_for_kernel_before();
    const unsigned column = blockIdx.x * kCols + threadIdx.x;
    if (column >= of.items) return;
    for (unsigned row = blockIdx.y * kRows + threadIdx.y; row < of.rows; row += gridDim.y * kRows) {
      write_backward<Format, Functor, kWritesH, kPacked>(
          hold, data,
          {row * 1ull * of.in_stride + column, row * 1ull * of.items + column,
           row * 1ull * of.out_stride + column});
    }
  }
};

// The bias repeats every row. Items: packs or, where not kPacked, elements.
template <typename Format, bool kPacked>
struct BiasAdd {
  using Op = Add;
  static constexpr unsigned kThreads = kernels::kThreads;

  template <typename Hold>
  static __device__ void run(Hold hold, void* out, const void* x, const void* bias, unsigned items,
                             unsigned items_a_row) {
    wait_for_kernel_before();
    const unsigned i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= items) return;
    const unsigned column = i % items_a_row;
    if constexpr (kPacked) {
      write_pack<Format, Op>(hold, out, i, load_pack(x, i), load_pack(bias, column));
    } else {
      write_element<Format, Op>(hold, out, i, load_element(x, i), load_element(bias, column));
    }
  }
};

// gu's rows are twice as long as out's. The grid gives threads their row, which saves a division.
template <typename Format, typename Functor, bool kPacked>
struct PackedGated {
  using Op = Gated<Functor>;
  // Of a block: items of a row, and rows. No thread is idle where a row is a multiple of 128 packs
  // (1024 elements) long.
  static constexpr unsigned kCols = 128, kRows = 2, kThreads = kCols * kRows;

  template <typename Hold>
  static __device__ void run(Hold hold, void* out, const void* gu, unsigned rows,
                             unsigned items_a_row) {
    wait_for_kernel_before();
    const unsigned column = blockIdx.x * kCols + threadIdx.x;
    if (column >= items_a_row) return;
    for (unsigned row = blockIdx.y * kRows + threadIdx.y; row < rows; row += gridDim.y * kRows) {
      const unsigned to = row * items_a_row + column, g = to + row * items_a_row;
      if constexpr (kPacked) {
        write_pack<Format, Op>(hold, out, to, load_pack(gu, g), load_pack(gu, g + items_a_row));
      } else {
        write_element<Format, Op>(hold, out, to, load_element(gu, g),
                                  load_element(gu, g + items_a_row));
      }
    }
  }
};

template <typename Body, typename... Args>
__global__ void __launch_bounds__(Body::kThreads) pointwise_kernel(Args... args) {
  FUSEGATE_TAKE_LONGER;
  Body::run(NotHeldUp{}, args...);
}

// Calls f.template operator()<Format>() with the format of dtype.
template <typename F>
void dispatch_format(Dtype dtype, F&& f) {
  switch (dtype) {
    case Dtype::kBf16:
      return f.template operator()<Bf16>();
    case Dtype::kFp16:
      return f.template operator()<Fp16>();
    default:
      throw DeviceError("element-wise kernels do not support " + std::string(dtype_name(dtype)));
  }
}

template <typename... Pointers>
bool aligned_to_16(Pointers... pointers) {
  return ((reinterpret_cast<std::uintptr_t>(pointers) % 16 == 0) && ...);
}

template <typename Body, typename... Args>
void launch(dim3 blocks, dim3 threads, [[maybe_unused]] const Tensor& out, cudaStream_t stream,
            Args... args) {
#ifdef FUSEGATE_SLOW_OP
  if constexpr (std::is_same_v<typename Body::Op, FUSEGATE_SLOW_OP>) {
    return planted::launch_slowed<Body>(blocks, threads, out, stream, args...);
  }
#endif
  const auto kernel = pointwise_kernel<Body, Args...>;
  static const bool early = can_launch_early(reinterpret_cast<const void*>(kernel));
  launch_kernel(kernel, {.blocks = blocks, .threads = threads, .early = early}, stream, args...);
}

// A process has one GPU. Queried once, since launches are timed.
std::size_t l2_bytes() {
  static const std::size_t bytes = [] {
    int device = 0, value = 0;
    FUSEGATE_CUDA(cudaGetDevice(&device));
    FUSEGATE_CUDA(cudaDeviceGetAttribute(&value, cudaDevAttrL2CacheSize, device));
    return static_cast<std::size_t>(value);
  }();
  return bytes;
}

template <typename Format, typename Op, unsigned kBlock, typename... In>
void launch_pointwise(const Tensor& out, cudaStream_t stream, const In&... in) {
  const bool aligned = aligned_to_16(out.data, in.data...);
  const PointwisePlan plan = plan_pointwise(out.count(), kInAPack, aligned, kBlock);
  launch<Pointwise<Format, Op, kBlock>>(plan.blocks, kBlock, out, stream, out.data, plan.packs,
                                        plan.tail, in.data...);
}

template <typename Op, typename... In>
void enqueue_pointwise(const Tensor& out, cudaStream_t stream, const In&... in) {
  if (out.count() == 0) return;
  dispatch_format(out.dtype, [&]<typename Format>() {
    if constexpr (kHasLargeBlocks<Op>) {
      if (is_large_output(out.bytes(), l2_bytes())) {
        return launch_pointwise<Format, Op, kLargeThreads>(out, stream, in...);
      }
    }
    launch_pointwise<Format, Op, kThreads>(out, stream, in...);
  });
}

BackwardData data_of(const UnitBackward& unit) {
  return {unit.g.data,  unit.u.data,  unit.dh.data,
          unit.dg.data, unit.du.data, unit.h ? unit.h->data : nullptr};
}

bool is_aligned(const BackwardData& data) {
  return aligned_to_16(data.g, data.u, data.dh, data.dg, data.du, data.h);
}

template <typename Format, typename Functor, bool kWritesH>
void launch_gated_backward(const UnitBackward& unit, cudaStream_t stream) {
  using Body = GatedBackward<Format, Functor, kWritesH>;
  const BackwardData data = data_of(unit);
  const PointwisePlan plan =
      plan_pointwise(unit.dg.count(), kInAPack, is_aligned(data), Body::kThreads);
  launch<Body>(plan.blocks, Body::kThreads, unit.dg, stream, data, plan.packs, plan.tail);
}

constexpr unsigned kMostGridRows = 65535;  // what CUDA allows

// Indices of 32 bits within a row.
template <typename Format, typename Functor, bool kWritesH, bool kPacked>
void launch_packed_backward(const UnitBackward& unit, cudaStream_t stream) {
  using Body = PackedGatedBackward<Format, Functor, kWritesH, kPacked>;
  const auto items = [&](std::int64_t stride) {
    return static_cast<unsigned>(std::max(stride, unit.g.cols()) / (kPacked ? kInAPack : 1));
  };
  const BackwardRows of{static_cast<unsigned>(unit.g.rows()), items(0), items(unit.in_stride),
                        items(unit.out_stride)};
  const dim3 blocks((of.items + Body::kCols - 1) / Body::kCols,
                    std::min((of.rows + Body::kRows - 1) / Body::kRows, kMostGridRows));
  launch<Body>(blocks, dim3(Body::kCols, Body::kRows), unit.dg, stream, data_of(unit), of);
}

template <typename Format, typename Functor, bool kWritesH>
void launch_backward(const UnitBackward& unit, cudaStream_t stream) {
  if (unit.is_contiguous()) return launch_gated_backward<Format, Functor, kWritesH>(unit, stream);
  constexpr std::int64_t kPack = kInAPack;
  const bool has_packs = unit.g.cols() % kPack == 0 && unit.in_stride % kPack == 0 &&
                         unit.out_stride % kPack == 0 && is_aligned(data_of(unit));
  if (has_packs) {
    launch_packed_backward<Format, Functor, kWritesH, true>(unit, stream);
  } else {
    launch_packed_backward<Format, Functor, kWritesH, false>(unit, stream);
  }
}

template <typename Format, bool kPacked>
void launch_bias_add(const Tensor& x, const Tensor& bias, const Tensor& out, cudaStream_t stream) {
  constexpr int kInAnItem = kPacked ? kInAPack : 1;
  const PointwisePlan plan = plan_pointwise(out.count(), kInAnItem, true, kThreads);
  launch<BiasAdd<Format, kPacked>>(plan.blocks, kThreads, out, stream, out.data, x.data, bias.data,
                                   plan.packs, static_cast<unsigned>(out.cols() / kInAnItem));
}

// Indices of 32 bits: gu has fewer than 2^32 items, 64 GiB of packs.
template <typename Format, typename Functor, bool kPacked>
void launch_packed_gated(const Tensor& gu, const Tensor& out, cudaStream_t stream) {
  using Body = PackedGated<Format, Functor, kPacked>;
  const auto items = static_cast<unsigned>(out.cols() / (kPacked ? kInAPack : 1));
  const auto rows = static_cast<unsigned>(out.rows());
  const dim3 blocks((items + Body::kCols - 1) / Body::kCols,
                    std::min((rows + Body::kRows - 1) / Body::kRows, kMostGridRows));
  launch<Body>(blocks, dim3(Body::kCols, Body::kRows), out, stream, out.data, gu.data, rows, items);
}

}  // namespace

void enqueue_bias_add(const Tensor& x, const Tensor& bias, const Tensor& out, cudaStream_t stream) {
  if (out.count() == 0) return;
  dispatch_format(out.dtype, [&]<typename Format>() {
    if (out.cols() % kInAPack == 0 && aligned_to_16(x.data, bias.data, out.data)) {
      launch_bias_add<Format, true>(x, bias, out, stream);
    } else {
      launch_bias_add<Format, false>(x, bias, out, stream);
    }
  });
}

void enqueue_activation(const Activation& activation, const Tensor& x, const Tensor& out,
                        cudaStream_t stream) {
  dispatch_activation(Activations{}, activation, [&]<typename Functor>() {
    enqueue_pointwise<Activated<Functor>>(out, stream, x);
  });
}

void enqueue_mul(const Tensor& a, const Tensor& b, const Tensor& out, cudaStream_t stream) {
  enqueue_pointwise<Mul>(out, stream, a, b);
}

void enqueue_gated(const Activation& activation, const Tensor& g, const Tensor& u,
                   const Tensor& out, cudaStream_t stream) {
  dispatch_activation(Activations{}, activation, [&]<typename Functor>() {
    enqueue_pointwise<Gated<Functor>>(out, stream, g, u);
  });
}

void enqueue_activation_backward(const Activation& activation, const Tensor& g, const Tensor& d,
                                 const Tensor& out, cudaStream_t stream) {
  dispatch_activation(Activations{}, activation, [&]<typename Functor>() {
    enqueue_pointwise<Sloped<Functor>>(out, stream, g, d);
  });
}

void enqueue_gated_backward(const Activation& activation, const UnitBackward& unit,
                            cudaStream_t stream) {
  if (unit.dg.count() == 0) return;
  const auto enqueue = [&]<typename Functor, typename Format>() {
    if (unit.h) {
      launch_backward<Format, Functor, true>(unit, stream);
    } else {
      launch_backward<Format, Functor, false>(unit, stream);
    }
  };
  dispatch_activation(Activations{}, activation, [&]<typename Functor>() {
    dispatch_format(unit.dg.dtype,
                    [&]<typename Format>() { enqueue.template operator()<Functor, Format>(); });
  });
}

void enqueue_packed_gated(const Activation& activation, const Tensor& gu, const Tensor& out,
                          cudaStream_t stream) {
  if (out.count() == 0) return;
  const auto enqueue = [&]<typename Functor, typename Format>() {
    if (out.cols() % kInAPack == 0 && aligned_to_16(gu.data, out.data)) {
      launch_packed_gated<Format, Functor, true>(gu, out, stream);
    } else {
      launch_packed_gated<Format, Functor, false>(gu, out, stream);
    }
  };
  dispatch_activation(Activations{}, activation, [&]<typename Functor>() {
    dispatch_format(out.dtype,
                    [&]<typename Format>() { enqueue.template operator()<Functor, Format>(); });
  });
}

void enqueue_rounded_gated(const Activation& activation, const Tensor& g, const Tensor& u,
                           const Tensor& out, cudaStream_t stream) {
  dispatch_activation(Activations{}, activation, [&]<typename Functor>() {
    enqueue_pointwise<RoundedGated<Functor>>(out, stream, g, u);
  });
}

}  // namespace fusegate::kernels
