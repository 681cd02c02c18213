// Replaces gemm/sm80/mma.cuh: its functions on an emulated cluster.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tests/emulation/cluster.h"
#include "tests/emulation/wgmma.h"

namespace fusegate::kernels {

inline void cp_async_16(std::uint32_t to, const void* from, bool inside) {
  emulation::Cluster::here().copy_16(to, from, inside);
}
inline void cp_async_commit() { emulation::Cluster::here().commit_copies(); }
template <int kGroups>
void cp_async_wait() {
  emulation::Cluster::here().wait_copies(kGroups);
}

// Lanes 8 i and on give the rows of matrix i, of which lane l gets two elements of row l / 4.
inline void ldmatrix_x4(std::uint32_t (&to)[4], std::uint32_t from) {
  const auto rows = emulation::Cluster::here().exchange(from);
  const auto lane = static_cast<std::size_t>(emulation::Cluster::here().thread()) % 32;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto offset = static_cast<std::uint32_t>(lane % 4 * 4);
    emulation::Cluster::here().read(rows[8 * i + lane / 4] + offset, &to[i], sizeof(to[i]));
  }
}

// Lane l has of a rows l / 4 and 8 below, of b row l / 4; of both columns 2 (l % 4) and the next,
// then the same 8 to the right. Of d it has the two rows of a, and rows 2 (l % 4) and the next of
// b.
template <typename T>
void mma_m16n8k16(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  using Operands = std::array<std::uint32_t, 6>;
  const auto all = emulation::Cluster::here().exchange(Operands{a[0], a[1], a[2], a[3], b0, b1});
  const auto lane = static_cast<std::size_t>(emulation::Cluster::here().thread()) % 32;
  const auto element = [](std::uint32_t pair, std::size_t i) {
    return sm90::widen<T>(static_cast<std::uint16_t>(pair >> 16 * i));
  };
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t below = i / 2, b_row = lane % 4 * 2 + i % 2;
    for (std::size_t pair = 0; pair < 8; ++pair) {
      const Operands &of_a = all[lane / 4 * 4 + pair % 4], &of_b = all[b_row * 4 + pair % 4];
      for (std::size_t j = 0; j < 2; ++j) {
        d[i] += element(of_a[pair / 4 * 2 + below], j) * element(of_b[4 + pair / 4], j);
      }
    }
  }
}

}  // namespace fusegate::kernels
