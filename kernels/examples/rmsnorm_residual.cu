// An example of an operation with two outputs, one of them in place: RMSNorm of a residual stream, as
// before every block of a transformer.
//
//   residual = residual + x
//   y = residual / sqrt(mean(residual^2 over a row) + 1e-6) * weight
//
// x, residual and y are [rows, dim], weight is [dim]. Builds without CUDA for the CPU only.
#include <fusegate/kernel.h>
#include <fusegate/work.h>

#include <cmath>
#include <cstdint>
#include <vector>
#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <fusegate/cuda.h>
#endif

namespace {

using namespace fusegate::kernels;

constexpr double kEpsilon = 1e-6;

std::vector<TensorSpec> inputs(const Problem& p) {
  const std::vector<std::int64_t> shape{p.at("rows"), p.at("dim")};
  return {{"x", shape, Fill::normal()},
          {"residual", shape, Fill::normal(3)},
          {"weight", {p.at("dim")}, Fill::normal(0.1, 1)}};
}

std::vector<TensorSpec> outputs(const Problem& p) {
  const std::vector<std::int64_t> shape{p.at("rows"), p.at("dim")};
  return {{.name = "y", .shape = shape},
          {.name = "residual", .shape = shape, .in_place_of = "residual"}};
}

void reference(const Problem& p, std::span<const std::vector<double>> in,
               std::span<std::vector<double>> out) {
  const auto rows = static_cast<std::size_t>(p.at("rows"));
  const auto dim = static_cast<std::size_t>(p.at("dim"));
  for (std::size_t row = 0; row < rows; ++row) {
    double squares = 0;
    for (std::size_t i = row * dim; i < (row + 1) * dim; ++i) {
      out[1][i] = in[0][i] + in[1][i];
      squares += out[1][i] * out[1][i];
    }
    const double scale = 1 / std::sqrt(squares / static_cast<double>(dim) + kEpsilon);
    for (std::size_t col = 0; col < dim; ++col) {
      out[0][row * dim + col] = out[1][row * dim + col] * scale * in[2][col];
    }
  }
}

const OperationRegistration operation{{
    .name = "rmsnorm_residual",
    .axes = {"rows", "dim"},
    .inputs = &inputs,
    .outputs = &outputs,
    .host_reference = &reference,
}};

// Reads x, residual and weight, writes y and residual: 6 operations an element.
Stage rmsnorm_stage(Inputs in, const Outputs& out) {
  Stage stage = pointwise_work("rmsnorm", 6, {&in[0], &in[1], &in[2]}, out[0]);
  stage.min_bytes += static_cast<double>(out[1].bytes());
  return stage;
}

void rmsnorm_on_cpu(const float* x, float* residual, const float* weight, float* y,
                    std::int64_t rows, std::int64_t dim) {
  for (std::int64_t row = 0; row < rows; ++row, x += dim, residual += dim, y += dim) {
    float squares = 0;
    for (std::int64_t i = 0; i < dim; ++i) {
      residual[i] += x[i];
      squares += residual[i] * residual[i];
    }
    const float scale =
        1 / std::sqrt(squares / static_cast<float>(dim) + static_cast<float>(kEpsilon));
    for (std::int64_t i = 0; i < dim; ++i) y[i] = residual[i] * scale * weight[i];
  }
}

PreparedKernel prepare_on_cpu(Device&, const Problem&, Inputs in, const Outputs& out) {
  PreparedKernel kernel;
  kernel.stages.push_back(rmsnorm_stage(in, out));
  kernel.stages.back().launch = [x = in[0], weight = in[2], y = out[0], residual = out[1]] {
    rmsnorm_on_cpu(static_cast<const float*>(x.data), static_cast<float*>(residual.data),
                   static_cast<const float*>(weight.data), static_cast<float*>(y.data), x.rows(),
                   x.cols());
  };
  return kernel;
}

const ImplementationRegistration on_cpu{{
    .operation = "rmsnorm_residual",
    .name = "row_by_row",
    .device = "cpu",
    .dtypes = {Dtype::kFp32},
    .prepare = &prepare_on_cpu,
}};

#ifdef __CUDACC__

constexpr int kThreads = 256;

// A block a row. What a thread adds up it keeps in shared memory, since the row is read once.
template <typename T>
__global__ void rmsnorm(const T* x, T* residual, const T* weight, T* y, int dim) {
  extern __shared__ float row[];
  __shared__ float sums[kThreads / 32];
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * dim;
  float squares = 0;
  for (int i = threadIdx.x; i < dim; i += kThreads) {
    const float sum = static_cast<float>(x[first + i]) + static_cast<float>(residual[first + i]);
    residual[first + i] = static_cast<T>(sum);
    row[i] = sum;
    squares += sum * sum;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    squares += __shfl_xor_sync(~0u, squares, offset);
  }
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = squares;
  __syncthreads();
  squares = 0;
  for (const float sum : sums) squares += sum;
  const float scale = rsqrtf(squares / dim + static_cast<float>(kEpsilon));
  for (int i = threadIdx.x; i < dim; i += kThreads) {
    y[first + i] = static_cast<T>(row[i] * scale * static_cast<float>(weight[i]));
  }
}

template <typename T>
void enqueue(const Tensor& x, const Tensor& residual, const Tensor& weight, const Tensor& y,
             cudaStream_t stream) {
  const auto rows = static_cast<unsigned>(x.rows());
  const auto dim = static_cast<int>(x.cols());
  rmsnorm<<<rows, kThreads, static_cast<std::size_t>(dim) * sizeof(float), stream>>>(
      static_cast<const T*>(x.data), static_cast<T*>(residual.data),
      static_cast<const T*>(weight.data), static_cast<T*>(y.data), dim);
  FUSEGATE_CUDA(cudaGetLastError());
}

PreparedKernel prepare_on_cuda(Device& device, const Problem& problem, Inputs in,
                               const Outputs& out) {
  PreparedKernel kernel;
  kernel.stages.push_back(rmsnorm_stage(in, out));
  kernel.stages.back().launch =
      [x = in[0], weight = in[2], y = out[0], residual = out[1],
       enqueue = problem.dtype == Dtype::kBf16 ? &enqueue<__nv_bfloat16> : &enqueue<__half>,
       stream = cuda_stream(device)] { enqueue(x, residual, weight, y, stream); };
  return kernel;
}

// What a block has of shared memory without asking for more.
std::string refuses(const Device&, const Problem& problem) {
  return problem.at("dim") <= 12000 ? "" : "its rows take more than 48 kB of shared memory";
}

const ImplementationRegistration on_cuda{{
    .operation = "rmsnorm_residual",
    .name = "block_a_row",
    .device = "cuda",
    .dtypes = {Dtype::kBf16, Dtype::kFp16},
    .prepare = &prepare_on_cuda,
    .refuses = &refuses,
}};

#endif

}  // namespace
