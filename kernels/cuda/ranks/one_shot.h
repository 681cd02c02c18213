// Exchanges in one kernel: the all-reduce in place (one_shot.cuh), and of short tensors the
// all-gather and the reduce-scatter too (packets.cuh). Each makes a launch that can be repeated, of
// tensors in bf16 at addresses that are multiples of 16.
#pragma once

#include <functional>
#include <memory>

#include "kernels/cuda/device/cuda_device.h"
#include "kernels/cuda/ranks/one_shot_plan.h"
#include "kernels/cuda/ranks/rank_exchange.h"

namespace fusegate::kernels {

// Leaves the sum of all ranks' tensors in each. exchange: with slots of its bytes at least.
std::function<void()> make_one_shot(CudaDevice& device, const OneShotPlan& plan,
                                    const RankExchange& exchange, const Tensor& out);

// plan: plan_packets() of a rank's part. part [m / ranks, n], whole and summand [m, n]; a summand's
// rows are those of ranks 0, 1, ...
std::function<void()> make_one_shot_gather(CudaDevice& device, const OneShotPlan& plan,
                                           const RankExchange& exchange, const Tensor& part,
                                           const Tensor& whole);
std::function<void()> make_one_shot_scatter(CudaDevice& device, const OneShotPlan& plan,
                                            const RankExchange& exchange, const Tensor& summand,
                                            const Tensor& part);

}  // namespace fusegate::kernels
