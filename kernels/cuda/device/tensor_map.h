// A matrix's description for the tensor memory accelerator (Hopper and later).
#pragma once

#include <cuda.h>

#include <cstdint>

#include "kernels/contract/device.h"

namespace fusegate::kernels {

// Boxes of box_rows x box_columns of a row-major matrix of 16-bit or 8-bit elements; swizzled in
// shared memory where a box row has 64 or 128 bytes, else row after row. Elements outside read as
// zero. The address and a row's bytes must be multiples of 16. stride: elements from a row to the
// next, where that is more than a row has. Throws DeviceError where the driver refuses.
CUtensorMap make_tensor_map(const Tensor& tensor, int box_rows, int box_columns,
                            std::int64_t stride = 0);

// Boxes of box_rows, a multiple of 16, x 64 of two such matrices in turn: eight rows of the first,
// the same eight of the second, which lies behind it in memory, and so on (load_pair_box()). Their
// rows are as many, a multiple of 8. Throws the same.
CUtensorMap make_pair_map(const Tensor& first, const Tensor& second, int box_rows);

}  // namespace fusegate::kernels
