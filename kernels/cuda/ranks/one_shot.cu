#include "kernels/cuda/device/dependent_launch.h"
#include "kernels/cuda/ranks/one_shot.cuh"
#include "kernels/cuda/ranks/one_shot.h"

namespace fusegate::kernels {
namespace {

// Vector, Count: how the kernel takes out and its size.
template <typename Vector, typename Count>
std::function<void()> make_launch(CudaDevice& device,
                                  void (*kernel)(const RankExchange, Vector*, Count),
                                  const OneShotPlan& plan, const RankExchange& exchange,
                                  const Tensor& out) {
  const LaunchShape shape{.blocks = dim3(static_cast<unsigned>(plan.blocks)),
                          .threads = dim3(kOneShotThreads),
                          .early = can_launch_early(reinterpret_cast<const void*>(kernel))};
  return [=, count = static_cast<Count>(out.bytes() / sizeof(Vector)),
          to = static_cast<Vector*>(out.data),
          stream = device.stream()] { launch_kernel(kernel, shape, stream, exchange, to, count); };
}

}  // namespace

std::function<void()> make_one_shot(CudaDevice& device, const OneShotPlan& plan,
                                    const RankExchange& exchange, const Tensor& out) {
  if (plan.packets > 0) {
    return make_launch(device, &ranks::one_shot_packets_kernel, plan, exchange, out);
  }
  const auto kernel =
      plan.vectors == 1 ? &ranks::one_shot_kernel<1> : &ranks::one_shot_kernel<kOneShotVectors>;
  return make_launch(device, kernel, plan, exchange, out);
}

}  // namespace fusegate::kernels
