// The products for sm_90 (H100, H200). Matrices are row-major, as a Linear layer stores them, bf16
// or fp16, at addresses that are multiples of 16 bytes; n and k are multiples of 8. Sums are fp32.
// Each makes a launch that can be repeated, and throws DeviceError where the driver refuses the
// tensors, std::invalid_argument for fp32 tensors.
#pragma once

#include <functional>
#include <string>

#include "kernels/cuda/device/cuda_device.h"
#include "kernels/cuda/device/gated_operands.h"
#include "kernels/cuda/gemm/sm90/gated_gemm_plan.h"
#include "kernels/cuda/gemm/sm90/split_gemm_plan.h"
#include "kernels/cuda/gemm/sm90/swapped_gated_plan.h"
#include "kernels/cuda/gemm/sm90/wide_gemm_plan.h"

namespace fusegate::kernels {

// Why the device cannot run these kernels, or "". They are built for sm_90a: compute
// capability 9.0.
std::string refuses_sm90(const CudaDevice& device);

// h = activation(x w_gate^T) * (x w_up^T) in one kernel, so that neither product reaches device
// memory. activation: one of kGemmActivations; it and the product are fp32, and h is rounded once;
// some tiles also round g and u to the dtype, as tensors of their own would be.
std::function<void()> make_gated_gemm_sm90(CudaDevice& device, const GatedGemmPlan& plan,
                                           const Activation& activation,
                                           const GatedOperands& operands);

// The same for 65 to some hundred rows of x, by a plan of swapped_gated_plans_sm90().
std::function<void()> make_swapped_gated_sm90(CudaDevice& device, const GatedGemmPlan& plan,
                                              const Activation& activation,
                                              const GatedOperands& operands);

// out [m, n] = x [m, k] w [n, k]^T: for problems of few tiles, by one of their split_gemm_shapes();
// and for many rows.
std::function<void()> make_split_gemm_sm90(CudaDevice& device, std::size_t shape, const Tensor& x,
                                           const Tensor& w, const Tensor& out);
std::function<void()> make_wide_gemm_sm90(CudaDevice& device, const TileRaster& raster,
                                          const Tensor& x, const Tensor& w, const Tensor& out);

}  // namespace fusegate::kernels
