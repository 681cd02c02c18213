#include "kernels/cuda/device/lt_matmul.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "kernels/cuda/device/cublas.h"

namespace fusegate::kernels {
namespace {

bool is_fp8(const LtMatmulShape& shape) { return shape.type == CUDA_R_8F_E4M3; }

template <typename Value>
void set_attribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute,
                   const Value& value) {
  FUSEGATE_CUDA(cublasLtMatmulDescSetAttribute(desc, attribute, &value, sizeof(value)));
}

// w is cublasLt's operand A.
void set_scales(cublasLtMatmulDesc_t desc, const LtScales& scales) {
  set_attribute(desc, CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1});
  set_attribute(desc, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, scales.w);
  set_attribute(desc, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, scales.x);
  if (!scales.of_rows) return;
#if CUBLAS_VERSION >= 120900
  set_attribute(desc, CUBLASLT_MATMUL_DESC_A_SCALE_MODE,
                CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F);
  set_attribute(desc, CUBLASLT_MATMUL_DESC_B_SCALE_MODE,
                CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F);
#else
  throw DeviceError("scales of rows need cuBLAS 12.9");
#endif
}

cublasLtMatmulDesc_t make_operation(const LtMatmulShape& shape) {
  const bool is_double = shape.type == CUDA_R_64F;
  cublasLtMatmulDesc_t desc = nullptr;
  FUSEGATE_CUDA(
      cublasLtMatmulDescCreate(&desc, shape.compute, is_double ? CUDA_R_64F : CUDA_R_32F));
  // cublasLt counts columns first: it computes out^T [n, m] = w [n, k] x^T [k, m], and w as it lies
  // is the transposed operand.
  if (!shape.w_plain) set_attribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  if (shape.x_transposed) set_attribute(desc, CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_T);
  if (shape.bias != nullptr) {
    set_attribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    set_attribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, shape.bias);
  }
  if (is_fp8(shape)) set_scales(desc, shape.scales);
  return desc;
}

struct LtMatrix {
  std::int64_t rows, cols;  // row-major, as it lies
  std::int64_t row_stride = 0;
};

LtMatrix turned(bool is_turned, LtMatrix matrix) {
  if (is_turned) std::swap(matrix.rows, matrix.cols);
  return matrix;
}

cublasLtMatrixLayout_t make_layout(cudaDataType_t type, const LtMatrix& matrix) {
  cublasLtMatrixLayout_t layout = nullptr;
  FUSEGATE_CUDA(cublasLtMatrixLayoutCreate(&layout, type, static_cast<std::uint64_t>(matrix.cols),
                                           static_cast<std::uint64_t>(matrix.rows),
                                           std::max(matrix.cols, matrix.row_stride)));
  return layout;
}

cublasLtMatmulPreference_t make_preference(const LtMatmulShape& shape,
                                           std::size_t workspace_bytes) {
  cublasLtMatmulPreference_t preference = nullptr;
  FUSEGATE_CUDA(cublasLtMatmulPreferenceCreate(&preference));
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
    FUSEGATE_CUDA(
        cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof(value)));
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace_bytes);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, shape.alignment.w);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, shape.alignment.x);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, shape.alignment.out);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, shape.alignment.out);
  return preference;
}

}  // namespace

cudaDataType_t cuda_data_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::kBf16:
      return CUDA_R_16BF;
    case Dtype::kFp16:
      return CUDA_R_16F;
    case Dtype::kFp32:
      return CUDA_R_32F;
    case Dtype::kFp8E4m3:
      return CUDA_R_8F_E4M3;
    default:
      throw DeviceError("cublasLt matmuls here do not support " + std::string(dtype_name(dtype)));
  }
}

LtMatmul::LtMatmul(const LtContext& context, const LtMatmulShape& shape)
    : context_(context),
      shape_(shape),
      operation_(make_operation(shape), &cublasLtMatmulDescDestroy),
      w_(make_layout(shape.type, turned(shape.w_plain, {shape.n, shape.k})),
         &cublasLtMatrixLayoutDestroy),
      x_(make_layout(shape.type, turned(shape.x_transposed, {shape.m, shape.k, shape.x_stride})),
         &cublasLtMatrixLayoutDestroy),
      out_(make_layout(shape.out_type.value_or(shape.type), {shape.m, shape.n}),
           &cublasLtMatrixLayoutDestroy) {
  const std::vector<cublasLtMatmulAlgo_t> found = heuristic(1);
  if (found.empty()) {
    throw DeviceError(
        fmt::format("cublasLt has no algorithm for m {}, n {}, k {}", shape.m, shape.n, shape.k));
  }
  algo_ = found.front();
}

std::vector<cublasLtMatmulAlgo_t> LtMatmul::heuristic(std::size_t most) const {
  const Handle<cublasLtMatmulPreferenceOpaque_t> preference(
      make_preference(shape_, context_.workspace_bytes), &cublasLtMatmulPreferenceDestroy);
  std::vector<cublasLtMatmulHeuristicResult_t> results(most);
  int found = 0;
  FUSEGATE_CUDA(cublasLtMatmulAlgoGetHeuristic(context_.handle, operation_.get(), w_.get(),
                                               x_.get(), out_.get(), out_.get(), preference.get(),
                                               static_cast<int>(most), results.data(), &found));
  results.resize(static_cast<std::size_t>(found));
  std::vector<cublasLtMatmulAlgo_t> algorithms;
  for (const cublasLtMatmulHeuristicResult_t& result : results) {
    if (result.state == CUBLAS_STATUS_SUCCESS) algorithms.push_back(result.algo);
  }
  return algorithms;
}

std::vector<cublasLtMatmulAlgo_t> LtMatmul::candidates(std::size_t most) const {
  // When asked for several, the heuristic may begin with another than when asked for one.
  std::vector<cublasLtMatmulAlgo_t> algorithms{algo_};
  for (const cublasLtMatmulAlgo_t& other : heuristic(most)) {
    if (algorithms.size() == most) break;
    if (!std::ranges::equal(other.data, algo_.data)) algorithms.push_back(other);
  }
  return algorithms;
}

std::string LtMatmul::text() const {
  return fmt::format(
      "cublasLt: {} x {} x {}, types {}, {} and {}, bias {}, {} bytes, {}{}{}, rows {} apart, "
      "aligned to {}, {}, {}{}",
      shape_.m, shape_.n, shape_.k, static_cast<int>(shape_.type),
      static_cast<int>(shape_.out_type.value_or(shape_.type)), static_cast<int>(shape_.compute),
      shape_.bias != nullptr, context_.workspace_bytes, shape_.x_transposed ? 'T' : 'N',
      shape_.w_plain ? 'N' : 'T', shape_.adds ? '+' : '=', shape_.x_stride, shape_.alignment.x,
      shape_.alignment.w, shape_.alignment.out, shape_.scales.of_rows ? ", scales of rows" : "");
}

void LtMatmul::enqueue_by(const cublasLtMatmulAlgo_t& algorithm, const void* x, const void* w,
                          void* out) const {
  const bool is_double = shape_.type == CUDA_R_64F;
  const double one = 1;
  const float one_f = 1;
  const void* const alpha = is_double ? static_cast<const void*>(&one) : &one_f;
  const double beta_d = shape_.adds ? 1 : 0;
  const float beta_f = shape_.adds ? 1 : 0;
  const void* const beta = is_double ? static_cast<const void*>(&beta_d) : &beta_f;
  FUSEGATE_CUDA(cublasLtMatmul(context_.handle, operation_.get(), alpha, w, w_.get(), x, x_.get(),
                               beta, out, out_.get(), out, out_.get(), &algorithm,
                               context_.workspace, context_.workspace_bytes, context_.stream));
}

std::string LtMatmul::algorithm_text(const cublasLtMatmulAlgo_t& algorithm) {
  constexpr std::array<std::pair<const char*, cublasLtMatmulAlgoConfigAttributes_t>, 6> kWide{{
      {"algo", CUBLASLT_ALGO_CONFIG_ID},
      {"tile", CUBLASLT_ALGO_CONFIG_TILE_ID},
      {"stages", CUBLASLT_ALGO_CONFIG_STAGES_ID},
      {"split-k", CUBLASLT_ALGO_CONFIG_SPLITK_NUM},
      {"swizzle", CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING},
      {"custom", CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION},
  }};
  constexpr std::array<std::pair<const char*, cublasLtMatmulAlgoConfigAttributes_t>, 2> kNarrow{{
      {"inner", CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID},
      {"cluster", CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID},
  }};
  std::string text;
  const auto append = [&](const char* name, auto value, cublasLtMatmulAlgoConfigAttributes_t what) {
    std::size_t written = 0;
    FUSEGATE_CUDA(
        cublasLtMatmulAlgoConfigGetAttribute(&algorithm, what, &value, sizeof(value), &written));
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
  };
  for (const auto& [name, what] : kWide) append(name, std::uint32_t{0}, what);
  for (const auto& [name, what] : kNarrow) append(name, std::uint16_t{0}, what);
  return text;
}

}  // namespace fusegate::kernels
