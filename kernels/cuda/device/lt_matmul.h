// One cublasLt matmul, out [m, n] = x [m, k] w [n, k]^T (+ bias [n]), all row-major, as a Linear
// layer; or with operands that lie otherwise, as its backward pass has them. The algorithm is the
// heuristic's first choice for the device's workspace, unless use() sets another (lt_tuning.h).
#pragma once

#include <cublasLt.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/contract/device.h"

namespace fusegate::kernels {

// Matmuls run one after another on the stream and share the workspace.
struct LtContext {
  cublasLtHandle_t handle = nullptr;
  cudaStream_t stream = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

// Bytes that addresses are multiples of.
struct LtAlignment {
  std::uint32_t x = 256, w = 256, out = 256;  // cudaMalloc's
};

// Of operands in e4m3: device addresses of scales in fp32, one a matrix, or one for each of its
// rows.
struct LtScales {
  const void* x = nullptr;
  const void* w = nullptr;
  bool of_rows = false;
};

struct LtMatmulShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  // Of x, w, out and bias. Of CUDA_R_8F_E4M3, sums are only added as precisely as the tensor cores
  // add (CUBLASLT_MATMUL_DESC_FAST_ACCUM), as our own kernels' are.
  cudaDataType_t type = CUDA_R_16BF;
  std::optional<cudaDataType_t> out_type = {};  // of out, where it is another
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  const void* bias = nullptr;  // device address of n elements; null for none
  LtScales scales = {};        // of e4m3 elements
  bool x_transposed = false;   // x lies as [k, m]
  bool w_plain = false;        // w lies as [k, n]
  bool adds = false;           // to what out holds
  std::int64_t x_stride = 0;   // elements from row to row of x; zero: as many as a row has
  LtAlignment alignment = {};
};

cudaDataType_t cuda_data_type(Dtype dtype);

// A matmul's algorithm that was chosen by measuring (lt_tuning.h).
struct LtChoice {
  cublasLtMatmulAlgo_t algorithm{};
  std::string text;  // "tuned: candidate 3 of 8, algo 66, tile 18, ..."
  double ahead = 0;  // TakenLaunch's
};

class LtMatmul {
 public:
  // Throws DeviceError where cublasLt has no algorithm for the shape.
  LtMatmul(const LtContext& context, const LtMatmulShape& shape);

  void enqueue(const void* x, const void* w, void* out) const { enqueue_by(algo_, x, w, out); }
  // By one of the candidates. Throws DeviceError where that fails.
  void enqueue_by(const cublasLtMatmulAlgo_t& algorithm, const void* x, const void* w,
                  void* out) const;

  // The algorithm in use, then the heuristic's others in its order; at most `most`.
  std::vector<cublasLtMatmulAlgo_t> candidates(std::size_t most) const;
  void use(const cublasLtMatmulAlgo_t& algorithm) { algo_ = algorithm; }
  // All that the choice of an algorithm depends on: m, n, k, types, whether it has a bias, the
  // workspace's bytes, how operands lie and are aligned, whether it adds, and how many there are.
  std::string text() const;
  // "algo 66, tile 18, stages 36, split-k 1, ...", in cublasLt's own numbers.
  std::string algorithm() const { return algorithm_text(algo_); }
  static std::string algorithm_text(const cublasLtMatmulAlgo_t& algorithm);

 private:
  template <typename T>
  using Handle = std::unique_ptr<T, cublasStatus_t (*)(T*)>;

  // The heuristic's first ones, at most `most`.
  std::vector<cublasLtMatmulAlgo_t> heuristic(std::size_t most) const;

  LtContext context_;
  LtMatmulShape shape_;
  Handle<cublasLtMatmulDescOpaque_t> operation_;
  Handle<cublasLtMatrixLayoutOpaque_t> w_, x_, out_;
  cublasLtMatmulAlgo_t algo_{};
};

}  // namespace fusegate::kernels
