#include "baselines/launches/kernel_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/launches/kernel_name_reader.h"

namespace fusegate::baselines {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string short_name(std::string_view name) { return short_kernel_name(read_kernel_name(name)); }

std::vector<std::string> differences(std::string_view before, std::string_view after) {
  return kernel_differences(read_kernel_name(before), read_kernel_name(after));
}

TEST(KernelName, TakesNoLongNameApart) {
  const std::string known = "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize96x128x32_stage4_";
  EXPECT_TRUE(read_kernel_name(known + std::string(1000, 'x')).is_read());
  const KernelName longest = read_kernel_name(known + std::string(1 << 20, '['));
  EXPECT_FALSE(longest.is_read());
  EXPECT_EQ(longest.name.size(), known.size() + (1 << 20));
}

TEST(KernelName, ReadsCublasOfAmpere) {
  const KernelName kernel =
      read_kernel_name("ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn");
  EXPECT_EQ(kernel.library, "cublas");
  EXPECT_EQ(kernel.architecture, "ampere");
  EXPECT_EQ(kernel.dtype, "bf16");
  EXPECT_EQ(kernel.accumulator, "fp32");
  EXPECT_THAT(kernel.tile, ElementsAre(128, 128, 32));
  EXPECT_EQ(kernel.stages, 5);
  EXPECT_EQ(kernel.layout, "tn");
  EXPECT_THAT(kernel.flavour, ElementsAre("s16816", "ldg8", "f2f"));
  EXPECT_EQ(short_kernel_name(kernel), "cublas gemm bf16 128x128x32 tn");
}

TEST(KernelName, ReadsCublasKernelsThatNameLess) {
  const KernelName sgemm = read_kernel_name("ampere_sgemm_64x32_sliced1x4_tn");
  EXPECT_EQ(sgemm.dtype, "fp32");
  EXPECT_THAT(sgemm.tile, ElementsAre(64, 32));
  EXPECT_EQ(sgemm.stages, 0);
  EXPECT_THAT(sgemm.flavour, ElementsAre("sliced1x4"));
  EXPECT_EQ(
      read_kernel_name("ampere_bf16_s16816gemm_bf16_128x128_ldg8_relu_f2f_stages_64x3_nn").epilogue,
      "relu");
  EXPECT_EQ(short_name("trt_ampere_h16816gemm_128x64_ldg8_nn_v1"), "tensorrt gemm 128x64 nn");
}

TEST(KernelName, ReadsXmma) {
  const KernelName kernel = read_kernel_name(
      "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize96x128x32_stage4_warpsize2x2x1_"
      "tensor16x8x16_kernel");
  EXPECT_EQ(kernel.function, "xmma");
  EXPECT_EQ(kernel.architecture, "sm80");
  EXPECT_EQ(kernel.dtype, "fp16");
  EXPECT_EQ(kernel.accumulator, "fp32");
  EXPECT_THAT(kernel.flavour, ElementsAre("f16f32", "warpsize2x2x1", "tensor16x8x16", "kernel"));
  EXPECT_THAT(kernel.tile, ElementsAre(96, 128, 32));
  EXPECT_EQ(kernel.stages, 4);
  EXPECT_EQ(kernel.layout, "tn");
  EXPECT_EQ(kernel.out_layout, "n");
  EXPECT_FALSE(kernel.split_k);
  EXPECT_EQ(short_name("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_"
                       "warpgroupsize1x1x1_execute_split_k_kernel__5x_cublas"),
            "cublas xmma bf16 64x64x64 tn, split-K");
}

TEST(KernelName, ReadsNvjet) {
  const KernelName kernel = read_kernel_name("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_bias_TNT");
  EXPECT_EQ(kernel.library, "cublas");
  EXPECT_EQ(kernel.architecture, "sm90");
  EXPECT_EQ(kernel.dtype, "bf16");
  EXPECT_EQ(kernel.accumulator, "fp32");
  EXPECT_EQ(kernel.out_dtype, "bf16");
  EXPECT_THAT(kernel.tile, ElementsAre(256, 128, 64));
  EXPECT_EQ(kernel.stages, 4);
  EXPECT_THAT(kernel.cluster, ElementsAre(1, 2));
  EXPECT_EQ(kernel.layout, "tn");
  EXPECT_EQ(kernel.out_layout, "t");
  EXPECT_EQ(kernel.epilogue, "bias");
  EXPECT_THAT(kernel.flavour, ElementsAre("h", "bz", "coopA"));
  EXPECT_EQ(short_kernel_name(kernel), "cublas nvjet bf16 256x128x64 tn, bias");
}

TEST(KernelName, ReadsNvjetOfOtherReleases) {
  EXPECT_EQ(short_name("nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_TNT"),
            "cublas nvjet fp16 128x256x64 tn");
  EXPECT_EQ(short_name("nvjet_sm90_tst_64x32_64x16_2x4_h_bz_splitK_TNT"),
            "cublas nvjet bf16 64x32x64 tn, split-K");
  EXPECT_EQ(short_name("nvjet_sm120_tst_mma_64x64x128_3_32x32x128_tmaAB_alignCD4_bz_TNNN"),
            "cublas nvjet bf16 64x64x128 tn");
  const KernelName unknown_types = read_kernel_name("nvjet_qqtst_128x64_128x5_1x2_h_bz_TNT");
  EXPECT_EQ(unknown_types.dtype, "");
  EXPECT_THAT(unknown_types.flavour, ElementsAre("qqtst", "h", "bz"));
}

TEST(KernelName, ReadsCutlass) {
  const char* name =
      "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_align8>("
      "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_align8::Params)";
  const KernelName kernel = read_kernel_name(name);
  EXPECT_EQ(kernel.name, name);
  EXPECT_EQ(kernel.library, "cutlass");
  EXPECT_EQ(kernel.architecture, "sm80");
  EXPECT_THAT(kernel.tile, ElementsAre(256, 128, 32));
  EXPECT_EQ(kernel.stages, 3);
  EXPECT_EQ(kernel.epilogue, "relu");
  EXPECT_EQ(short_kernel_name(kernel), "cutlass gemm bf16 256x128x32 tn, relu");
  EXPECT_EQ(short_name("cutlass_80_wmma_tensorop_f16_s161616gemm_f16_16x16_128x2_tn_align8"),
            "cutlass gemm fp16 16x16x128 tn");
}

TEST(KernelName, ReadsCutlass3) {
  const KernelName kernel = read_kernel_name(
      "cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_void_bf16_128x128x64_2x1x1_0_tnn_"
      "align8_warpspecialized_pingpong_epi_tma");
  EXPECT_EQ(kernel.architecture, "sm90");
  EXPECT_EQ(kernel.dtype, "bf16");
  EXPECT_EQ(kernel.accumulator, "fp32");
  EXPECT_EQ(kernel.out_dtype, "bf16");
  EXPECT_THAT(kernel.tile, ElementsAre(128, 128, 64));
  EXPECT_THAT(kernel.cluster, ElementsAre(2, 1, 1));
  EXPECT_EQ(kernel.layout, "tn");
  EXPECT_EQ(kernel.out_layout, "n");
}

TEST(KernelName, ReadsCublasTemplates) {
  EXPECT_EQ(short_name("void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, "
                       "float, __nv_bfloat16, false, float, __nv_bfloat16, __nv_bfloat16, true, "
                       "false, false, false>(cublasLt::cublasSplitKParams<float>, float const*)"),
            "cublas splitKreduce_kernel fp32");
  EXPECT_EQ(short_name("void gemv2T_kernel_val<int, int, __half, __half, __half, float, 128, 16, "
                       "2, 4, false, false, cublasGemvParamsEx<int, "
                       "cublasGemvTensorStridedBatched<__half const>>>(T1, T2)"),
            "cublas gemv2T_kernel_val fp16");
  const KernelName gemvx = read_kernel_name(
      "std::enable_if<!T7, void>::type internal::gemvx::kernel<int, int, __nv_bfloat16, "
      "__nv_bfloat16, __nv_bfloat16, float, (bool)0, (bool)1, (bool)1, (bool)0, (int)7, (bool)0, "
      "cublasGemvParamsEx<int, cublasGemvTensorStridedBatched<const __nv_bfloat16>>>(T13)");
  EXPECT_EQ(short_kernel_name(gemvx), "cublas gemvx bf16");
  EXPECT_EQ(gemvx.arguments, "int, int, bf16, bf16, bf16, fp32, 0, 1, 1, 0, 7, 0");
}

TEST(KernelName, ReadsTriton) {
  const KernelName kernel = read_kernel_name("triton_poi_fused__to_copy_gelu_mul_0");
  EXPECT_EQ(kernel.library, "triton");
  EXPECT_EQ(kernel.function, "poi");
  EXPECT_EQ(kernel.operations, "_to_copy_gelu_mul");
  EXPECT_EQ(kernel.number, "0");
  EXPECT_EQ(short_name("triton_tem_fused_addmm_gelu_t_view_9"), "triton tem addmm_gelu_t_view 9");
  EXPECT_EQ(short_name("triton_tem_fused_0"), "triton tem 0");
  EXPECT_EQ(short_name("triton_mm_91"), "triton mm 91");
  EXPECT_EQ(short_name("triton_mm"), "triton mm");
}

TEST(KernelName, ReadsPytorch) {
  const KernelName gelu = read_kernel_name(
      "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl("
      "at::TensorIteratorBase&, at::native::GeluType)::{lambda()#1}::operator()() const::"
      "{lambda()#4}::operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int)");
  EXPECT_EQ(gelu.function, "vectorized_elementwise_kernel");
  EXPECT_EQ(gelu.operations, "GeluCUDAKernelImpl");
  EXPECT_EQ(gelu.dtype, "bf16");
  EXPECT_EQ(short_name("void at::native::vectorized_elementwise_kernel<4, "
                       "at::native::BinaryFunctor<float, float, float, "
                       "at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> "
                       ">(int)"),
            "pytorch vectorized_elementwise_kernel MulFunctor fp32");
}

constexpr const char* kPointwise =
    "void fusegate::(anonymous namespace)::pointwise_kernel<fusegate::Bf16, fusegate::GeluMul, "
    "void*, void*>(void*, unsigned int, unsigned int, void*, void*)";

TEST(KernelName, ReadsAnyCppFunctionInANamespace) {
  const KernelName kernel = read_kernel_name(kPointwise);
  EXPECT_EQ(kernel.library, "fusegate");
  EXPECT_EQ(kernel.function, "pointwise_kernel");
  EXPECT_EQ(kernel.dtype, "bf16");
  EXPECT_EQ(kernel.arguments, "Bf16, GeluMul, void*, void*");
  const KernelName fused = read_kernel_name(
      "void fusegate::kernels::sm90::geglu_gemm_kernel<fusegate::kernels::sm90::GegluGemm<"
      "__nv_bfloat16, 128, 3, 2> >(fusegate::sm90::GegluMaps, fusegate::TileRaster, int)");
  EXPECT_EQ(fused.architecture, "sm90");
  EXPECT_EQ(short_kernel_name(fused),
            "fusegate geglu_gemm_kernel bf16, <GegluGemm<__nv_bfloat16, 128, 3, 2>>");
  EXPECT_EQ(short_name("void flash::fwd<(int)128, flash::Traits<float>>(Params)"),
            "flash fwd fp32, <128, Traits<float>>");
  EXPECT_EQ(short_name("void ns::copy(float*)"), "ns copy");
}

TEST(KernelName, DemanglesWhatIsMangled) {
  EXPECT_EQ(read_kernel_name("_ZN8fusegate4gemv6kernelIfEEvPT_").function, "kernel");
}

TEST(KernelName, LeavesAnUnknownNameWhole) {
  for (const char* name : {"_geglu_tanh_forward_kernel", "void fwd<128, 64>(Params)", "", "x",
                           "_Zbroken", "a<b", "a>b(", "sm90_something_else", "nvjet_", "::"}) {
    const KernelName kernel = read_kernel_name(name);
    EXPECT_FALSE(kernel.is_read()) << name;
    EXPECT_EQ(short_kernel_name(kernel), name);
  }
}

TEST(KernelDifferences, SayWhatDiffers) {
  EXPECT_THAT(differences("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT",
                          "nvjet_sm90_tst_128x128_64x6_2x1_v_bz_TNT"),
              ElementsAre("tile 256x128x64 -> 128x128x64", "stages 4 -> 6", "cluster 1x2 -> 2x1",
                          "flavour h bz coopA -> v bz"));
  EXPECT_THAT(differences("nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT",
                          "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_splitK_TNT"),
              ElementsAre("split-K no -> yes"));
}

TEST(KernelDifferences, NameBothWhereTheyAreOfDifferentLibraries) {
  EXPECT_THAT(differences("ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn",
                          "nvjet_tst_128x128_64x6_2x1_v_bz_TNT"),
              ElementsAre("cublas gemm bf16 128x128x32 tn -> cublas nvjet bf16 128x128x64 tn"));
  EXPECT_THAT(differences("_geglu_forward", "_geglu_tanh_forward"),
              ElementsAre("_geglu_forward -> _geglu_tanh_forward"));
}

TEST(KernelDifferences, AreNoneForTheSameKernel) {
  EXPECT_THAT(differences(kPointwise, kPointwise), IsEmpty());
  EXPECT_THAT(differences("anything", "anything"), IsEmpty());
}

TEST(KernelDifferences, AreNoneWhereNamespacesAloneDiffer) {
  EXPECT_THAT(differences("void fusegate::sm90::gemm<fusegate::sm90::Tile<128> >(int)",
                          "void fusegate::kernels::sm90::gemm<fusegate::kernels::Tile<128>>(long)"),
              IsEmpty());
  EXPECT_THAT(differences("void fusegate::gemm<fusegate::Tile<128>>(int)",
                          "void fusegate::gemm<fusegate::Tile<64>>(int)"),
              ElementsAre("template Tile<128> -> Tile<64>"));
}

TEST(KernelDifferences, ShowWholeNamesWhereNothingReadDiffers) {
  const std::vector<std::string> found =
      differences("void at::native::reduce_kernel<512, 1, float>(int)",
                  "void at::native::reduce_kernel<256, 1, float>(int)");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0], testing::HasSubstr("<512, 1, float>(int) -> void"));
}

}  // namespace
}  // namespace fusegate::baselines
