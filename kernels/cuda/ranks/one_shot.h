// The one-shot all-reduce (one_shot.cuh), in place.
#pragma once

#include <functional>
#include <memory>

#include "kernels/cuda/device/cuda_device.h"
#include "kernels/cuda/ranks/one_shot_plan.h"
#include "kernels/cuda/ranks/rank_exchange.h"

namespace fusegate::kernels {

// A launch that can be repeated: leaves the sum of all ranks' tensors in each. out: in bf16, at an
// address that is a multiple of 16. exchange: with slots of its bytes at least.
std::function<void()> make_one_shot(CudaDevice& device, const OneShotPlan& plan,
                                    const RankExchange& exchange, const Tensor& out);

}  // namespace fusegate::kernels
