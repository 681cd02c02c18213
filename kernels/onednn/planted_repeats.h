// Slows a stage by a share, to see the gate fail: only in builds with
// -DFUSEGATE_SLOW_KERNEL=gelu_mul -DFUSEGATE_SLOW_SHARE=0.25 (1 doubles its time).
//
// Repeats that share of the calls. A sample needs many calls for its time to grow by the share:
// those of 1.5 ms have enough where a call takes at most 0.1 ms.
#pragma once

#include <string_view>
#include <utility>

#include "kernels/contract/kernel.h"

namespace fusegate::kernels::planted {

inline Stage slowed(Stage stage) {
  if (stage.name != std::string_view(FUSEGATE_SLOW_KERNEL)) return stage;
  stage.launch = [launch = std::move(stage.launch), due = 0.0]() mutable {
    launch();
    for (due += FUSEGATE_SLOW_SHARE; due >= 1; due -= 1) launch();
  };
  return stage;
}

}  // namespace fusegate::kernels::planted
