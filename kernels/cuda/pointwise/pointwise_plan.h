// How an element-wise kernel's work is shared by threads (pointwise_body.cuh): packs of 16 bytes
// first, then a tail of single elements; each thread takes a pack or an element of the tail.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fusegate::kernels {

// Outputs of half the L2 and more stream past it, with two operands as large: the largest blocks
// are best. In a graph of gelu-muls on an H200 (60 MiB of L2, driver 580.159.04), microseconds a
// kernel, elements of 16 bits, by blocks of 256 and of 1024 threads:
//
//   elements      256      1024
//    12,582,912   17.79    17.92
//    16,777,216   24.32    24.17
//    25,165,824   35.79    35.53
//    90,177,536  123.75   123.27
//   360,710,144  491.92   491.45
constexpr bool is_large_output(std::size_t bytes, std::size_t l2_bytes) {
  return bytes >= l2_bytes / 2;
}

struct PointwisePlan {
  unsigned packs = 0;
  unsigned tail = 0;  // elements after the packs
  unsigned blocks = 0;

  // Whether every thread has a pack, so that none needs a bounds check. threads: of a block.
  bool exact(unsigned threads) const;
};

// in_a_pack: elements in 16 bytes. threads: of a block. aligned: every tensor's address is a
// multiple of 16; otherwise all is tail. count: at least 1; throws DeviceError beyond 32 bits of
// threads.
PointwisePlan plan_pointwise(std::int64_t count, int in_a_pack, bool aligned, unsigned threads);

}  // namespace fusegate::kernels
