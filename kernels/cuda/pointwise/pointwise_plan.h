// How an element-wise kernel's work is dealt to threads (pointwise_body.cuh does it): packs of 16
// bytes first, then a tail of single elements, each thread a pack or an element of the tail.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fusegate::kernels {

// Outputs of half the L2 and more stream past it, with two operands as large, and are worked on by
// the largest blocks. In a graph of gelu-muls on an H200 (60 MiB of L2, driver 580.159.04),
// microseconds a kernel of so many elements of 16 bits, by blocks of 256 and of 1024 threads:
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

  // Whether every thread of blocks of so many has a pack, so that none need ask.
  bool exact(unsigned threads) const;
};

// in_a_pack: elements that 16 bytes hold. threads: of a block. aligned: every tensor's address is a
// multiple of 16; otherwise all is tail. count is 1 at least; throws DeviceError where one launch
// cannot count it.
PointwisePlan plan_pointwise(std::int64_t count, int in_a_pack, bool aligned, unsigned threads);

}  // namespace fusegate::kernels
