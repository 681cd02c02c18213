#include "kernels/cuda/device/dependent_launch.h"
#include "kernels/cuda/ranks/one_shot.cuh"
#include "kernels/cuda/ranks/one_shot.h"
#include "kernels/cuda/ranks/packets.cuh"

namespace fusegate::kernels {
namespace {

LaunchShape shape_of(const OneShotPlan& plan, const void* kernel) {
  return {.blocks = dim3(static_cast<unsigned>(plan.blocks)),
          .threads = dim3(kOneShotThreads),
          .early = can_launch_early(kernel)};
}

// arguments: the kernel's.
template <typename... Arguments>
std::function<void()> make_launch(CudaDevice& device, const OneShotPlan& plan,
                                  void (*kernel)(Arguments...), Arguments... arguments) {
  const LaunchShape shape = shape_of(plan, reinterpret_cast<const void*>(kernel));
  return [=, stream = device.stream()] { launch_kernel(kernel, shape, stream, arguments...); };
}

uint2* packets_of(const Tensor& tensor) { return static_cast<uint2*>(tensor.data); }

std::function<void()> make_between(CudaDevice& device, const OneShotPlan& plan,
                                   void (*kernel)(RankExchange, const uint2*, uint2*, int),
                                   const RankExchange& exchange, const Tensor& from,
                                   const Tensor& to) {
  const uint2* const packets = packets_of(from);
  return make_launch(device, plan, kernel, exchange, packets, packets_of(to), plan.packets);
}

}  // namespace

std::function<void()> make_one_shot(CudaDevice& device, const OneShotPlan& plan,
                                    const RankExchange& exchange, const Tensor& out) {
  if (plan.packets > 0) {
    return make_launch(device, plan, &ranks::packets_all_reduce_kernel, exchange, packets_of(out),
                       plan.packets);
  }
  constexpr int kMany = kOneShotVectors;
  const bool has_one = plan.vectors == 1;
  const auto kernel = plan.shots == 1 ? (has_one ? &ranks::chunked_all_reduce_kernel<1, 1>
                                                 : &ranks::chunked_all_reduce_kernel<kMany, 1>)
                                      : (has_one ? &ranks::chunked_all_reduce_kernel<1, 2>
                                                 : &ranks::chunked_all_reduce_kernel<kMany, 2>);
  return make_launch(device, plan, kernel, exchange, static_cast<uint4*>(out.data),
                     static_cast<std::int64_t>(out.bytes() / sizeof(uint4)));
}

std::function<void()> make_one_shot_gather(CudaDevice& device, const OneShotPlan& plan,
                                           const RankExchange& exchange, const Tensor& part,
                                           const Tensor& whole) {
  return make_between(device, plan, &ranks::packets_all_gather_kernel, exchange, part, whole);
}

std::function<void()> make_one_shot_scatter(CudaDevice& device, const OneShotPlan& plan,
                                            const RankExchange& exchange, const Tensor& summand,
                                            const Tensor& part) {
  return make_between(device, plan, &ranks::packets_reduce_scatter_kernel, exchange, summand, part);
}

}  // namespace fusegate::kernels
