// How an element-wise kernel's work is dealt to threads (pointwise_body.cuh does it): packs of 16
// bytes first, then a tail of single elements, each thread some packs or an element of the tail.
#pragma once

#include <cstdint>

namespace fusegate {

struct PointwiseGrid {
  unsigned threads = 256;  // a block
  unsigned packs_a_thread = 1;
};

struct PointwisePlan {
  unsigned packs = 0;
  unsigned tail = 0;  // elements after the packs
  unsigned blocks = 0;

  // Whether every thread has all its packs, so that none need ask.
  bool exact(const PointwiseGrid& grid) const;
};

// in_a_pack: elements that 16 bytes hold. aligned: every tensor's address is a multiple of 16;
// otherwise all is tail. count is 1 at least; throws DeviceError where one launch cannot count it.
PointwisePlan plan_pointwise(std::int64_t count, int in_a_pack, bool aligned,
                             const PointwiseGrid& grid);

}  // namespace fusegate
