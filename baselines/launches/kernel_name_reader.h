// Reads a kernel's name.
//
// Libraries document no grammar of their kernels' names. What is read here, by example:
//   ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn   cuBLAS: tile, K of it x stages
//   sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize96x128x32_stage4_...            cuBLAS, TensorRT
//   nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_bias_TNT   cuBLAS since CUDA 12.8: types by letter
//     (A, sum, out: t bf16, h fp16, s fp32), tile, K x stages, cluster, raster, flavour, layout
//   cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_align8, also as an argument of
//     cutlass::Kernel2<...> (github.com/NVIDIA/cutlass, media/docs/cpp/profiler.md)
//   cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_void_bf16_128x128x64_1x1x1_0_tnn_align8_...
//   cublasLt::splitKreduce_kernel<...>, gemv2T_kernel_val<...>, internal::gemvx::kernel<...>
//   triton_poi_fused_gelu_mul_0   TorchInductor: kind, operations, number
//   at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<...>, ...>
//   fusegate::sm90::geglu_gemm_kernel<fusegate::Tile<128>>, as any C++ function in a namespace: the
//     first one for the library, no others
#pragma once

#include <string_view>

#include "baselines/launches/kernel_name.h"

namespace fusegate::baselines {

// Never throws for a name. One of more than 64 KiB is a name, and nothing else is read of it.
KernelName read_kernel_name(std::string_view name);

}  // namespace fusegate::baselines
