// The products of sm_90 that exchange data with other ranks while they run (wide_exchange.cuh,
// gathering_gemm.cuh), in bf16. Each makes a launch that can be repeated. The exchange's buffers
// have room for the plans'.
#pragma once

#include <functional>

#include "kernels/cuda/device/cuda_device.h"
#include "kernels/cuda/device/gated_operands.h"
#include "kernels/cuda/ranks/overlapped_plan.h"

namespace fusegate::kernels {

// Clusters that this GPU has at work at one time. All ranks must launch the fewest of any.
int wide_exchange_clusters(const WideExchangePlan& plan);

// x [m, k] and w [n, k] of this rank; out: its rows, or all.
struct ExchangeOperands {
  Tensor x, w, out;
};
// early: it may be launched before the kernel ahead has ended, which nothing else may be.
std::function<void()> make_wide_exchange(CudaDevice& device, const WideExchangePlan& plan,
                                         const RankExchange& exchange,
                                         const ExchangeOperands& operands, int clusters,
                                         bool early);

// operands: x is this rank's rows, h has all. Others' rows are in the exchange's memory
// (x_gather.h), or on their way there.
std::function<void()> make_gathering_gemm(CudaDevice& device, const GatheringPlan& plan,
                                          const Activation& activation,
                                          const RankExchange& exchange,
                                          const GatedOperands& operands);

}  // namespace fusegate::kernels
