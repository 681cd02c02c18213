// geglu_mlp/fused_epilogue_sm80: two kernels. GeGLU is the epilogue of one product with both the
// gate's and the up's weights, as they are stored, by Ampere's instructions
// (kernels/cuda/gemm/sm80/geglu_gemm.cuh); then the down product.
#include "kernels/cuda/implementations/expected_stages.h"
#include "kernels/cuda/implementations/fused_epilogue.h"

namespace fusegate::kernels {
namespace {

const ImplementationRegistration registered{{
    .operation = "geglu_mlp",
    .name = "fused_epilogue_sm80",
    .device = "cuda",
    .dtypes = {Dtype::kBf16, Dtype::kFp16},
    .alignment = kFusedEpilogueAlignment,
    .prepare = &prepare_fused_epilogue_sm80,
    .expects = {{.stages = {expected_own_matmul("gate_up_geglu"),
                            expected_fastest_matmul("down_proj")}}},
}};

}  // namespace
}  // namespace fusegate::kernels
