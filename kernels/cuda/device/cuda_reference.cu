#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "kernels/activations/activations.h"
#include "kernels/contract/random.h"
#include "kernels/cuda/device/cuda.h"
#include "kernels/cuda/device/cuda_reference.h"
#include "kernels/cuda/device/element.cuh"

namespace fusegate::kernels {
namespace {

// The scale of an element of a matrix of n columns.
struct ScaleBlocksOnDevice {
  std::int64_t rows, columns, across, n;
  __device__ std::int64_t of(std::int64_t i) const {
    return i / n / rows * across + i % n / columns;
  }
};

template <typename F>
__device__ void for_each_element(std::int64_t count, F&& f) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < count;
       i += stride) {
    f(i);
  }
}

__global__ void widen_kernel(const void* in, Dtype dtype, double* out, std::int64_t count) {
  for_each_element(count, [=](std::int64_t i) { out[i] = load_as_double(in, dtype, i); });
}

__global__ void copy_kernel(const double* in, double* out, std::int64_t count) {
  for_each_element(count, [=](std::int64_t i) { out[i] = in[i]; });
}

__global__ void add_bias_kernel(double* x, const double* bias, std::int64_t count, std::int64_t n) {
  for_each_element(count, [=](std::int64_t i) { x[i] += bias[i % n]; });
}

template <typename Functor>
__global__ void gate_kernel(const double* g, const double* u, double* out, std::int64_t count) {
  for_each_element(count, [=](std::int64_t i) { out[i] = Functor::reference(g[i]) * u[i]; });
}

template <typename Functor>
__global__ void gate_backward_kernel(ReferenceBackward unit, std::int64_t count) {
  for_each_element(count, [=](std::int64_t i) {
    const double g = unit.g[i];
    unit.dg[i] = Functor::reference_slope(g) * unit.u[i] * unit.dh[i];
    unit.du[i] = Functor::reference(g) * unit.dh[i];
  });
}

__global__ void transpose_kernel(const double* in, double* out, std::int64_t rows,
                                 std::int64_t cols) {
  for_each_element(rows * cols, [=](std::int64_t i) { out[i] = in[i % rows * cols + i / rows]; });
}

__global__ void scale_kernel(ScaleBlocksOnDevice blocks, const double* scales, double* x,
                             std::int64_t count) {
  for_each_element(count, [=](std::int64_t i) { x[i] *= scales[blocks.of(i)]; });
}

__global__ void perturb_kernel(double* values, std::int64_t count, double unit,
                               std::uint64_t seed) {
  for_each_element(count, [=](std::int64_t i) {
    values[i] *= 1 + unit * random_uniform(seed, static_cast<std::uint64_t>(i));
  });
}

__device__ double warp_sum(double value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(~0u, value, offset);
  return value;
}

__device__ void sum_in_warp(GroupErrors& sums) {
  sums = {warp_sum(sums.difference), warp_sum(sums.scaled), warp_sum(sums.along),
          warp_sum(sums.reference), warp_sum(sums.noise)};
}

__device__ void join_in_warp(TileErrors& tile) {
  for (int offset = 16; offset > 0; offset /= 2) {
    tile.see(__shfl_down_sync(~0u, tile.largest, offset),
             __shfl_down_sync(~0u, tile.largest_at, offset));
    tile.not_finite += __shfl_down_sync(~0u, tile.not_finite, offset);
    tile.bad_reference += __shfl_down_sync(~0u, tile.bad_reference, offset);
  }
}

__device__ void add_to(GroupErrors* row, const GroupErrors& sums) {
  atomicAdd(&row->difference, sums.difference);
  atomicAdd(&row->scaled, sums.scaled);
  atomicAdd(&row->along, sums.along);
  atomicAdd(&row->reference, sums.reference);
  atomicAdd(&row->noise, sums.noise);
}

// Where the sums go; null rows or columns where the grid has none.
struct ErrorSums {
  TileErrors* tiles;
  GroupErrors* rows;
  double* columns;
};

// A block a tile, a warp a row of it.
__global__ void errors_kernel(const void* out, Dtype dtype, const double* reference, TileGrid grid,
                              ErrorScale scale, ErrorSums sums) {
  constexpr int kWarps = kThreads / 32;
  // As bytes, since shared memory has no constructors.
  __shared__ alignas(TileErrors) unsigned char shared[kWarps * sizeof(TileErrors)];
  auto* const of_warps = reinterpret_cast<TileErrors*>(shared);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::int64_t first_row = blockIdx.x / grid.across() * grid.tile_rows;
  const std::int64_t first_column = blockIdx.x % grid.across() * grid.tile_columns;
  const std::int64_t end_row = min(first_row + grid.tile_rows, grid.rows);
  const std::int64_t end_column = min(first_column + grid.tile_columns, grid.columns);
  TileErrors tile;
  for (std::int64_t row = first_row + warp; row < end_row; row += kWarps) {
    GroupErrors group;
    for (std::int64_t column = first_column + lane; column < end_column; column += 32) {
      const std::int64_t at = row * grid.columns + column;
      const double value = load_as_double(out, dtype, at);
      const double square = tile.see(value, reference[at], scale, row, column, at, group);
      if (sums.columns != nullptr && square > 0) atomicAdd(&sums.columns[column], square);
    }
    sum_in_warp(group);
    if (lane != 0) continue;
    tile.sums.add(group);
    if (sums.rows != nullptr) add_to(&sums.rows[row], group);
  }
  join_in_warp(tile);
  if (lane == 0) of_warps[warp] = tile;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int other = 1; other < kWarps; ++other) tile.add(of_warps[other]);
  sums.tiles[blockIdx.x] = tile;
}

template <typename T>
std::span<std::byte> bytes_of(std::vector<T>& values) {
  return std::as_writable_bytes(std::span(values));
}

}  // namespace

void CudaReference::widen(const Tensor& in, double* out) {
  widen_kernel<<<grid_blocks(in.count()), kThreads, 0, stream_>>>(in.data, in.dtype, out,
                                                                  in.count());
  FUSEGATE_CUDA(cudaGetLastError());
}

// Not by cudaMemcpyAsync, which this checks.
void CudaReference::copy(const double* in, double* out, std::int64_t count) {
  copy_kernel<<<grid_blocks(count), kThreads, 0, stream_>>>(in, out, count);
  FUSEGATE_CUDA(cudaGetLastError());
}

void CudaReference::matmul(const double*, const double*, double*, std::int64_t, std::int64_t,
                           std::int64_t) {
  throw DeviceError("a reference on the GPU has matrix products only with cuBLAS");
}

void CudaReference::add_bias(double* x, const double* bias, std::int64_t m, std::int64_t n) {
  add_bias_kernel<<<grid_blocks(m * n), kThreads, 0, stream_>>>(x, bias, m * n, n);
  FUSEGATE_CUDA(cudaGetLastError());
}

void CudaReference::gate(const Activation& activation, const double* g, const double* u,
                         double* out, std::int64_t count) {
  dispatch_activation(Activations{}, activation, [&]<typename Functor>() {
    gate_kernel<Functor><<<grid_blocks(count), kThreads, 0, stream_>>>(g, u, out, count);
  });
  FUSEGATE_CUDA(cudaGetLastError());
}

void CudaReference::gate_backward(const Activation& activation, const ReferenceBackward& unit,
                                  std::int64_t count) {
  dispatch_activation(Activations{}, activation, [&]<typename Functor>() {
    gate_backward_kernel<Functor><<<grid_blocks(count), kThreads, 0, stream_>>>(unit, count);
  });
  FUSEGATE_CUDA(cudaGetLastError());
}

void CudaReference::transpose(const double* in, double* out, std::int64_t rows, std::int64_t cols) {
  transpose_kernel<<<grid_blocks(rows * cols), kThreads, 0, stream_>>>(in, out, rows, cols);
  FUSEGATE_CUDA(cudaGetLastError());
}

void CudaReference::apply_scales(const ScaleBlocks& blocks, const double* scales, double* x,
                                 std::int64_t m, std::int64_t n) {
  const ScaleBlocksOnDevice on_device{blocks.rows, blocks.columns, blocks.shape(m, n)[1], n};
  scale_kernel<<<grid_blocks(m * n), kThreads, 0, stream_>>>(on_device, scales, x, m * n);
  FUSEGATE_CUDA(cudaGetLastError());
}

void CudaReference::perturb(double* values, std::int64_t count, double unit, std::uint64_t seed) {
  perturb_kernel<<<grid_blocks(count), kThreads, 0, stream_>>>(values, count, unit, seed);
  FUSEGATE_CUDA(cudaGetLastError());
}

Errors CudaReference::errors(const Tensor& out, const double* reference, const ErrorScale& scale) {
  Errors errors(TileGrid(out.rows(), out.cols()));
  errors.columns.clear();  // only a spread needs them
  sum_up(out.data, out.dtype, reference, scale, errors);
  return errors;
}

Errors CudaReference::spread(const double* perturbed, const Tensor& like, const double* reference,
                             std::int64_t repeats) {
  Errors errors(TileGrid(like.rows(), like.cols(), repeats));
  sum_up(perturbed, Dtype::kFp64, reference, {}, errors);
  return errors;
}

void CudaReference::sum_up(const void* out, Dtype dtype, const double* reference,
                           const ErrorScale& scale, Errors& errors) {
  const auto tiles = bytes_of(errors.tiles), rows = bytes_of(errors.rows);
  const auto columns = bytes_of(errors.columns);
  auto* const to = static_cast<std::byte*>(sums(tiles.size() + rows.size() + columns.size()));
  std::byte *const to_rows = to + tiles.size(), *const to_columns = to_rows + rows.size();
  FUSEGATE_CUDA(cudaMemsetAsync(to_rows, 0, rows.size() + columns.size(), stream_));
  errors_kernel<<<static_cast<unsigned>(errors.tiles.size()), kThreads, 0, stream_>>>(
      out, dtype, reference, errors.grid, scale,
      ErrorSums{reinterpret_cast<TileErrors*>(to),
                rows.empty() ? nullptr : reinterpret_cast<GroupErrors*>(to_rows),
                columns.empty() ? nullptr : reinterpret_cast<double*>(to_columns)});
  FUSEGATE_CUDA(cudaGetLastError());
  for (const auto& [host, from] : {std::pair(tiles, to), {rows, to_rows}, {columns, to_columns}}) {
    FUSEGATE_CUDA(cudaMemcpyAsync(host.data(), from, host.size(), cudaMemcpyDeviceToHost, stream_));
  }
  FUSEGATE_CUDA(cudaStreamSynchronize(stream_));
}

void* CudaReference::sums(std::size_t bytes) {
  if (bytes > sums_.bytes()) {
    sums_ = {};
    sums_ = allocate_(bytes);
  }
  return sums_.data();
}

}  // namespace fusegate::kernels
