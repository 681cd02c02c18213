// A matrix's description for the tensor memory accelerator (Hopper and later).
#pragma once

#include <cuda.h>

#include "kernels/contract/device.h"

namespace fusegate::kernels {

// Boxes of box_rows x box_columns of a row-major matrix of 16-bit or 8-bit elements; swizzled in
// shared memory where a box row has 64 or 128 bytes, else row after row. Elements outside read as
// zero. The address and a row's bytes must be multiples of 16. Throws DeviceError where the driver
// refuses.
CUtensorMap make_tensor_map(const Tensor& tensor, int box_rows, int box_columns);

}  // namespace fusegate::kernels
