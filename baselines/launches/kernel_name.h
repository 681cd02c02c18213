// The parts of a kernel's name: library, architecture, tile and so on. An unknown name is shown as
// it is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fusegate::baselines {

// Empty and zero where the name does not have it.
struct KernelName {
  std::string name;      // whole; demangled where it was mangled
  std::string library;   // "cublas", "cutlass", ...; empty where nobody can read it
  std::string function;  // "nvjet", "xmma", "gemm", "gemv2T", "poi", "vectorized_elementwise", ...
  std::string architecture;          // "sm90", "ampere"
  std::string dtype;                 // of what is read: "bf16", "fp16", "fp32", ...
  std::string out_dtype;             // where it has its own
  std::string accumulator;           // the dtype of sums
  std::string operations;            // what Triton fused, or the functor of an element-wise kernel
  std::string number;                // Triton's, within its graph
  std::vector<int> tile;             // as the name has it: of the output, then of K
  int stages = 0;                    // tiles in flight
  std::vector<int> cluster;          // of blocks
  std::string layout;                // of A and B: "tn" is A transposed, B not
  std::string out_layout;            // of the output
  bool split_k = false;              // several blocks share a sum, which something adds up
  std::string epilogue;              // "bias", "relu_bias"
  std::string arguments;             // of a template, short
  std::vector<std::string> flavour;  // whatever else the name says, unread
  bool is_any_cpp = false;           // of a library that is known by its namespace alone

  bool is_read() const { return !library.empty(); }
};

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
//
// Never throws for a name. One of more than 64 KiB is a name, and nothing else is read of it.
KernelName read_kernel_name(std::string_view name);

// "cublas nvjet bf16 128x256x64 tn, split-K"; a name that was not read whole.
std::string short_kernel_name(const KernelName& kernel);

// What differs, in words: "tile 128x256x64 -> 128x128x64". Both names whole where one of them was
// not read, or where they differ in what nothing here reads. Empty for the same kernel.
// Namespaces, and the parameters of a kernel whose library is known by its namespace alone, are
// ignored.
std::vector<std::string> kernel_differences(const KernelName& before, const KernelName& after);

}  // namespace fusegate::baselines
