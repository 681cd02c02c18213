#include "kernels/activations/activations.h"
#include "kernels/cuda/device/dependent_launch.h"
#include "kernels/cuda/device/dispatch.h"
#include "kernels/cuda/few_rows/few_rows.h"
#include "kernels/cuda/few_rows/few_rows_gemm.cuh"

namespace fusegate::kernels {
namespace {

template <std::size_t kIndex>
struct Shape {
  static constexpr FewRowsShape kShape = kFewRowsShapes[kIndex];
};

template <typename T, typename Result, typename Shape>
void launch(const FewRowsPlan& plan, const few_rows::Arguments<T>& arguments, cudaStream_t stream) {
  constexpr auto kKernel = few_rows::few_rows_kernel<T, Result, Shape>;
  static const bool early = can_launch_early(reinterpret_cast<const void*>(kKernel));
  launch_kernel(kKernel,
                {.blocks = dim3(plan.blocks), .threads = dim3(plan.warps * 32), .early = early},
                stream, arguments);
}

// second: the other weights of a Result that has two.
template <typename Result>
void enqueue(const FewRowsPlan& plan, const Tensor& x, const Tensor& first, const Tensor& second,
             const Tensor& out, cudaStream_t stream) {
  dispatch_16_bit(out.dtype, "few_rows", [&]<typename T>() {
    const few_rows::Arguments<T> arguments{
        .x = static_cast<const T*>(x.data),
        .w = {static_cast<const T*>(first.data), static_cast<const T*>(second.data)},
        .out = static_cast<T*>(out.data),
        .rows = static_cast<int>(out.rows()),
        .cols = static_cast<int>(out.cols()),
        .k = static_cast<int>(x.cols()),
        .cols_per_block = plan.cols_per_block};
    dispatch_index<kFewRowsShapes.size()>(plan.shape, [&]<std::size_t kIndex>() {
      // Other shapes have no plan, and no such kernel.
      if constexpr (kFewRowsShapes[kIndex].w_sets % Result::kWeights == 0) {
        launch<T, Result, Shape<kIndex>>(plan, arguments, stream);
      }
    });
  });
}

}  // namespace

void enqueue_streamed_gated(const FewRowsPlan& plan, const Activation& activation,
                            const GatedOperands& operands, cudaStream_t stream) {
  dispatch_activation(GemmActivations{}, activation, [&]<typename Functor>() {
    enqueue<few_rows::Gated<Functor>>(plan, operands.x, operands.w_gate, operands.w_up, operands.h,
                                      stream);
  });
}

void enqueue_streamed_matmul(const FewRowsPlan& plan, const Tensor& x, const Tensor& w,
                             const Tensor& out, cudaStream_t stream) {
  enqueue<few_rows::Linear>(plan, x, w, {}, out, stream);
}

}  // namespace fusegate::kernels
