// An example of a library that is set up untimed, and of an output of another dtype: a product of
// int8 matrices in int32, by cublasLt. out [m, n] = a [m, k] b [n, k]^T. It must be exact.
#include <cublasLt.h>
#include <fusegate/cublas.h>
#include <fusegate/kernel.h>
#include <fusegate/work.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace {

using namespace fusegate::kernels;

std::vector<TensorSpec> inputs(const Problem& p) {
  return {{"a", {p.at("m"), p.at("k")}, Fill::integers(-127, 127)},
          {"b", {p.at("n"), p.at("k")}, Fill::integers(-127, 127)}};
}

std::vector<TensorSpec> outputs(const Problem& p) {
  return {{.name = "out", .shape = {p.at("m"), p.at("n")}, .dtype = Dtype::kInt32}};
}

// On the device: a CPU would take minutes for a large product. Sums of integers are exact in
// double.
void reference(Device& device, const Problem& p, std::span<double* const> in, double* out) {
  device.reference_math().matmul(in[0], in[1], out, p.at("m"), p.at("n"), p.at("k"));
}

const OperationRegistration operation{{
    .name = "int8_gemm",
    .axes = {"m", "n", "k"},
    .inputs = &inputs,
    .outputs = &outputs,
    .reference = &reference,
}};

template <typename T>
using Handle = std::shared_ptr<T>;

Handle<cublasLtContext> make_context() {
  cublasLtHandle_t handle = nullptr;
  FUSEGATE_CUDA(cublasLtCreate(&handle));
  return {handle, cublasLtDestroy};
}

Handle<cublasLtMatmulDescOpaque_t> make_product() {
  cublasLtMatmulDesc_t product = nullptr;
  FUSEGATE_CUDA(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32I, CUDA_R_32I));
  Handle<cublasLtMatmulDescOpaque_t> owner(product, cublasLtMatmulDescDestroy);
  const cublasOperation_t transposed = CUBLAS_OP_T;
  FUSEGATE_CUDA(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                               sizeof(transposed)));
  return owner;
}

// A row-major matrix is its transpose to cublasLt, whose matrices are column-major.
Handle<cublasLtMatrixLayoutOpaque_t> make_layout(const Tensor& matrix) {
  cublasLtMatrixLayout_t layout = nullptr;
  const cudaDataType_t type = matrix.dtype == Dtype::kInt8 ? CUDA_R_8I : CUDA_R_32I;
  FUSEGATE_CUDA(cublasLtMatrixLayoutCreate(&layout, type, static_cast<std::uint64_t>(matrix.cols()),
                                           static_cast<std::uint64_t>(matrix.rows()),
                                           matrix.cols()));
  return {layout, cublasLtMatrixLayoutDestroy};
}

// All that a launch needs; it owns it.
struct Product {
  Handle<cublasLtContext> context = make_context();
  Handle<cublasLtMatmulDescOpaque_t> product = make_product();
  Handle<cublasLtMatrixLayoutOpaque_t> a, b, out;
  cublasLtMatmulAlgo_t algorithm{};
  Tensor workspace;

  void choose_algorithm() {
    cublasLtMatmulPreference_t preference = nullptr;
    FUSEGATE_CUDA(cublasLtMatmulPreferenceCreate(&preference));
    const Handle<cublasLtMatmulPreferenceOpaque_t> owner(preference,
                                                         cublasLtMatmulPreferenceDestroy);
    const std::size_t bytes = workspace.bytes();
    FUSEGATE_CUDA(cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof(bytes)));
    cublasLtMatmulHeuristicResult_t found{};
    int count = 0;
    FUSEGATE_CUDA(cublasLtMatmulAlgoGetHeuristic(context.get(), product.get(), b.get(), a.get(),
                                                 out.get(), out.get(), preference, 1, &found,
                                                 &count));
    if (count == 0) throw DeviceError("cublasLt has no int8 product of this shape");
    algorithm = found.algo;
  }

  void enqueue(const Tensor& from_a, const Tensor& from_b, const Tensor& to,
               cudaStream_t stream) const {
    const std::int32_t one = 1, zero = 0;
    // out^T [n, m] = b [n, k] a^T [k, m].
    FUSEGATE_CUDA(cublasLtMatmul(context.get(), product.get(), &one, from_b.data, b.get(),
                                 from_a.data, a.get(), &zero, to.data, out.get(), to.data,
                                 out.get(), &algorithm, workspace.data, workspace.bytes(), stream));
  }
};

PreparedKernel prepare(Device& device, const Problem&, Inputs in, const Tensor& out) {
  PreparedKernel kernel;
  const auto product = std::make_shared<Product>();
  product->a = make_layout(in[0]);
  product->b = make_layout(in[1]);
  product->out = make_layout(out);
  product->workspace = kernel.intermediate(device, {32 << 20}, Dtype::kInt8);
  product->choose_algorithm();
  kernel.stages.push_back(matmul_work("matmul", in[0], in[1], out));
  kernel.stages.back().launch = [product, a = in[0], b = in[1], out, stream = cuda_stream(device)] {
    product->enqueue(a, b, out, stream);
  };
  return kernel;
}

const ImplementationRegistration registered{{
    .operation = "int8_gemm",
    .name = "cublaslt",
    .device = "cuda",
    .dtypes = {Dtype::kInt8},
    .multiples = {{"m", 16}, {"n", 16}, {"k", 16}},
    .prepare = &prepare,
}};

}  // namespace
