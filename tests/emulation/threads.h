// What nvcc declares without a header, and shared memory's address: a thread's indices, and how
// threads synchronise, on an emulated cluster.
#pragma once

#include <vector_functions.h>
#include <vector_types.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "tests/emulation/cluster.h"

#undef __launch_bounds__
#define __launch_bounds__(...)

namespace fusegate::kernels {
namespace emulation {

// Of threadIdx and its like, for the running thread.
template <int (Cluster::*kOf)() const>
struct Coordinate {
  operator unsigned() const { return static_cast<unsigned>((Cluster::here().*kOf)()); }
};

}  // namespace emulation

using std::min;

inline constexpr struct { emulation::Coordinate<&emulation::Cluster::thread> x; } threadIdx{};
inline constexpr struct {
  emulation::Coordinate<&emulation::Cluster::block_x> x;
  emulation::Coordinate<&emulation::Cluster::block_y> y;
} blockIdx{};
inline constexpr struct { emulation::Coordinate<&emulation::Cluster::threads> x; } blockDim{};
inline constexpr struct { emulation::Coordinate<&emulation::Cluster::grid_x> x; } gridDim{};

// A block's shared memory is the cluster's, so the pointer is unused.
inline std::uint32_t shared_address(const void*) { return emulation::kSharedBase; }

template <typename Value>
Value __shfl_sync(unsigned, Value value, int lane) {
  return emulation::Cluster::here().exchange(value)[static_cast<std::size_t>(lane)];
}
template <typename Value>
Value __shfl_xor_sync(unsigned all, Value value, int lanes) {
  return __shfl_sync(all, value, emulation::Cluster::here().thread() % emulation::kWarp ^ lanes);
}
inline void __syncwarp() { emulation::Cluster::here().exchange(0); }
inline void __syncthreads() { emulation::Cluster::here().block_sync(); }
inline float __uint_as_float(std::uint32_t bits) { return std::bit_cast<float>(bits); }
inline int __double2int_rn(double value) {
  using Limits = std::numeric_limits<int>;
  return static_cast<int>(std::clamp<double>(std::nearbyint(value), Limits::min(), Limits::max()));
}
inline long long __double2ll_rn(double value) { return std::llrint(value); }

}  // namespace fusegate::kernels
