// The products for sm_90 (H100, H200). Matrices are row-major, as a Linear layer stores them, bf16
// or fp16, at addresses that are multiples of 16 bytes; n and k are multiples of 8. Sums are fp32.
// Each makes a launch that can be repeated, and throws DeviceError where the driver refuses the
// tensors, std::invalid_argument for fp32 tensors.
#pragma once

#include <functional>
#include <string>

#include "kernels/activations/kept_unit.h"
#include "kernels/activations/unit_backward.h"
#include "kernels/cuda/device/cuda_device.h"
#include "kernels/cuda/device/gated_operands.h"
#include "kernels/cuda/gemm/sm90/backward_gemm_plan.h"
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

// The same for 17 to 512 rows of x, by a plan of swapped_gated_plans_sm90(). In bf16, in which
// suites have wide models: std::invalid_argument for others. One that streams k takes the
// device's workspace while it runs: DeviceError where that is too small.
std::function<void()> make_swapped_gated_sm90(CudaDevice& device, const GatedGemmPlan& plan,
                                              const Activation& activation,
                                              const GatedOperands& operands);

// The same, which also stores g and u, as a step of training keeps them. plan: of kKeepingTileSm90.
// In bf16: std::invalid_argument for others.
std::function<void()> make_keeping_gated_sm90(CudaDevice& device, const GatedGemmPlan& plan,
                                              const Activation& activation, const KeptUnit& unit);

// h alone for many rows and long sums of x, by plan_wide_gated_sm90(). In bf16, as the ones above.
std::function<void()> make_wide_gated_sm90(CudaDevice& device, const TileRaster& raster,
                                           const Activation& activation,
                                           const GatedOperands& operands);

// Scales in fp32 of e4m3 elements: one number a matrix; one for each of its rows; or one for each
// 1 x 128 of x and of out, and each 128 x 128 of w. out's divide it, and are empty where it is
// bf16. Those of blocks of out are written, from its largest elements.
enum class ScaledBy { kMatrix, kRows, kBlocks };
struct ProductScales {
  Tensor x, w, out;
  ScaledBy by = ScaledBy::kMatrix;
};
struct GatedScales {
  Tensor x, w_gate, w_up, h;
  ScaledBy by = ScaledBy::kMatrix;
};

// Whether the kernel is built for h's tile and scales.
bool is_built_fp8_sm90(std::size_t tile, ScaledBy scales);

// The same with e4m3 elements, of h too; dim and hidden are multiples of 16. g and u are not
// rounded. Tensor cores keep few bits of sums: kernels/operations/gated_mlp_fp8.cc. plan: of
// plan_gated_gemm_fp8_sm90.
std::function<void()> make_gated_gemm_fp8_sm90(CudaDevice& device, const GatedGemmPlan& plan,
                                               const Activation& activation,
                                               const GatedOperands& operands,
                                               const GatedScales& scales);

// dg, du and h of dh [m, n] = dy [m, k] w_down [k, n], which never reaches device memory; it is
// rounded once, and so are dg, du and h. In bf16: std::invalid_argument for others.
struct BackwardOperands {
  Tensor dy, w_down;
  UnitBackward unit;  // of which dh is not read, and h is written
};
std::function<void()> make_backward_gemm_sm90(CudaDevice& device, const BackwardGemmPlan& plan,
                                              const Activation& activation,
                                              const BackwardOperands& operands);

// out [m, n] = x [m, k] w [n, k]^T: for problems of few tiles, by one of their split_gemm_shapes();
// and for many rows.
std::function<void()> make_split_gemm_sm90(CudaDevice& device, std::size_t shape, const Tensor& x,
                                           const Tensor& w, const Tensor& out);
std::function<void()> make_wide_gemm_sm90(CudaDevice& device, const TileRaster& raster,
                                          const Tensor& x, const Tensor& w, const Tensor& out);
// x and w in e4m3, out in bf16. promotes: sums of 128 columns of k are added up in fp32, as those
// with scales of blocks always are; the raster is of plan_wide_gemm_sm90 with the same.
std::function<void()> make_wide_gemm_fp8_sm90(CudaDevice& device, const TileRaster& raster,
                                              const Tensor& x, const Tensor& w, const Tensor& out,
                                              const ProductScales& scales, bool promotes = false);

}  // namespace fusegate::kernels
