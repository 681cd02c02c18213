// A stage that takes a share longer, to see the gate fail: included only by a build that asks for
// it
// (-DFUSEGATE_SLOW_KERNEL=gelu_mul -DFUSEGATE_SLOW_SHARE=0.25 to CMake; 1 doubles it).
//
// That share of its calls is made twice. A sample has to hold many calls for its time to grow by
// the share, which kernels of 0.1 ms and less have at 1.5 ms a sample.
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
