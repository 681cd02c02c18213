#include <stdexcept>
#include <utility>

#include "kernels/activations/activations.h"
#include "kernels/cuda/device/dependent_launch.h"
#include "kernels/cuda/few_rows/gemv.cuh"
#include "kernels/cuda/few_rows/gemv.h"

namespace fusegate::kernels {
namespace {

template <typename T, typename Result, std::size_t kIndex>
void launch(const GemvPlan& plan, const gemv::Arguments<T>& arguments, cudaStream_t stream) {
  constexpr auto kKernel = gemv::gemv_kernel<T, Result, gemv::Shape<kIndex>>;
  static const bool early = can_launch_early(reinterpret_cast<const void*>(kKernel));
  launch_kernel(kKernel,
                {.blocks = dim3(plan.blocks), .threads = dim3(plan.warps * 32), .early = early},
                stream, arguments);
}

template <typename T, typename Result, std::size_t... kIndex>
void launch_shape(const GemvPlan& plan, const gemv::Arguments<T>& arguments, cudaStream_t stream,
                  std::index_sequence<kIndex...>) {
  ((plan.shape == kIndex ? launch<T, Result, kIndex>(plan, arguments, stream) : void()), ...);
}

// second: the other weights of a Result that has two.
template <typename Result>
void enqueue(const GemvPlan& plan, const Tensor& x, const Tensor& first, const Tensor& second,
             const Tensor& out, cudaStream_t stream) {
  dispatch_dtype(out.dtype, [&]<typename T>() {
    if constexpr (std::is_same_v<T, float>) {
      throw std::invalid_argument("gemv: has no fp32 version");
    } else {
      const gemv::Arguments<T> arguments{
          .x = static_cast<const T*>(x.data),
          .w = {static_cast<const T*>(first.data), static_cast<const T*>(second.data)},
          .out = static_cast<T*>(out.data),
          .cols = static_cast<int>(out.cols()),
          .k = static_cast<int>(x.cols())};
      launch_shape<T, Result>(plan, arguments, stream,
                              std::make_index_sequence<kGemvShapes.size()>());
    }
  });
}

}  // namespace

void enqueue_gemv_gated(const GemvPlan& plan, const Activation& activation,
                        const GatedOperands& operands, cudaStream_t stream) {
  dispatch_activation(GemmActivations{}, activation, [&]<typename Functor>() {
    enqueue<few_rows::Gated<Functor>>(plan, operands.x, operands.w_gate, operands.w_up, operands.h,
                                      stream);
  });
}

void enqueue_gemv(const GemvPlan& plan, const Tensor& x, const Tensor& w, const Tensor& out,
                  cudaStream_t stream) {
  enqueue<few_rows::Linear>(plan, x, w, {}, out, stream);
}

}  // namespace fusegate::kernels
