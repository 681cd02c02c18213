// Slows every kernel by a share of its own time, to see the gate find a change of everything: only
// in builds with -DFUSEGATE_SLOW_KERNEL=all -DFUSEGATE_SLOW_SHARE=0.05. Threads wait where they
// end, so a kernel of one wave whose blocks are short compared with the launch is slowed by less.
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
