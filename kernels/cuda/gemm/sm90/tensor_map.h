// What the tensor memory accelerator (Hopper and later) has to know of a matrix:
// cuTensorMapEncodeTiled.
#pragma once

#include <cuda.h>

#include "kernels/contract/device.h"

namespace fusegate::kernels {

// Boxes of box_rows x box_columns of a row-major matrix of 16-bit elements, as it lies in shared
// memory in the swizzle of a box row's width where that is 64 or 128 bytes, else row after row.
// What lies outside reads as zero. tensor.data must be a multiple of 16 bytes, and so must a row's
// length. Throws DeviceError where the driver refuses.
CUtensorMap make_tensor_map(const Tensor& tensor, int box_rows, int box_columns);

}  // namespace fusegate::kernels
