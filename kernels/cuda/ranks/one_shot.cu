#include "kernels/cuda/device/dependent_launch.h"
#include "kernels/cuda/ranks/one_shot.cuh"
#include "kernels/cuda/ranks/one_shot.h"

namespace fusegate::kernels {
namespace {

template <int kVectors>
std::function<void()> make_launch(CudaDevice& device, const OneShotPlan& plan,
                                  const RankExchange& exchange, const Tensor& out) {
  constexpr auto kKernel = ranks::one_shot_kernel<kVectors>;
  const LaunchShape shape{.blocks = dim3(static_cast<unsigned>(plan.blocks)),
                          .threads = dim3(kOneShotThreads),
                          .early = can_launch_early(reinterpret_cast<const void*>(kKernel))};
  return [=, vectors = static_cast<std::int64_t>(out.bytes() / sizeof(uint4)),
          to = static_cast<uint4*>(out.data), stream = device.stream()] {
    launch_kernel(kKernel, shape, stream, exchange, to, vectors);
  };
}

}  // namespace

std::function<void()> make_one_shot(CudaDevice& device, const OneShotPlan& plan,
                                    const RankExchange& exchange, const Tensor& out) {
  const auto make = plan.vectors == 1 ? &make_launch<1> : &make_launch<kOneShotVectors>;
  return make(device, plan, exchange, out);
}

}  // namespace fusegate::kernels
