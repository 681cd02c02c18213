#include "baselines/launches/kernel_name.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fusegate::baselines {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> differences(std::string_view before, std::string_view after) {
  return kernel_differences(read_kernel_name(before), read_kernel_name(after));
}

// All that is read of a name beside the library and the function: "dtype bf16; tile 64x32".
std::string facts(const KernelName& kernel) {
  KernelName blank;
  blank.library = kernel.library;
  blank.function = kernel.function;
  blank.is_any_cpp = kernel.is_any_cpp;
  std::string text = fmt::format("{}", fmt::join(kernel_differences(blank, kernel), "; "));
  for (const std::string_view none : {"none -> ", "no -> "}) {
    for (std::size_t at; (at = text.find(none)) != text.npos;) text.erase(at, none.size());
  }
  return text;
}

struct NameCase {
  const char* name;
  const char* short_name;
  const char* facts;
};

void expect_names(const std::vector<NameCase>& cases) {
  for (const NameCase& one : cases) {
    const KernelName kernel = read_kernel_name(one.name);
    EXPECT_EQ(kernel.name, one.name);
    EXPECT_EQ(short_kernel_name(kernel), one.short_name);
    EXPECT_EQ(facts(kernel), one.facts) << one.name;
  }
}

TEST(KernelName, TakesNoLongNameApart) {
  const std::string known = "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize96x128x32_stage4_";
  EXPECT_TRUE(read_kernel_name(known + std::string(1000, 'x')).is_read());
  const KernelName longest = read_kernel_name(known + std::string(1 << 20, '['));
  EXPECT_FALSE(longest.is_read());
  EXPECT_EQ(longest.name.size(), known.size() + (1 << 20));
}

TEST(KernelName, ReadsCublas) {
  expect_names(
      {{"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn",
        "cublas gemm bf16 128x128x32 tn",
        "architecture ampere; dtype bf16; output's dtype bf16; sums in fp32; tile 128x128x32; "
        "stages 5; layout tn; flavour s16816 ldg8 f2f"},
       {"ampere_sgemm_64x32_sliced1x4_tn", "cublas gemm fp32 64x32 tn",
        "architecture ampere; dtype fp32; sums in fp32; tile 64x32; layout tn; "
        "flavour sliced1x4"},
       {"ampere_bf16_s16816gemm_bf16_128x128_ldg8_relu_f2f_stages_64x3_nn",
        "cublas gemm bf16 128x128x64 nn, relu",
        "architecture ampere; dtype bf16; output's dtype bf16; sums in fp32; tile 128x128x64; "
        "stages 3; layout nn; epilogue relu; flavour s16816 ldg8 f2f"},
       {"trt_ampere_h16816gemm_128x64_ldg8_nn_v1", "tensorrt gemm 128x64 nn",
        "architecture ampere; sums in fp16; tile 128x64; layout nn; flavour h16816 ldg8 v1"}});
}

TEST(KernelName, ReadsXmma) {
  expect_names(
      {{"sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize96x128x32_stage4_warpsize2x2x1_"
        "tensor16x8x16_kernel",
        "cublas xmma fp16 96x128x32 tn",
        "architecture sm80; dtype fp16; sums in fp32; tile 96x128x32; stages 4; layout tn; "
        "output's layout n; flavour f16f32 warpsize2x2x1 tensor16x8x16 kernel"},
       {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_"
        "warpgroupsize1x1x1_execute_split_k_kernel__5x_cublas",
        "cublas xmma bf16 64x64x64 tn, split-K",
        "architecture sm90; dtype bf16; sums in fp32; tile 64x64x64; layout tn; "
        "output's layout n; split-K yes; "
        "flavour bf16f32 warpgroupsize1x1x1 execute split k kernel 5x cublas"}});
}

TEST(KernelName, ReadsNvjet) {
  expect_names(
      {{"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_bias_TNT",
        "cublas nvjet bf16 256x128x64 tn, bias",
        "architecture sm90; dtype bf16; output's dtype bf16; sums in fp32; tile 256x128x64; "
        "stages 4; cluster 1x2; layout tn; output's layout t; epilogue bias; "
        "flavour h bz coopA"},
       {"nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_TNT", "cublas nvjet fp16 128x256x64 tn",
        "dtype fp16; output's dtype fp16; sums in fp32; tile 128x256x64; stages 4; "
        "cluster 2x1; layout tn; output's layout t; flavour v bz coopA"},
       {"nvjet_sm90_tst_64x32_64x16_2x4_h_bz_splitK_TNT", "cublas nvjet bf16 64x32x64 tn, split-K",
        "architecture sm90; dtype bf16; output's dtype bf16; sums in fp32; tile 64x32x64; "
        "stages 16; cluster 2x4; layout tn; output's layout t; split-K yes; flavour h bz"},
       {"nvjet_sm120_tst_mma_64x64x128_3_32x32x128_tmaAB_alignCD4_bz_TNNN",
        "cublas nvjet bf16 64x64x128 tn",
        "architecture sm120; dtype bf16; output's dtype bf16; sums in fp32; tile 64x64x128; "
        "cluster 32x32x128; layout tn; output's layout nn; flavour mma 3 tmaAB alignCD4 bz"},
       {"nvjet_qqtst_128x64_128x5_1x2_h_bz_TNT", "cublas nvjet 128x64x128 tn",
        "tile 128x64x128; stages 5; cluster 1x2; layout tn; output's layout t; "
        "flavour qqtst h bz"}});
}

TEST(KernelName, ReadsCutlass) {
  expect_names(
      {{"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_"
        "align8>(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_align8::Params)",
        "cutlass gemm bf16 256x128x32 tn, relu",
        "architecture sm80; dtype bf16; output's dtype bf16; sums in fp32; tile 256x128x32; "
        "stages 3; layout tn; epilogue relu; flavour tensorop s16816 align8"},
       {"cutlass_80_wmma_tensorop_f16_s161616gemm_f16_16x16_128x2_tn_align8",
        "cutlass gemm fp16 16x16x128 tn",
        "architecture sm80; dtype fp16; output's dtype fp16; sums in fp32; tile 16x16x128; "
        "stages 2; layout tn; flavour wmma tensorop s161616 align8"},
       {"cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_void_bf16_128x128x64_2x1x1_0_tnn_"
        "align8_warpspecialized_pingpong_epi_tma",
        "cutlass gemm bf16 128x128x64 tn",
        "architecture sm90; dtype bf16; output's dtype bf16; sums in fp32; tile 128x128x64; "
        "cluster 2x1x1; layout tn; output's layout n; "
        "flavour tensorop s64x128x16 0 align8 warpspecialized pingpong epi tma"}});
}

TEST(KernelName, ReadsTemplates) {
  expect_names(
      {{"void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, float, "
        "__nv_bfloat16, false, float, __nv_bfloat16, __nv_bfloat16, true, false, false, "
        "false>(cublasLt::cublasSplitKParams<float>, float const*)",
        "cublas splitKreduce_kernel fp32",
        "dtype fp32; split-K yes; template 32, 16, int, fp32, bf16, fp32, bf16, false, fp32, "
        "bf16, bf16, true, false, false, false"},
       {"void gemv2T_kernel_val<int, int, __half, __half, __half, float, 128, 16, 2, 4, false, "
        "false, cublasGemvParamsEx<int, cublasGemvTensorStridedBatched<__half const>>>(T1, T2)",
        "cublas gemv2T_kernel_val fp16",
        "dtype fp16; template int, int, fp16, fp16, fp16, fp32, 128, 16, 2, 4, false, false"},
       {"std::enable_if<!T7, void>::type internal::gemvx::kernel<int, int, __nv_bfloat16, "
        "__nv_bfloat16, __nv_bfloat16, float, (bool)0, (bool)1, (bool)1, (bool)0, (int)7, "
        "(bool)0, cublasGemvParamsEx<int, cublasGemvTensorStridedBatched<const "
        "__nv_bfloat16>>>(T13)",
        "cublas gemvx bf16",
        "dtype bf16; template int, int, bf16, bf16, bf16, fp32, 0, 1, 1, 0, 7, 0"},
       {"void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl("
        "at::TensorIteratorBase&, at::native::GeluType)::{lambda()#1}::operator()() const::"
        "{lambda()#4}::operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> "
        ">(int)",
        "pytorch vectorized_elementwise_kernel GeluCUDAKernelImpl bf16",
        "dtype bf16; operations GeluCUDAKernelImpl"},
       {"void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, "
        "float, float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> "
        ">(int)",
        "pytorch vectorized_elementwise_kernel MulFunctor fp32",
        "dtype fp32; operations MulFunctor"}});
}

TEST(KernelName, ReadsTriton) {
  expect_names({{"triton_poi_fused__to_copy_gelu_mul_0", "triton poi _to_copy_gelu_mul 0",
                 "operations _to_copy_gelu_mul; number 0"},
                {"triton_tem_fused_addmm_gelu_t_view_9", "triton tem addmm_gelu_t_view 9",
                 "operations addmm_gelu_t_view; number 9"},
                {"triton_tem_fused_0", "triton tem 0", "number 0"},
                {"triton_mm_91", "triton mm 91", "number 91"}});
  EXPECT_EQ(short_kernel_name(read_kernel_name("triton_mm")), "triton mm");
}

constexpr const char* kPointwise =
    "void fusegate::(anonymous namespace)::pointwise_kernel<fusegate::Bf16, fusegate::GeluMul, "
    "void*, void*>(void*, unsigned int, unsigned int, void*, void*)";

TEST(KernelName, ReadsAnyCppFunctionInANamespace) {
  expect_names(
      {{kPointwise, "fusegate pointwise_kernel bf16, <Bf16, GeluMul, void*, void*>",
        "dtype bf16; template Bf16, GeluMul, void*, void*"},
       {"void fusegate::kernels::sm90::geglu_gemm_kernel<fusegate::kernels::sm90::GegluGemm<"
        "__nv_bfloat16, 128, 3, 2> >(fusegate::sm90::GegluMaps, fusegate::TileRaster, int)",
        "fusegate geglu_gemm_kernel bf16, <GegluGemm<__nv_bfloat16, 128, 3, 2>>",
        "architecture sm90; dtype bf16; template GegluGemm<__nv_bfloat16, 128, 3, 2>"},
       {"void flash::fwd<(int)128, flash::Traits<float>>(Params)",
        "flash fwd fp32, <128, Traits<float>>", "dtype fp32; template 128, Traits<float>"},
       {"void ns::copy(float*)", "ns copy", ""}});
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
