// How many pieces of a size cover a whole.
#pragma once

#include <cstdint>

namespace fusegate::kernels {

// Of positive numbers whose sum does not overflow.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace fusegate::kernels
