// h [rows, hidden] = activation(x w_gate^T) * (x w_up^T) in one kernel for sm_90 (H100, H200), so
// that neither product reaches device memory. x [rows, dim] and w_gate and w_up [hidden, dim], all
// row-major as a Linear layer stores them, bf16 or fp16; addresses at multiples of 16 bytes, hidden
// and dim multiples of 8. Sums, activation and the product are fp32, and h is
// rounded once; some tiles also round g and u to the dtype, as tensors of their own would be.
#pragma once

#include <functional>
#include <string>

#include "kernels/cuda/device/cuda_device.h"
#include "kernels/cuda/device/gated_operands.h"
#include "kernels/cuda/gemm/sm90/gated_gemm_plan.h"

namespace fusegate::kernels {

// Why the device cannot run these kernels, or "". They are built for sm_90a: compute
// capability 9.0.
std::string refuses_sm90(const CudaDevice& device);

// A launch that can be repeated. activation: one of kGemmActivations. Throws DeviceError where the
// driver refuses the tensors, std::invalid_argument for fp32 tensors.
std::function<void()> make_gated_gemm_sm90(CudaDevice& device, const GatedGemmPlan& plan,
                                           const Activation& activation,
                                           const GatedOperands& operands);

}  // namespace fusegate::kernels
