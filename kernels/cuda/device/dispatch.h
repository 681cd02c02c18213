// From values at run time to template arguments.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/contract/problem.h"

namespace fusegate::kernels {

// f.template operator()<T>() with the element type. Throws std::invalid_argument for other dtypes
// than bf16 and fp16; kernel: its name.
template <typename F>
auto dispatch_16_bit(Dtype dtype, const std::string& kernel, F&& f) {
  switch (dtype) {
    case Dtype::kBf16:
      return f.template operator()<__nv_bfloat16>();
    case Dtype::kFp16:
      return f.template operator()<__half>();
    default:
      throw std::invalid_argument(kernel + " supports bf16 and fp16, but not " +
                                  std::string(dtype_name(dtype)));
  }
}

// f.template operator()<index>(); index: below kCount.
template <std::size_t kCount, typename F>
void dispatch_index(std::size_t index, F&& f) {
  [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    ((kIndex == index ? f.template operator()<kIndex>() : void()), ...);
  }
  (std::make_index_sequence<kCount>());
}

}  // namespace fusegate::kernels
