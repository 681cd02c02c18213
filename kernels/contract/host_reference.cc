#include "kernels/contract/host_reference.h"

#include <algorithm>
#include <cmath>
#include <thread>
#include <vector>

#include "kernels/contract/number_format.h"
#include "kernels/contract/random.h"

namespace fusegate::kernels {
namespace {

// Eight partial sums let the compiler use vector registers.
double dot(const double* a, const double* b, std::int64_t count) {
  constexpr int kLanes = 8;
  double sums[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  for (; i < count; ++i) sums[0] += a[i] * b[i];
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

template <typename Load>
Errors sums_of_errors(const TileGrid& grid, const double* reference, const ErrorScale& scale,
                      Load load) {
  Errors errors(grid);
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    const std::int64_t first_tile = row / grid.tile_rows * grid.across();
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      TileErrors& tile =
          errors.tiles[static_cast<std::size_t>(first_tile + column / grid.tile_columns)];
      const std::int64_t at = row * grid.columns + column;
      GroupErrors sums;
      const double square = tile.see(load(at), reference[at], scale, row, column, at, sums);
      tile.sums.add(sums);
      if (grid.has_rows()) errors.rows[static_cast<std::size_t>(row)].add(sums);
      if (grid.has_columns()) errors.columns[static_cast<std::size_t>(column)] += square;
    }
  }
  return errors;
}

}  // namespace

void HostReference::widen(const Tensor& in, double* out) {
  for (std::int64_t i = 0; i < in.count(); ++i) out[i] = load_element(in.data, in.dtype, i);
}

void HostReference::copy(const double* in, double* out, std::int64_t count) {
  std::copy_n(in, count, out);
}

void HostReference::matmul(const double* x, const double* w, double* out, std::int64_t m,
                           std::int64_t n, std::int64_t k) {
  const std::int64_t workers = std::clamp<std::int64_t>(std::thread::hardware_concurrency(), 1, m);
  std::vector<std::jthread> threads;
  for (std::int64_t worker = 0; worker < workers; ++worker) {
    const std::int64_t begin = m * worker / workers, end = m * (worker + 1) / workers;
    threads.emplace_back([=] {
      // Weight rows in the outer loop: each is read from memory once per block of rows of x.
      for (std::int64_t col = 0; col < n; ++col) {
        for (std::int64_t row = begin; row < end; ++row) {
          out[row * n + col] = dot(x + row * k, w + col * k, k);
        }
      }
    });
  }
}

void HostReference::add_bias(double* x, const double* bias, std::int64_t m, std::int64_t n) {
  for (std::int64_t row = 0; row < m; ++row) {
    for (std::int64_t col = 0; col < n; ++col) x[row * n + col] += bias[col];
  }
}

void HostReference::gate(const Activation& activation, const double* g, const double* u,
                         double* out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = activation.reference(g[i]) * u[i];
}

void HostReference::gate_backward(const Activation& activation, const ReferenceBackward& unit,
                                  std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    unit.dg[i] = activation.slope(unit.g[i]) * unit.u[i] * unit.dh[i];
    unit.du[i] = activation.reference(unit.g[i]) * unit.dh[i];
  }
}

void HostReference::transpose(const double* in, double* out, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t col = 0; col < cols; ++col) out[col * rows + row] = in[row * cols + col];
  }
}

void HostReference::apply_scales(const ScaleBlocks& blocks, const double* scales, double* x,
                                 std::int64_t m, std::int64_t n) {
  const std::int64_t across = blocks.shape(m, n)[1];
  for (std::int64_t i = 0; i < m * n; ++i) {
    x[i] *= scales[i / n / blocks.rows * across + i % n / blocks.columns];
  }
}

void HostReference::perturb(double* values, std::int64_t count, double unit, std::uint64_t seed) {
  for (std::int64_t i = 0; i < count; ++i) {
    values[i] *= 1 + unit * random_uniform(seed, static_cast<std::uint64_t>(i));
  }
}

Errors HostReference::errors(const Tensor& out, const double* reference, const ErrorScale& scale) {
  return sums_of_errors(TileGrid(out.rows(), out.cols()), reference, scale,
                        [&](std::int64_t i) { return load_element(out.data, out.dtype, i); });
}

Errors HostReference::spread(const double* perturbed, const Tensor& like, const double* reference,
                             std::int64_t repeats) {
  return sums_of_errors(TileGrid(like.rows(), like.cols(), repeats), reference, {},
                        [&](std::int64_t i) { return perturbed[i]; });
}

}  // namespace fusegate::kernels
