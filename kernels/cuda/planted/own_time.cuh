// Every kernel takes a share of its own time longer, to see the gate find a change of everything:
// only in a build that asks for it (-DFUSEGATE_SLOW_KERNEL=all -DFUSEGATE_SLOW_SHARE=0.05 to CMake).
// Threads wait where they end, so that a kernel of a single wave whose blocks are short beside the
// launch takes less longer than that.
#pragma once

#ifdef FUSEGATE_SLOW_ALL_SHARE

namespace fusegate::kernels::planted {

class OwnTime {
 public:
  __device__ OwnTime() : start_(clock()) {}
  __device__ ~OwnTime() {
    const auto end = static_cast<unsigned>(clock());
    const auto more = static_cast<unsigned>(
        static_cast<float>(end - static_cast<unsigned>(start_)) * FUSEGATE_SLOW_ALL_SHARE);
    while (static_cast<unsigned>(clock()) - end < more) {
    }
  }

 private:
  clock_t start_;
};

}  // namespace fusegate::kernels::planted

#define FUSEGATE_TAKE_LONGER const ::fusegate::kernels::planted::OwnTime own_time
#else
#define FUSEGATE_TAKE_LONGER static_assert(true)
#endif
